"""Scores of long studies, kept on disk: a study that was stopped goes on where it was.

Set UNWEAVE_STUDIES to a folder, and scores are kept there by what they were computed from: the evidence to the last
bit, and the name, version and options of the metric. Without it nothing is kept.
"""

import hashlib
import os
import pickle
from pathlib import Path

from unweave.card.choices import card_of, stated_options

FOLDER = os.environ.get("UNWEAVE_STUDIES")


class Remembered:
    """A metric that computes nothing twice, also between runs."""

    def __init__(self, metric):
        self.metric, self.card = metric, card_of(metric)

    def __call__(self, evidence):
        """The score, or the error, of this evidence."""
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
    """What was computed under this key before, or is now."""
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
