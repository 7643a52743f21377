"""The search of the site: what people look for is among the first three results. Slow, because it drives a browser."""

import functools
import http.server
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# fixed before the first run of the search; a query may have several right pages
SEARCHES = {
    "missing values": ("guides/questions",),
    "pandas data frame": ("guides/questions", "guides/mixed-kinds"),
    "latex table": ("guides/paper-table",),
    "how many samples": ("guides/questions",),
    "gpu": ("guides/questions",),
    "correlated factors": ("guides/questions", "guides/causal", "trust"),
    "own images": ("guides/questions", "guides/vae"),
    "how long does it take": ("guides/questions",),
    "disentanglement_lib": ("why-two-numbers", "guides/questions", "api/compat"),
    "noise floor": ("trust", "guides/questions"),
    "anndata": ("guides/questions",),
    "sparse autoencoder": ("guides/sparse-autoencoder",),
    "checkpoints": ("guides/many-checkpoints",),
    "lightning callback": ("guides/integrations",),
    "mcc": ("metrics/mcc",),
    "do not use": ("trust", "report"),
    "which metric": ("which-metric",),
    "no labels": ("guides/unlabelled",),
    "probe layers": ("guides/probes",),
    "json": ("scripts",),
}
BACKSPACE = "\ue003"  # the key, as WebDriver names it
RESULTS = """return [...document.querySelectorAll('*')].filter(each => each.shadowRoot)
    .flatMap(each => [...each.shadowRoot.querySelectorAll('a')].map(link => link.getAttribute('href')))"""
FIELD = """for (const each of document.querySelectorAll('*')) {
    const field = each.shadowRoot?.querySelector('input'); if (field) return field; }"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *given):
        pass


@pytest.mark.slow
def test_answers_are_among_the_first_three_results(tmp_path):
    pytest.importorskip("zensical", reason="zensical is not installed")
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium drives the browser")
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        pytest.skip("chromium and chromedriver are not installed")
    for name in ("docs", "src"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    subprocess.run([sys.executable, "-m", "zensical", "build"], cwd=tmp_path, check=True, capture_output=True)
    handler = functools.partial(Quiet, directory=tmp_path / "site")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in (
        "headless=new",
        "no-sandbox",
        "disable-gpu",
        "window-size=1400,900",
        f"user-data-dir={tmp_path / 'profile'}",
    ):
        options.add_argument(f"--{argument}")
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        browser.get(f"http://127.0.0.1:{server.server_port}/index.html")
        time.sleep(3)
        browser.find_element("css selector", ".md-search__button").click()
        time.sleep(1.5)
        field, missed = browser.execute_script(FIELD), {}
        for query, pages in SEARCHES.items():
            field.send_keys(BACKSPACE * 60 + query)
            time.sleep(1.2)
            first = [link.partition("?")[0] for link in browser.execute_script(RESULTS) if link][:3]
            if not any(f"/{page}.html" in link for page in pages for link in first):
                missed[query] = first
    finally:
        browser.quit()
        server.shutdown()
    assert len(missed) <= 2, missed
