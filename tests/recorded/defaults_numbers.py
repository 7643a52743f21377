"""Defaults of everything public, and the figures on the cards: a default that changes, changes numbers."""

import dataclasses
import importlib
import inspect
from functools import partial

from unweave.metrics import CATALOGUE

FIELDS = ("min_rows", "bounds", "best", "identity_tolerance", "order_tolerance", "needs", "takes_sparse_codes")
ROOMS = (
    "unweave",
    "unweave.metrics",
    "unweave.estimators",
    "unweave.trust",
    "unweave.auditing",
    "unweave.sweeps",
    "unweave.datasets",
    "unweave.models",
    "unweave.synthetic.worlds",
    "unweave.synthetic.encoders",
    "unweave.synthetic.attacks",
    "unweave.synthetic.known_decoders",
    "unweave.synthetic.toys",
    "unweave.synthetic.theory",
)


def defaults_of(room):
    """Parameters with plain defaults of the public names of a room, and of their methods."""
    module = importlib.import_module(room)
    found = {}
    for label in getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]:
        value = getattr(module, label)
        callables = {label: value} if callable(value) else {}
        if inspect.isclass(value):
            members = [entry for entry in vars(value).items() if inspect.isfunction(entry[1])]
            callables |= {f"{label}.{key}": member for key, member in members if not key.startswith("_")}
        for key, each in callables.items():
            found |= {f"{key}({option}=": default for option, default in _plain(each)}
    return found


def _plain(value):
    """Names and values of defaults that are numbers, words, or made of them."""
    if dataclasses.is_dataclass(value):
        pairs = [(field.name, field.default) for field in dataclasses.fields(value)]
    else:
        try:
            pairs = [(name, entry.default) for name, entry in inspect.signature(value).parameters.items()]
        except (TypeError, ValueError):
            return []
    return [(name, default) for name, default in pairs if _is_plain(default)]


def _is_plain(value):
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return isinstance(value, (bool, int, float, str))


CASES = {f"defaults of {name}": partial(defaults_of, name) for name in ROOMS}
CASES |= {
    f"card of {name}": partial(lambda card: {field: getattr(card, field) for field in FIELDS}, metric.card)
    for name, metric in CATALOGUE.items()
    if name != "identification"
}
