"""Documents: their examples run, their numbers are those of today, their links are valid, and the site builds."""

import functools
import importlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest

import unweave
from unweave.card.explain import explanation
from unweave.cli.demos import introduction, scene_encoders
from unweave.evaluation import compare
from unweave.metrics import CATALOGUE

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "docs"))  # generate.py imports a module beside it
spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
generate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generate)
DOCUMENTS = generate.documents(with_demo=False)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_up_to_date(path):
    assert path.read_text(encoding="utf-8") == DOCUMENTS[path], "run `make docs`"


def test_the_readme_shows_what_its_example_prints(tmp_path, monkeypatch):
    """Headline, factors and scores are those of the example, which is run without floors and intervals here."""
    monkeypatch.chdir(tmp_path)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- answer -->\n(.*?)\n<!-- /answer -->", readme, re.DOTALL)[1]
    found = {}
    monkeypatch.setattr("unweave.evaluate", functools.partial(unweave.evaluate, quick=True))
    exec(re.search(r"```python\n(.*?)```", readme, re.DOTALL)[1], found)
    evaluation = found["evaluation"]
    assert (tmp_path / "report.html").exists()
    assert evaluation.answer["headline"] in shown
    for row in evaluation.answer["factors"]:
        line = next(line for line in shown.splitlines() if line.startswith(f" {row['factor']} "))
        assert all(part in line for part in (row["words"], row["where"], f"{row['direction']:.2f}"))
    for line in (
        line for line in shown.splitlines() if line.endswith(("trust", "caution", "do not use", "noise level"))
    ):
        metric = next(label for label in evaluation.labels if f" {label} " in line)
        assert f"{evaluation[metric].value:.2f}" in line.replace("\N{MINUS SIGN}", "-")


def test_the_page_on_reports_shows_the_demo():
    report = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- demo -->\n(.*?)\n<!-- /demo -->", report, re.DOTALL)[1]
    quick = str(compare(*scene_encoders(1000), metrics=["mcc", "r2"], budget=0))
    for line in (*introduction().splitlines(), quick.splitlines()[0], "   without hue    1.000  > 0.9995        trust"):
        assert line in shown


@pytest.mark.parametrize("name", generate.OWN_METRICS)
def test_pages_read_well(name):
    """A page states what the numbers mean, has a formula, and names a numbered paper only where it is cited."""
    page = DOCUMENTS[ROOT / "docs" / "metrics" / f"{name}.md"]
    assert re.search(r"^    \S.* (=|<=|>=) ", page, re.MULTILINE), "no formula"
    if set(generate.OWN_METRICS[name].card.needs) <= {
        "factors",
        "codes",
        "nuisances",
    }:  # of others the parts say what is good
        assert re.search(r"\b(1|0) (means|is best)", page), "what the best means is not said"
        assert re.search(r"[Nn]oise|[Rr]andom\s+codes", page), "the score of random codes is not stated in words"
    for empty in ("any any", " inf;", "and codes and"):
        assert empty not in page
    for number in re.findall(r"^(00\d): ", page, re.MULTILINE):
        assert len(re.findall(rf"(?<![\d,.]){number}\b", page)) > 1, f"{number} is named and not used"


def test_no_page_is_one_block():
    """Pages are text with headings, metric pages have their sections, and no card of the home page is grey code."""
    for path in (ROOT / "docs").rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        fenced = "".join(re.findall(r"^```.*?^```", text, re.DOTALL | re.MULTILINE))
        shown = re.sub(r"<!--.*?-->", "", text)
        assert len(fenced) < 0.8 * len(shown), path
        if path.parent.name == "metrics" and path.stem != "index":
            headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
            assert {"When to use it", "What the numbers mean", "Formula", "References"} <= set(headings), path
            assert len(fenced) < 0.4 * len(text), path
    cards = re.search(
        r'<div class="grid cards" markdown>(.*?)</div>', (ROOT / "docs/index.md").read_text("utf-8"), re.S
    )
    assert not re.search(r"^ {5,}\S", cards[1], re.MULTILINE), "a card is indented as code"


