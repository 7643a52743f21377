"""Functions that write the pages of an evaluation to files and read saved evaluations."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO

from unweave.evaluation import Evaluation
from unweave.evidence import EvidenceError
from unweave.report.page.code_pictures import CodePictures
from unweave.report.page.html import html_page
from unweave.whole_files import write_whole


def write_pages(
    evaluation: Evaluation,
    html: Path | None = None,
    markdown: Path | None = None,
    summary: Path | None = None,
    pictures: CodePictures | None = None,
) -> list[Path]:
    """Write the pages for which a path is given, and return these paths. Only the HTML page shows ``pictures``."""
    written = []
    pages: list[tuple[Path | None, Callable[[], str]]] = [
        (html, lambda: evaluation.to_html() if pictures is None else html_page(evaluation, pictures)),
        (markdown, evaluation.to_markdown),
        (summary, lambda: json.dumps(evaluation.to_summary(), allow_nan=False)),
    ]
    for path, page in pages:
        if path is not None:
            try:
                write_whole(path, partial(_write_text, page()))
            except OSError as error:
                raise EvidenceError(f"{path} cannot be written: {error.strerror}; name another file.") from None
            written.append(path)
    return written


def _write_text(text: str, file: IO[bytes]) -> None:
    file.write(text.encode())


def read_evaluation(path: Path) -> Evaluation:
    """Read an evaluation that was written by ``Evaluation.save``."""
    try:
        return Evaluation.load(path)
    except OSError as error:
        raise EvidenceError(
            f"{path} cannot be read: {error.strerror}; name a file that Evaluation.save wrote."
        ) from None
    except UnicodeDecodeError:
        raise EvidenceError(f"{path} is not text: name a file that Evaluation.save wrote.") from None
