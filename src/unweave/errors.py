"""The errors and warnings of the library. The message of each states what is wrong, where, and what to do."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Mapping

from unweave.sentences import printable


class UnweaveError(ValueError):
    """Every error that the library raises on purpose: catch it to catch `InputError`, `OptionError` and `FileError`.

    >>> import unweave
    >>> try:
    ...     unweave.metrics.mcc([1.0, 2.0], [1.0])
    ... except unweave.UnweaveError as error:
    ...     print(type(error).__name__)
    InputError
    """

    __module__ = "unweave"  # tracebacks show the name that can be imported

    def __str__(self) -> str:
        return printable(super().__str__())  # one line, whatever values it quotes


class InputError(UnweaveError):
    """The data cannot be used as they are: arrays, tables, models or decoders, whether given or read from a file.

    >>> import unweave
    >>> issubclass(unweave.InputError, ValueError)
    True
    """

    __module__ = "unweave"
    problems: tuple[str, ...] = ()  # each on its own, where one error reports several


class OptionError(UnweaveError, TypeError):
    """An option, a name or a setting that does not exist or has a value that is not allowed.

    It is a `TypeError` as well, which Python raises for unknown keyword arguments.

    >>> import unweave
    >>> unweave.metrics.mig([1.0, 2.0], [1.0, 2.0], bins=3)
    Traceback (most recent call last):
    unweave.OptionError: mig has no option 'bins': write estimator=unweave.estimators.Histogram(bins=20).
    """

    __module__ = "unweave"


class FileError(UnweaveError):
    """A file or folder is missing, damaged, of another format or in use, or cannot be written.

    >>> import unweave
    >>> from unweave.sweeps.sweep_file import read_sweep
    >>> read_sweep("missing.toml")
    Traceback (most recent call last):
    unweave.FileError: missing.toml cannot be read: No such file or directory.
    """

    __module__ = "unweave"


class InputWarning(UserWarning):
    """The data are used as they are, but probably not meant so: transposed, exchanged, one-hot, or an index column.

    >>> import warnings
    >>> import unweave
    >>> warnings.simplefilter("ignore", unweave.InputWarning)  # for data that are meant so
    """

    __module__ = "unweave"


def note(text: str) -> None:
    """Warn with an `InputWarning` at the line outside of this package that is responsible for it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "unweave":
        frame, level = frame.f_back, level + 1
    warnings.warn(text, InputWarning, stacklevel=level)


def refuse_more_by_place(n_given: int, parameters: Mapping[str, inspect.Parameter], whose: str) -> None:
    """Raise an `OptionError` for more arguments without names than a function takes.

    >>> import inspect
    >>> refuse_more_by_place(3, inspect.signature(lambda factors, codes, *, seed: 0).parameters, "mcc")
    Traceback (most recent call last):
    unweave.OptionError: mcc takes factors and codes without a name, and 3 were given: name the others, such as seed=.
    """
    kinds = {entry.kind for entry in parameters.values()}
    placed = [name for name, entry in parameters.items() if entry.kind <= inspect.Parameter.POSITIONAL_OR_KEYWORD]
    if n_given > len(placed) and inspect.Parameter.VAR_POSITIONAL not in kinds:
        named = [name for name in parameters if name not in placed and name not in ("options", "named")]
        option = "metrics" if "metrics" in named else (named or ["seed"])[0]
        raise OptionError(
            f"{whose} takes {' and '.join(placed) or 'nothing'} without a name, and {n_given} were given: name the "
            f"others, such as {option}=."
        )