PAGE = (ROOT / "docs" / "means-and-samples.md").read_text(encoding="utf-8")


def test_the_table_is_what_the_program_prints(capsys):
    exec(re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1], {})
    printed = re.findall(r"\d\.\d{3}", capsys.readouterr().out)
    rows = [line for line in PAGE.splitlines() if line.startswith(("| sharp", "| blurred", "| all but"))]
    written = [cell.strip() for row in rows for cell in row.strip("|").split("|")[1:]]
    assert [float(number) for number in printed] == [float(number) for number in written]


NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def code_cells(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def test_there_are_three():
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_executed_without_an_error(path):
    cells = code_cells(path)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert not [output for output in outputs if output["output_type"] == "error"]
    assert any("image/png" in output.get("data", {}) for output in outputs), "a notebook shows a figure"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_run(path, monkeypatch, capsys):
    if path.stem == "training":
        pytest.importorskip("torch", reason="torch is not installed")
    space: dict = {}
    for cell in code_cells(path):
        source = re.sub(r"\b(600|800|1000)\b", "300", "".join(cell["source"])).replace(
            "choice(300, 300", "choice(300, 150"
        )
        exec(compile(re.sub(r"budget=\d", "budget=1", source), path.name, "exec"), space)


DOCS = ROOT / "docs"
PAGES = [DOCS / "start.md", *sorted((DOCS / "guides").glob("*.md"))]
MOST_LINES = 15
FEWER_ROWS = re.compile(r"\b(800|1000|1500)\b")
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("evaluate", "compare"):  # few draws are enough to see that the lines run
        monkeypatch.setattr(unweave, name, functools.partial(getattr(unweave, name), budget=0.25))
    if page.stem == "integrations":
        for package in ("lightning", "torchmetrics", "tensorboard"):
            pytest.importorskip(package, reason=f"{package} is not installed")
    blocks, space = BLOCK.findall(page.read_text(encoding="utf-8")), {}
    assert blocks
    for block in blocks:
        fewer = FEWER_ROWS.sub("200", block).replace("n_episodes, n_frames = 60, 20", "n_episodes, n_frames = 40, 10")
        exec(compile(fewer, str(page), "exec"), space)


def test_the_guide_to_a_table_shows_the_numbers_of_today():
    """Means, deviations and bold print are those of the example; marks need verdicts, which take longer."""
    page = (DOCS / "guides" / "paper-table.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- table -->\n(.*?)\n<!-- /table -->", page, re.DOTALL)[1]
    space: dict = {}
    for block in BLOCK.findall(page)[:2]:
        exec(block.replace("codes, metrics", "codes, quick=True, metrics"), space)
    today = space["by_model"].to_markdown().splitlines()[:5]
    assert re.sub("[†‡°]", "", shown).splitlines()[:5] == today


def test_snippets_of_integrations_are_short():
    blocks = BLOCK.findall((DOCS / "guides" / "integrations.md").read_text(encoding="utf-8"))
    assert max(len([line for line in block.splitlines() if line.strip()]) for block in blocks) <= MOST_LINES


class Links(HTMLParser):
    """Links of a page, resources that a browser loads by itself, and anchors."""

    def __init__(self, text):
        super().__init__()
        self.followed, self.loaded, self.places = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.places |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.followed.append(given["href"])
        if tag in ("img", "script", "iframe") and given.get("src"):
            self.loaded.append(given["src"])
        if tag == "link" and given.get("href") and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(given["href"])


def built_site(copy):
    """The pages of the site with their links, and its folder, which is below its settings."""
    for name in ("docs", "src"):
        shutil.copytree(ROOT / name, copy / name)
    shutil.copy(ROOT / "mkdocs.yml", copy)
    assert f"copyright: unweave {unweave.__version__}" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    folder = copy / "site"
    # with a proxy that does not exist, every network request fails
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    built = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=copy, capture_output=True, text=True, env={**os.environ, **nowhere},
    )  # fmt: skip
    assert built.returncode == 0, built.stdout + built.stderr
    return {
        path.relative_to(folder).as_posix(): Links(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")
    }, folder


def test_the_site_has_no_broken_link_and_loads_nothing_from_elsewhere(tmp_path):
    """One test, so that the site is built once."""
    pytest.importorskip("zensical", reason="zensical is not installed")
    pages, folder = built_site(tmp_path)
    assert len(pages) > 60
    broken = []
    for name, links in pages.items():
        if name == "404.html":
            continue
        for address in links.followed + links.loaded:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (folder / name).parent / unquote(parts.path) if parts.path else folder / name
            if not target.exists():
                broken.append(f"{name} links to {address}")
                continue
            known = pages.get(target.resolve().relative_to(folder.resolve()).as_posix())
            if parts.fragment and known and unquote(parts.fragment) not in known.places:
                broken.append(f"{name} links to {address}")
    assert not broken
    for name, links in pages.items():
        assert not [address for address in links.loaded if urlsplit(address).netloc], name
    for sheet in folder.rglob("*.css"):
        assert not re.search(r"url\([\"']?https?:", sheet.read_text(encoding="utf-8"))
    page = (folder / "start.html").read_text(encoding="utf-8")
    assert 'rel="canonical"' not in page
    assert "/edit/main/docs" not in page


def test_links_into_the_repository_exist():
    """Links from the site to files of the repository, and links of the documents outside the site."""
    for path in [*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md"]:
        text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for address in re.findall(r"\]\(([^)\s]+)\)", text):
            if not urlsplit(address).scheme and urlsplit(address).path:
                assert (path.parent / unquote(urlsplit(address).path)).exists(), f"{path.name} links to {address}"


def test_the_decision_page_shows_the_scores_of_today():
    import importlib.util

    spec = importlib.util.spec_from_file_location("pictures", DOCS / "pictures.py")
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    assert pictures.score_table() in (DOCS / "which-metric.md").read_text(encoding="utf-8"), "run `make docs`"


def block(name):
    """The code between two markers of CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return re.search(rf"<!-- {name} -->\n```\w+\n(.*?)```\n<!-- /{name} -->", text, re.DOTALL)[1]


@pytest.fixture
def added(tmp_path, monkeypatch):
    """The metric, imported from a separate file."""
    (tmp_path / "best_correlation.py").write_text(block("metric"), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("best_correlation").best_correlation
    del sys.modules["best_correlation"]


def test_the_metric_keeps_its_contract(added):
    unweave.check_metric(added)


def test_the_metric_is_right_and_explained(added):
    z = np.random.default_rng(0).normal(size=(500, 2))
    expected = abs(np.corrcoef(z[:, 0], z[:, 0] + z[:, 1])[0, 1])
    assert added(z[:, 0], z.sum(axis=1, keepdims=True)).raw == pytest.approx(expected)
    assert "Options:      power=1.0" in explanation(added)
    assert "    best correlation = 1/d sum_j max_i |corr(z_j, c_i)|" in explanation(added)


def test_the_line_is_as_the_others_are():
    catalogue = (ROOT / "src" / "unweave" / "metrics" / "__init__.py").read_text(encoding="utf-8")
    shape = re.compile(r"from unweave\.metrics\.[\w.]+ import (\w+) as \1")
    assert shape.fullmatch(block("line").strip())
    assert len(shape.findall(catalogue)) > 30


def test_the_entry_point_is_of_a_group_that_is_read():
    [group] = tomllib.loads(block("entry point"))["project"]["entry-points"]
    assert group == CATALOGUE.group


def test_every_path_that_is_named_exists():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:src|tests|docs|papers)/[\w./]+)`", text)
    assert len(named) >= 5
    assert [path for path in named if not (ROOT / path).exists()] == []
