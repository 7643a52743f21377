"""Compute the cases of the corpus and write every number, verdict and sentence to frozen.json.gz.

``python tests/corpus/freeze.py`` computes all cases; with words, only the cases whose name has one of the words anew.
"""

import os

# one thread and a fixed width: sums in another order and lines of another length would be differences
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", COLUMNS="100", NO_COLOR="1")

import dataclasses
import gzip
import html
import json
import re
import sys
import time
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np

# draws stop when measured seconds exceed the budget by half: without a clock, a busy machine gives the same numbers
cpu_seconds, time.process_time = time.process_time, lambda: 0.0
from cases import CASES  # noqa: E402

FROZEN = Path(__file__).parent / "frozen.json.gz"
LEVELS = {"level", "verdict", "answer", "found", "ticks", "fingerprint"}
VERSIONS = re.compile(r"\(python [^)]*\)|(?:unweave|scikit-learn) \d[\w.]*|version = \{[^}]*\}")
NEW_LINE = re.compile(r"\s*([-#*%|]|\d+\. |\S.*\S {2,}\S)|.*[─━]|\s*$")  # an item, a heading, or a row of a table


def add_text(record, text):
    """Add the sentences of a text without its line breaks; a row of a table is one sentence."""
    lines = re.sub(r"(?m)^(\w+):\s+", r"\1: ", VERSIONS.sub("", text)).splitlines()
    joined = "".join(("\n" if NEW_LINE.match(line) else " ") + line for line in lines)
    for line in re.split(r"\n|(?<=[a-z\d)][.!?]) (?=[A-Z'*])", joined):
        if re.search("[a-zA-Z]", line):  # numbers without words are in the data too
            record["sentences"][" ".join(line.split())] = None


def add_data(record, value, place=""):
    """Add plain data; a number or level is stored at its path."""
    if isinstance(value, Mapping):
        for name in value.keys() - {"seconds", "versions"}:  # what differs between runs and installations
            add_data(record, value[name], f"{place}/{name}")
    elif isinstance(value, (list, tuple, np.ndarray)):
        if len(value) > 40 and all(isinstance(entry, (int, float)) for entry in value):
            values = np.array(value, dtype=float)
            value = [values.size, values.min(), values.max(), values.mean(), values @ np.cos(np.arange(values.size))]
        for k, entry in enumerate(value):
            is_row = isinstance(entry, Mapping) and "label" in entry  # its place does not depend on the rows before it
            name = " ".join(str(entry.get(key)) for key in ("representation", "label", "seed")) if is_row else k
            add_data(record, entry, f"{place}/{name}")
    elif isinstance(value, str) and place.rsplit("/", 1)[-1] in LEVELS:
        record["levels"][place] = value
    elif isinstance(value, str):
        add_text(record, value)
    else:
        record["numbers"][place] = repr(value.item() if isinstance(value, np.generic) else value)


def add_result(record, result, place=""):
    """Add everything that an object of unweave says about itself."""
    if isinstance(result, Mapping):
        for name, entry in result.items():
            add_result(record, entry, f"{place}/{name}")
    elif isinstance(result, str):  # what a command printed: some lines may be JSON
        add_data(record, [json.loads(line) for line in re.findall(r"(?m)^\{.*$", result)], place)
        add_text(record, re.sub(r"(?m)^\{.*$", "", result))
    elif hasattr(result, "to_markdown"):
        add_data(record, json.loads(result.to_json()), place)
        add_data(record, result.to_frame("polars").to_dict(as_series=False), f"{place}/frame")
        add_data(record | {"numbers": {}, "levels": {}}, result.to_summary())  # its numbers are in the JSON
        page = re.sub(r"(?s)<(script|style).*?</\1>", "", result.to_html())
        for text in (str(result), result.to_markdown(), html.unescape(re.sub("<[^>]+>", "\n\n", page))):
            add_text(record, text)
    else:
        add_text(record, str(result))
        add_data(record, result.to_dict() if hasattr(result, "to_dict") else dataclasses.asdict(result), place)


def all_computed(words):
    """The records of the cases whose name has one of the words, or of all cases; an error is a sentence."""
    records = {}
    for name in [name for name in CASES if not words or any(word in name for word in words)]:
        start, record = cpu_seconds(), {"numbers": {}, "levels": {}, "sentences": {}}
        try:
            with warnings.catch_warnings(action="ignore"):
                add_result(record, CASES[name]())
        except Exception as error:
            add_text(record, f"{type(error).__name__}: {error}")
        records[name] = record
        print(f"{cpu_seconds() - start:7.2f} s  {name}", file=sys.stderr, flush=True)
    return records


def stored():
    """The records in the file."""
    return json.loads(gzip.decompress(FROZEN.read_bytes())) if FROZEN.exists() else {}


if __name__ == "__main__":
    records = {name: record for name, record in stored().items() if name in CASES} | all_computed(sys.argv[1:])
    text = json.dumps(records, ensure_ascii=False, sort_keys=True)
    FROZEN.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(f"{len(records)} cases, {cpu_seconds():.0f} CPU seconds, {FROZEN.stat().st_size:,} bytes")
