"""A fault: one edit of one file. It is put into the text of the file, or into the functions that are loaded already."""

from __future__ import annotations

import gc
import hashlib
import inspect
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Fault:
    """One edit: a text that occurs once in a file, and what replaces it."""

    name: str
    file: str
    find: str
    replace: str
    digest: str = ""

    @property
    def key(self) -> str:
        """The same for the same edit of the same file."""
        return hashlib.sha256("\0".join([self.file, self.find, self.replace, self.digest]).encode()).hexdigest()[:16]


def faults_in(path: Path, root: Path = ROOT) -> list[Fault]:
    """The faults of a list, in its order, without those that have no effect; a name may come once."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["fault"]
    repeated = [name for name, count in Counter(entry["name"] for entry in entries).items() if count > 1]
    if repeated:
        raise ValueError(f"{path.name} has two faults called {repeated[0]!r}: give each a name of its own.")
    return [
        Fault(**{key: entry[key] for key in ("name", "file", "find", "replace")}, digest=digest([root / entry["file"]]))
        for entry in entries
        if "equivalent" not in entry
    ]


def faulty(text: str, fault: Fault) -> str | None:
    """The text with the fault in it; None where the place is not there exactly once.

    >>> faulty("a + b", Fault("sign", "sum.py", " + ", " - "))
    'a - b'
    >>> faulty("a + b + c", Fault("sign", "sum.py", " + ", " - ")) is None
    True
    """
    return text.replace(fault.find, fault.replace) if text.count(fault.find) == 1 else None


def changed_functions(before: CodeType, after: CodeType) -> list[tuple[CodeType, CodeType]] | None:
    """Functions of a module whose bodies differ, old and new; None where something that runs on import differs.

    >>> one, two = (compile(f"def f(x):\\n    return x + {k}", "a.py", "exec") for k in (1, 2))
    >>> [(old.co_name, old.co_consts, new.co_consts) for old, new in changed_functions(one, two)]
    [('f', (None, 1), (None, 2))]
    >>> three, four = (compile(f"LIMIT = {k}", "a.py", "exec") for k in (1, 2))
    >>> changed_functions(three, four) is None
    True
    """
    inner, other = _inner(before), _inner(after)
    if [code.co_name for code in inner] != [code.co_name for code in other] or _own(before) != _own(after):
        return None
    changed: list[tuple[CodeType, CodeType]] = []
    for old, new in zip(inner, other, strict=True):
        if old == new:
            continue
        if old.co_flags & inspect.CO_OPTIMIZED:  # a function, whose body runs when it is called
            changed += [(old, new), *_pairs(old, new)]
            continue
        within = changed_functions(old, new)
        if within is None:
            return None
        changed += within
    return changed


def replace_code(changed: Iterable[tuple[CodeType, CodeType]]) -> int:
    """Give the loaded functions of these places the new code, and count them.

    Places and not codes are compared, because pytest has changed the assertions of some files.
    """
    new_code = {_place(old): new for old, new in changed}
    count = 0
    for function in gc.get_objects():
        if type(function) is not FunctionType:
            continue
        new = new_code.get(_place(function.__code__))
        if new is not None and new.co_freevars == function.__code__.co_freevars:
            function.__code__ = new
            count += 1
    return count


def _place(code: CodeType) -> tuple[str, str, int, tuple[str, ...]]:
    return code.co_filename, code.co_qualname, code.co_firstlineno, code.co_varnames[: code.co_argcount]


def _inner(code: CodeType) -> list[CodeType]:
    return [const for const in code.co_consts if isinstance(const, CodeType)]


def _own(code: CodeType) -> tuple[object, ...]:
    """What the code does itself, without that of the functions and classes within."""
    consts = tuple(
        "code" if isinstance(const, CodeType) else (type(const).__name__, repr(const)) for const in code.co_consts
    )
    return code.co_code, code.co_names, consts


def _pairs(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Codes within two functions that have the same place."""
    for one, two in zip(_inner(old), _inner(new), strict=False):
        if one.co_name == two.co_name and one != two and one.co_freevars == two.co_freevars:
            yield one, two
            yield from _pairs(one, two)


def digest(paths: Iterable[Path]) -> str:
    """One text for the contents of files."""
    found = hashlib.sha256()
    for path in paths:
        found.update(path.read_bytes() if path.exists() else b"")
    return found.hexdigest()
