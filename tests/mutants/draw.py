"""Draw a list of faults at random: ``python tests/mutants/draw.py --seed 7 --count 100 > build/faults.toml``.

A fault is one small edit of one expression: a comparison, an operator, a constant, a reduction, a negation. Every room
of the package has a share of the list that grows with the square root of its size, and a file has two faults at most.
``strict=True`` of zip is left alone: it guards against lengths that no input produces. So are sizes, because one row,
seed or digit more changes nothing that matters: whole numbers from 3 in constants and defaults, from 10 elsewhere.
``--under cli`` draws from one room or file, without a limit for a file. The share that is found on the first run of a
list says how much the tests notice. Once tests were written for its survivors, it says so no more: draw another.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from faults import ROOT, SOURCES

COMPARISONS = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "=="}
OPERATORS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}
SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
REDUCTIONS = {
    "min": "max",
    "max": "min",
    "argmax": "argmin",
    "argmin": "argmax",
    "any": "all",
    "all": "any",
    "nanmax": "nanmin",
    "minimum": "maximum",
    "maximum": "minimum",
    "mean": "sum",
    "nanmean": "nansum",
    "std": "var",
    "cos": "sin",
    "sqrt": "square",
    "abs": "asarray",
}
MOST_IN_A_FILE = 2
SMALLEST_SIZE = {True: 10, False: 3}  # within functions, and in constants and defaults


@dataclass(frozen=True)
class Edit:
    """Characters of a file and what replaces them."""

    file: str
    start: int
    end: int
    text: str


def edits_of(file: str, source: str) -> Iterator[Edit]:
    """All edits of a file.

    >>> source = "SEEDS = 5\\ndef f(a, b):\\n    return max(a, b) + 1 if a < b else not b\\n"
    >>> [source[edit.start:edit.end].strip() + " -> " + edit.text.strip() for edit in edits_of("f.py", source)]
    ['< -> <=', '+ -> -', 'not b -> b', '1 -> 2', 'max -> min']
    """
    tree = ast.parse(source)
    offsets = _offsets(source)

    def at(line: int, column: int) -> int:
        start, text = offsets[line - 1]
        return start + len(text.encode()[:column].decode())

    def span(node: ast.expr) -> tuple[int, int]:
        return at(node.lineno, node.col_offset), at(node.end_lineno or 0, node.end_col_offset or 0)

    for node, called in _expressions(tree):
        start, end = span(node)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
            between = span(node.left)[1], span(node.comparators[0])[0]
            signs = [sign for sign in ("<=", ">=", "==", "!=", "<", ">") if sign in source[slice(*between)]]
            yield _swapped(file, source, between, signs[0], COMPARISONS[type(node.ops[0])])
        elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS and called and not _of_text(node):
            between = span(node.left)[1], span(node.right)[0]
            yield _swapped(file, source, between, SIGNS[type(node.op)], OPERATORS[type(node.op)])
        elif isinstance(node, ast.BoolOp):
            sign, other = (" and ", " or ") if isinstance(node.op, ast.And) else (" or ", " and ")
            if source[start:end].count(sign) == 1:
                yield _swapped(file, source, (start, end), sign, other)
        elif isinstance(node, ast.Attribute) and node.attr in REDUCTIONS and called:
            yield Edit(file, end - len(node.attr), end, REDUCTIONS[node.attr])
        elif isinstance(node, ast.Name) and node.id in ("min", "max", "any", "all") and called:
            yield Edit(file, start, end, REDUCTIONS[node.id])
        elif isinstance(node, ast.UnaryOp) and (isinstance(node.op, ast.Not) or (called and _negates(node))):
            yield Edit(file, start, end, source[slice(*span(node.operand))])
        elif isinstance(node, ast.Constant) and _is_drawn(node.value, called):
            yield Edit(file, start, end, _other(node.value))


def _is_drawn(value: object, called: bool) -> bool:
    is_size = type(value) is int and value >= SMALLEST_SIZE[called]
    return type(value) in ((bool, int, float) if called else (int, float)) and not is_size


def _other(value: float) -> str:
    """Another constant.

    >>> _other(True), _other(3), _other(0.1)
    ('False', '4', '0.3')
    """
    if isinstance(value, bool):
        return str(not value)
    return repr(value + 1 if isinstance(value, int) else float(f"{3 * value:.12g}") if value else 0.5)


def _expressions(tree: ast.Module) -> Iterator[tuple[ast.expr, bool]]:
    """Expressions and whether they are within functions, without annotations."""
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, called = waiting.pop(0)
        if isinstance(node, ast.expr):
            yield node, called
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns") or (isinstance(node, ast.keyword) and node.arg == "strict"):
                continue
            inside = called or (isinstance(node, (ast.FunctionDef, ast.Lambda)) and name == "body")
            waiting += [(each, inside) for each in (value if isinstance(value, list) else [value]) if _is_node(each)]


def _is_node(each: object) -> bool:
    return isinstance(each, ast.AST) and not isinstance(each, ast.JoinedStr)  # places within f-strings are not kept


def _of_text(node: ast.BinOp) -> bool:
    return any(
        isinstance(side, ast.JoinedStr) or isinstance(getattr(side, "value", 0), str)
        for side in (node.left, node.right)
    )


def _negates(node: ast.UnaryOp) -> bool:
    return isinstance(node.op, (ast.USub, ast.Invert))


def _swapped(file: str, source: str, between: tuple[int, int], sign: str, other: str) -> Edit:
    return Edit(file, *between, source[slice(*between)].replace(sign, other, 1))


def _offsets(source: str) -> list[tuple[int, str]]:
    """Where every line starts, and its text."""
    found, start = [], 0
    for line in source.splitlines(keepends=True):
        found.append((start, line))
        start += len(line)
    return found


def entry_of(edit: Edit, source: str) -> dict[str, str]:
    """An entry of a list: the lines around the edit, with as many above as make them occur once."""
    first, last = source.rfind("\n", 0, edit.start) + 1, source.find("\n", edit.end)
    after = source[edit.end : last]
    name = (source[first : edit.start] + edit.text + after).strip()
    while source.count(source[first:last]) > 1 and first:
        first = source.rfind("\n", 0, first - 1) + 1
    place = f"{edit.file.removeprefix('src/unweave/')}:{source.count(chr(10), 0, edit.start) + 1}"
    find, replace = source[first:last], source[first : edit.start] + edit.text + after
    return {"name": f"{place}: {' '.join(name.split())}", "file": edit.file, "find": find, "replace": replace}


def drawn(count: int, seed: int, under: str = "") -> list[dict[str, str]]:
    """Entries of a list, room by room; those of one room or file if ``under`` names it."""
    rng = random.Random(seed)
    paths = sorted(path for folder in SOURCES for path in folder.rglob("*.py"))
    sources = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in paths}
    if under:
        sources = {file: text for file, text in sources.items() if file.startswith(f"src/unweave/{under}")}
    most_in_a_file = count if under else MOST_IN_A_FILE
    rooms: dict[str, list[Edit]] = {}
    for file, source in sources.items():
        parts = Path(file.removeprefix("papers/src/").removeprefix("src/unweave/")).parts
        rooms.setdefault(parts[0] if len(parts) > 1 else "top", []).extend(edits_of(file, source))
    weights = {room: len(edits) ** 0.5 for room, edits in rooms.items() if edits}
    shares = {room: count * weight / sum(weights.values()) for room, weight in weights.items()}
    quota = {room: int(share) for room, share in shares.items()}
    for room in sorted(shares, key=lambda room: quota[room] - shares[room])[: count - sum(quota.values())]:
        quota[room] += 1
    entries = []
    for room, size in quota.items():
        rng.shuffle(rooms[room])
        taken: Counter[str] = Counter()
        for edit in rooms[room]:
            if sum(taken.values()) == size:
                break
            source = sources[edit.file]
            if taken[edit.file] < most_in_a_file and _compiles(source[: edit.start] + edit.text + source[edit.end :]):
                taken[edit.file] += 1
                entries.append(entry_of(edit, source))
    return entries


def _compiles(source: str) -> bool:
    try:
        compile(source, "a.py", "exec")
    except SyntaxError:
        return False
    return True


def main() -> None:
    """Print a list."""
    parser = argparse.ArgumentParser(description=__doc__.split(":", maxsplit=1)[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--under", default="", help="a room or file of src/unweave, for example cli or score.py")
    chosen = parser.parse_args()
    print(f"# {chosen.count} faults drawn by draw.py with seed {chosen.seed}")
    for entry in drawn(chosen.count, chosen.seed, chosen.under):
        print(
            "\n[[fault]]\n"
            + "\n".join(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items())
        )


if __name__ == "__main__":
    main()
