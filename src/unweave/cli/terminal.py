"""Functions that commands share: printing of results, checks of output files, and error messages."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from unweave.errors import FileError, OptionError, UnweaveError
from unweave.own_modules import own_modules_allowed

if TYPE_CHECKING:
    from unweave.evaluation import Evaluation

A_PATH = click.Path(path_type=Path)

# optional packages, and the extra that installs them
EXTRA_OF = {
    "torch": "torch",
    "zuko": "torch",
    "matplotlib": "report",
    "distributed": "cluster",
    "polars": "tables",
    "mcp": "mcp",
}


HELD = "unweave.held"  # notes that wait for the result, in the meta of the context, because it may state them


def hold_notes(as_json: bool) -> None:
    """Print notes after the result unless it states them, so that a person does not read them twice."""
    if not as_json:
        click.get_current_context().meta[HELD] = []


def print_held(stated: Iterable[str] = ()) -> None:
    """Print the notes that were held, but for those that are stated elsewhere."""
    context = click.get_current_context(silent=True)
    held = [] if context is None else context.meta.pop(HELD, [])
    for text in held:
        if text not in stated:
            click.echo(f"Note: {text}", err=True)


def show(evaluation: Evaluation, as_json: bool) -> None:
    """Print an evaluation; the command fails if no metric could be computed."""
    print_held({str(each) for each in evaluation.data.notes})
    if as_json:
        click.echo(evaluation.to_json())
    elif sys.stdout.isatty():
        from rich.console import Console

        Console(highlight=False).print(evaluation, crop=False)
    else:
        click.echo(str(evaluation))
    if all(row.score is None for row in evaluation.rows):
        click.echo(f"Error: No metric could be computed: {evaluation.rows[0].problem}", err=True)
        raise SystemExit(2)


def print_wide(item: Any) -> None:
    """Print a table at a sufficient width."""
    from rich.console import Console

    # a pipe has no width, so use one that is wide enough for the table
    Console(width=None if sys.stdout.isatty() else 140, highlight=False).print(item)


def check_writable(*paths: Path | None, inputs: Iterable[Path | None] = ()) -> None:
    """Raise an error for files that cannot be written or that are also inputs, before anything is computed."""
    read = {os.path.realpath(path) for path in filter(None, inputs)}
    for path in filter(None, paths):
        folder = path.parent
        if os.path.realpath(path) in read:
            problem = "it is one of the files that are read"
        elif path.is_dir():
            problem = "it is a folder"
        elif not folder.is_dir():
            problem = f"there is no folder {folder}"
        elif not os.access(path if path.exists() else folder, os.W_OK):
            problem = "permission denied"
        else:
            continue
        raise FileError(f"{path} cannot be written: {problem}; name another file.")


def check_picture(path: Path | None) -> None:
    """Raise an error if a picture cannot be drawn or written, before anything is computed."""
    _check_drawing(path, "A picture", (".png", ".pdf", ".svg"), ".png, .pdf or .svg")


def check_page(path: Path | None) -> None:
    """Raise an error if a page of pictures cannot be drawn or written, before anything is computed."""
    _check_drawing(path, "A page of pictures", (".html", ".htm"), ".html")


def _check_drawing(path: Path | None, what: str, endings: tuple[str, ...], in_words: str) -> None:
    if path is None:
        return
    check_writable(path)
    if find_spec("matplotlib") is None:
        raise OptionError(f"{what} needs matplotlib: install unweave[report].")
    if path.suffix not in endings:
        raise FileError(f"{path} does not end in {in_words}: name another file.")


def image_shape_in(context: click.Context, option: click.Parameter, text: str | None) -> tuple[int, int, int] | None:
    """Parse channels, height and width, separated by commas."""
    if text is None:
        return None
    parts = text.split(",")
    if len(parts) != 3 or not all(part.strip().isdigit() and int(part) > 0 for part in parts):
        raise click.BadParameter(f"{text!r} is not three whole numbers: write channels,height,width, such as 1,28,28.")
    channels, height, width = (int(part) for part in parts)
    if channels not in (1, 3):
        raise click.BadParameter(f"{channels} channels cannot be drawn: images have one or three.")
    return channels, height, width


def names_in(text: str | None) -> list[str]:
    """Names in a text that are separated by commas.

    >>> names_in("mcc, r2")
    ['mcc', 'r2']
    """
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def kinds_in(text: str | None) -> str | list[str] | dict[str, str] | None:
    """Parse the kinds of factors: one for all factors, one for each factor in order, or NAME=KIND pairs."""
    stated = names_in(text)
    if any("=" in pair for pair in stated):
        pairs = [pair.rpartition("=") for pair in stated]
        return {name.strip(): kind.strip() for name, _, kind in pairs}
    return (stated if len(stated) > 1 else stated[0]) if stated else None


WANTS_JSON = "unweave.json"  # whether --json was given, in the meta of the context


def fail(sentence: str, kind: str = "OptionError") -> NoReturn:
    """End the command with one sentence and exit code 2."""
    print_held()
    click.echo(f"Error: {' '.join(sentence.split())}", err=True)
    print_error(kind, sentence)
    raise SystemExit(2)


def print_error(kind: str, sentence: str) -> None:
    """With --json, print the error as JSON too, where a script reads the result; ``kind`` is a class of error."""
    context = click.get_current_context(silent=True)
    if context is not None and context.meta.get(WANTS_JSON):
        print_json("error", kind=kind, message=" ".join(sentence.split()))


def print_json(schema: str, /, **content: Any) -> None:
    """Print content as strict JSON with the name of its schema (docs/schemas.json)."""
    from unweave.codec import plain_data

    click.echo(json.dumps({"schema": f"unweave.{schema}/1", **plain_data(content)}, allow_nan=False))


def option(
    flag: str, help: str, type: Any = None, *, to: str | None = None, show_default: bool = True, **more: Any
) -> Callable[[Any], Any]:
    """An option of a command: its flag, with the word for its value in the help, what it does, and the value's type.

    ``to`` names its parameter, if this is not named like the flag. A default is shown in the help.
    """
    name, _, word = flag.partition(" ")
    shown = show_default and more.get("default") is not None
    names = [name] if to is None else [name, to]
    return click.option(*names, metavar=word or None, help=help or None, type=type, show_default=shown, **more)


json_option = option("--json", "Print JSON instead of a table.", to="as_json", is_flag=True)


@contextmanager
def code_of_current_folder() -> Iterator[None]:
    """Run code of the current folder only where it is named as module:name, also in processes that are started."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"  # Python would put the folder first on the path of a process of joblib
    try:
        with own_modules_allowed():
            yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print warnings that are meant for users as one sentence each, once."""
    seen: set[str] = set()

    def shown(message: Warning | str, category: type[Warning], *rest: Any) -> None:
        if not issubclass(category, UserWarning):
            before(message, category, *rest)
        elif str(message) not in seen:
            seen.add(str(message))
            context = click.get_current_context(silent=True)
            held = None if context is None else context.meta.get(HELD)
            held.append(str(message)) if held is not None else click.echo(f"Note: {message}", err=True)

    with warnings.catch_warnings():
        before = warnings.showwarning
        warnings.showwarning = shown  # type: ignore[assignment]
        yield
        print_held()


@contextmanager
def resumable(
    sentence: str = "Interrupted: run the same command again to continue from the last checkpoint.",
) -> Iterator[None]:
    """On Ctrl-C or SIGTERM, end its processes and the command, with one sentence and code 130 or 143."""
    code, in_main_thread = 130, threading.current_thread() is threading.main_thread()

    def terminate(*_: object) -> None:
        nonlocal code
        code = 143
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, terminate) if in_main_thread else None
    try:
        yield
    except KeyboardInterrupt as stopped:
        click.echo(str(stopped) or sentence, err=True)
        raise SystemExit(code) from None
    finally:
        if in_main_thread:
            signal.signal(signal.SIGTERM, before)


class one_sentence_errors:
    """On invalid input, end the command with one sentence and exit code 2, without a traceback."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, UnweaveError):
            fail(str(error), type(error).__name__)
        if isinstance(error, ModuleNotFoundError) and error.name in EXTRA_OF:
            fail(f"This needs {error.name}, which is not installed: install unweave[{EXTRA_OF[error.name]}].")
