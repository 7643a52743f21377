"""Options of `Evidence` besides factors and codes, declared once for type checkers, editors and run time."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypedDict, TypeVar

from unweave.evidence.kinds import KindsGiven
from unweave.evidence.samplers import Sampler

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


class EvidenceOptions(TypedDict, total=False):
    """The keyword arguments of `Evidence`, which `evaluate`, `compare` and every metric take as well.

    `Evidence` documents each of them.

    >>> from unweave.metrics import mcc
    >>> given: EvidenceOptions = {"kinds": "continuous", "missing": "drop"}
    >>> factor = [float(k) for k in range(20)]
    >>> round(mcc(factor, factor, **given).value, 6)
    1.0
    """

    kinds: KindsGiven
    missing: Literal["refuse", "drop"]
    nuisances: object
    row_groups: Sequence[object] | None
    code_groups: Mapping[str, Sequence[str | int]] | None
    factor_names: Sequence[str] | None
    code_names: Sequence[str] | None
    decoder: object
    reference: object
    sampler: Sampler | None


OPTION_NAMES = frozenset(EvidenceOptions.__annotations__)
DEFAULTS: dict[str, object] = dict.fromkeys(EvidenceOptions.__annotations__) | {"missing": "refuse"}


def refuse_unknown_options(given: Iterable[str], known: Iterable[str], whose: str) -> None:
    """Raise a TypeError for the first unknown option, and suggest the most similar known one.

    >>> refuse_unknown_options(["kidns"], OPTION_NAMES, "Evidence")
    Traceback (most recent call last):
    TypeError: Evidence has no option 'kidns': did you mean 'kinds'?
    """
    known = list(known)
    unknown = next((name for name in given if name not in known), None)
    if unknown is None:
        return
    near = difflib.get_close_matches(unknown, known)
    hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known) or 'none'}."
    raise TypeError(f"{whose} has no option {unknown!r}: {hint}")


def option_parameters() -> list[inspect.Parameter]:
    """The options as keyword-only parameters of a signature."""
    annotations = EvidenceOptions.__annotations__
    return [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=DEFAULTS[name],
            annotation=getattr(annotations[name], "__forward_arg__", annotations[name]),  # as written in the class
        )
        for name in annotations
    ]


def with_option_signature(function: AnyFunction) -> AnyFunction:
    """Replace ``**`` in the function's signature by all options, so that `help` shows them."""
    signature = inspect.signature(function)
    own = [entry for entry in signature.parameters.values() if entry.kind is not inspect.Parameter.VAR_KEYWORD]
    stated = signature.replace(parameters=[*own, *option_parameters()])
    function.__signature__ = stated  # type: ignore[attr-defined]
    return function
