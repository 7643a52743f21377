"""Scores of long studies, stored on disk, so that a study that was stopped can continue.

If UNWEAVE_STUDIES is a folder, scores are stored there under a key that is made from the exact evidence and from the
name, version and options of the metric. Without it, scores are not stored.
"""

import hashlib
import os
import pickle
from pathlib import Path

from unweave.card.decorator import card_of, stated_options

FOLDER = os.environ.get("UNWEAVE_STUDIES")


class Remembered:
    """A metric that stores its scores, so that none is computed twice, even in different runs."""

    def __init__(self, metric):
        self.metric, self.card = metric, card_of(metric)

    def __call__(self, evidence):
        """The stored or computed score of this evidence; a stored error is raised again."""
        options = sorted((name, repr(value)) for name, value in stated_options(self.metric).items())
        key = f"{self.card.name} {self.card.version} {options} {evidence.fingerprint}"
        found = remembered(key, lambda: _tried(self.metric, evidence))
        if isinstance(found, Exception):
            raise found
        return found


def _tried(metric, evidence):
    try:
        return metric(evidence)
    except Exception as error:
        return error


def remembered(key, compute):
    """The stored result for this key, or else the result of ``compute``."""
    if FOLDER is None:
        return compute()
    path = Path(FOLDER) / f"{hashlib.sha256(key.encode()).hexdigest()[:40]}.pickle"
    if path.exists():
        return pickle.loads(path.read_bytes())
    found = compute()
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}")
    part.write_bytes(pickle.dumps(found))
    part.replace(path)
    return found
