"""The site: its examples run, its links are valid, and it builds without warnings and without a network."""

import functools
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import unweave

ROOT = Path(__file__).parent.parent
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
        monkeypatch.setattr(unweave, name, functools.partial(getattr(unweave, name), budget=0.5))
    if page.stem == "integrations":
        for package in ("lightning", "torchmetrics", "tensorboard"):
            pytest.importorskip(package, reason=f"{package} is not installed")
    blocks, space = BLOCK.findall(page.read_text(encoding="utf-8")), {}
    assert blocks
    for block in blocks:
        exec(compile(FEWER_ROWS.sub("200", block), str(page), "exec"), space)


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


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("material", reason="mkdocs-material is not installed")
    pytest.importorskip("mkdocstrings", reason="mkdocstrings is not installed")
    folder = tmp_path_factory.mktemp("site")
    # with a proxy that does not exist, every network request fails
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT, capture_output=True, text=True, env={**os.environ, **nowhere, "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    assert built.stderr.strip() == ""
    return {
        path.relative_to(folder).as_posix(): Links(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")
    }, folder


def test_every_link_leads_somewhere(site):
    pages, folder = site
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


def test_nothing_is_loaded_from_elsewhere(site):
    pages, folder = site
    for name, links in pages.items():
        assert not [address for address in links.loaded if urlsplit(address).netloc], name
    for sheet in folder.rglob("*.css"):
        assert not re.search(r"url\([\"']?https?:", sheet.read_text(encoding="utf-8"))


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
