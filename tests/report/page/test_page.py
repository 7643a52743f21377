"""The page in a real browser: opened from disk, without errors or requests; sorting, copying, small, dark, printed."""

import base64
import json
import re
import shutil
import tempfile

import numpy as np
import pytest
from fake_evaluations import CHOSEN, fake_evaluation

import unweave
from unweave import evaluate
from unweave.report import html
from unweave.report.geometry import geometry_page
from unweave.report.html import MOST_BYTES, contrast, rendered
from unweave.report.leaderboard import leaderboard
from unweave.report.summary import EVER_LESS, summarise

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium drives the browser")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
needs_browser = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="chromium and chromedriver are not installed")
PHONE, LAPTOP = (390, 844), (1280, 800)
ABOVE_NOISE = [(*entry[:3], (*entry[3][:3], 0.005), *entry[4:]) for entry in CHOSEN]


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for argument in ("headless=new", "no-sandbox", "disable-gpu", "disable-background-networking"):
            options.add_argument(f"--{argument}")
        options.add_argument(f"--user-data-dir={profile}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
        yield driver
        driver.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    evaluations = {
        "one": fake_evaluation(),
        "doubted": fake_evaluation(chosen=ABOVE_NOISE),  # mig is not at noise level and should not be used
        "three": fake_evaluation(("beta-VAE", "<b>Factor</b>VAE", "noise")),
        "many": fake_evaluation([f"checkpoint {k}" for k in range(60)]),
        "seeds": fake_evaluation([f"vae {k}, seed {seed}" for k in range(4) for seed in range(3)]),
        "large": fake_evaluation(n_factors=200, n_codes=2000),
        "bare": fake_evaluation(trusted=False),
    }
    for name, evaluation in evaluations.items():
        evaluation.to_html(folder / f"{name}.html")
    factors = np.random.default_rng(0).normal(size=(200, 2))
    real = evaluate(dict(zip(["size", "hue"], factors.T, strict=True)), factors, budget=0, metrics=["identification"])
    evaluations["real"] = real
    real.to_html(folder / "real.html")
    both = {"kept": factors, "swapped": factors[:, ::-1]}
    options = {"budget": 0, "metrics": ["identification"]}
    evaluations["both"] = unweave.compare(dict(zip(["size", "hue"], factors.T, strict=True)), both, **options)
    evaluations["both"].to_html(folder / "both.html")
    (folder / "board").mkdir()
    real.save(folder / "board" / "<b>model.json")
    leaderboard(folder / "board").to_html(folder / "board.html")
    spectrum = unweave.spectrum(np.random.default_rng(0).normal(size=(16, 2)))
    page = geometry_page("<b>decoder</b>", spectrum, np.eye(2), (1, 4, 4), None)
    (folder / "geometry.html").write_text(page, encoding="utf-8")
    evaluations |= {"board": None, "geometry": None}
    return {name: folder / f"{name}.html" for name in evaluations}


def opened(browser, path, size=LAPTOP, scheme="light", media=""):
    # without animation the page scrolls immediately
    wishes = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
    features = [{"name": name, "value": value} for name, value in wishes.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
    metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size == PHONE}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get(path.as_uri())
    browser.execute_script("document.querySelectorAll('details.fold').forEach(each => { each.open = true; })")
    return browser


def labels(browser):
    return browser.execute_script(
        "return [...document.querySelectorAll('#verdict-table tbody th .name')].map(e => e.textContent)"
    )


def rgb(browser, selector, name):
    text = browser.execute_script(
        "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]", selector, name
    )
    return tuple(int(part) for part in text[text.index("(") + 1 : -1].split(",")[:3])


@pytest.mark.parametrize("name", ["one", "three", "large", "bare"])
def test_pages_are_one_small_file(pages, name):
    assert pages[name].stat().st_size < MOST_BYTES


def test_pages_of_too_much_are_aggregated_until_they_fit(monkeypatch):
    evaluation = fake_evaluation(["a", "b"], n_factors=22, n_codes=25)
    *larger, coarse = (len(rendered(summarise(evaluation, detail)).encode()) for detail in EVER_LESS)
    monkeypatch.setattr(html, "MOST_BYTES", coarse + 1)
    assert len(html.html_page(evaluation).encode()) == coarse < min(larger)


@needs_browser
@pytest.mark.parametrize("name", ["one", "three", "large", "bare"])
def test_no_console_errors_and_no_requests(browser, pages, name):
    browser.get("about:blank")
    browser.get_log("browser")  # remove messages of earlier pages
    opened(browser, pages[name])
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    requests = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
    # the browser makes requests of its own, at random times
    asked = {entry["request"]["url"] for entry in requests if entry["documentURL"] == pages[name].as_uri()}
    assert {url for url in asked if not url.startswith("data:")} == {pages[name].as_uri()}
    assert browser.execute_async_script(
        "const done = arguments[0]; Promise.all([...document.images].map(image => image.decode()))"
        ".then(() => done(true), () => done(false))"
    )


ALL = ["one", "three", "large", "bare", "seeds", "real", "both", "board", "geometry"]
ATTACKS = (
    "<script>window.hit = 1</script>",
    "<script src='data:text/javascript,window.hit=1'></script>",
    "<img src=x onerror='window.hit = 1'>",
    "<svg onload='window.hit = 1'></svg>",
    "<details open ontoggle='window.hit = 1'></details>",
    "<iframe srcdoc='<script>parent.hit = 1</script>'></iframe>",
    "<object data='data:text/html,<script>parent.hit = 1</script>'></object>",
    "<a id='bait' href='javascript:window.hit = 1'>bait</a>",
    "<style>body { display: none }</style>",
    "<link rel='stylesheet' href='data:text/css,body{display:none}'>",
    "<base href='https://example.org/'>",
)


@needs_browser
@pytest.mark.parametrize("name", ALL)
def test_markup_inside_a_page_can_neither_run_nor_restyle_nor_load(browser, pages, name, tmp_path):
    """The policy is the second lock behind escaping: what would get into a page stays without effect."""
    page = pages[name].read_text(encoding="utf-8")
    (tmp_path / "attacked.html").write_text(page.replace("</body>", "".join(ATTACKS) + "</body>"), encoding="utf-8")
    opened(browser, tmp_path / "attacked.html")
    browser.execute_script("document.getElementById('bait').click()")
    assert browser.execute_script("return window.hit ?? null") is None
    assert browser.execute_script("return getComputedStyle(document.body).display") != "none"
    assert browser.execute_script("return document.baseURI").startswith("file:")
    assert "'unsafe-inline'" not in re.search("script-src[^;]*", page)[0]
    assert not re.search(r"<[^<>]*\son[a-z]+\s*=", re.sub("<script.*?</script>", "", page, flags=re.DOTALL))


@needs_browser
@pytest.mark.parametrize("name", ALL)
def test_pages_say_the_same_without_scripts(browser, pages, name):
    """All text is there with JavaScript off, nothing waits for a script, and buttons that need one are not shown."""
    text = "return [...document.body.querySelectorAll('h1, h2, h3, p, th, td, dd, pre, summary')]"
    text += ".filter(each => !each.querySelector('button.copy, .tools button')).map(each => each.innerText).join('\\n')"
    with_scripts = opened(browser, pages[name]).execute_script(f"document.getElementById('all-seeds')?.click(); {text}")
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        assert opened(browser, pages[name]).execute_script(text) == with_scripts
        assert len(with_scripts) > 200
        buttons = browser.find_elements("css selector", "button.copy, .tools button")
        assert not any(button.is_displayed() for button in buttons)
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@needs_browser
def test_names_are_text_and_never_markup(browser, pages):
    opened(browser, pages["three"])
    assert browser.execute_script("return document.querySelectorAll('#models b, thead b').length") == 0
    assert "<b>Factor</b>VAE" in browser.find_element("id", "answer").text


@needs_browser
def test_the_embedded_summary_is_the_summary(browser, pages):
    opened(browser, pages["three"])
    text = browser.execute_script("return document.getElementById('summary').textContent")
    assert json.loads(text) == summarise(fake_evaluation(("beta-VAE", "<b>Factor</b>VAE", "noise")))


@needs_browser
def test_sorting_by_click(browser, pages):
    opened(browser, pages["one"])
    given = labels(browser)
    by_head = {button.text: button for button in browser.find_elements("css selector", "#verdict-table thead button")}
    by_head["Score"].click()
    assert labels(browser) == ["r2", "mcc", "dci_disentanglement", "dci_completeness", "jemmig", "mig"]
    assert by_head["Score"].find_element("xpath", "..").get_attribute("aria-sort") == "descending"
    by_head["Score"].click()
    assert labels(browser)[0] == "mig"
    by_head["Verdict"].click()
    assert labels(browser)[3] == "mig"  # noise level, after the trusted and before those with caution
    chips = [chip.text for chip in browser.find_elements("css selector", "#verdict-table tbody .chip")]
    assert chips == ["trust"] * 3 + ["noise level"] + ["caution"] * 2
    assert sorted(labels(browser)) == sorted(given)
    assert by_head["Score"].find_element("xpath", "..").get_attribute("aria-sort") == "none"


@needs_browser
def test_sorting_and_copying_by_keyboard_alone(browser, pages):
    from selenium.webdriver.common.keys import Keys

    opened(browser, pages["one"])
    press = webdriver.ActionChains(browser, duration=0)
    active = "const { dataset, innerText } = document.activeElement; return dataset.copy ?? innerText"
    reached = []
    while "bibtex" not in reached and len(reached) < 60:
        press.send_keys(Keys.TAB).perform()
        reached.append(browser.execute_script(active))
        if reached[-1] == "Score":
            press.send_keys(Keys.ENTER).perform()
            assert labels(browser)[0] == "r2"
    assert {"Metric", "Score", "methods", "latex", "bibtex"} <= set(reached)
    press.send_keys(Keys.SPACE).perform()
    state = "const done = arguments[0]; setTimeout(() => done(document.activeElement.dataset.state), 80)"
    assert browser.execute_async_script(state) in ("copied", "selected")


@needs_browser
@pytest.mark.parametrize("with_clipboard", [True, False])
def test_copying(browser, pages, with_clipboard):
    opened(browser, pages["one"])
    stub = "t => { window.copied = t; return Promise.resolve(); }" if with_clipboard else "() => Promise.reject()"
    browser.execute_script(
        f"Object.defineProperty(navigator, 'clipboard', {{value: {{writeText: {stub}}}}});"
        "document.addEventListener('copy', () => { window.copied = getSelection().toString(); });"
    )
    for piece, text in summarise(fake_evaluation())["writing"].items():
        button = browser.find_element("css selector", f"button[data-copy={piece}]")
        button.click()
        wait = "const done = arguments[1]; setTimeout(() => done(arguments[0].dataset.state), 80)"
        assert browser.execute_async_script(wait, button) == "copied"
        assert browser.execute_script("return window.copied").split() == text.split()
        assert "Copied" in browser.find_element("id", "said").get_attribute("textContent")


@needs_browser
@pytest.mark.parametrize("name", ["one", "three", "large", "many", "seeds", "real", "both"])
@pytest.mark.parametrize("width", [360, 800, 1400])
def test_no_width_needs_sideways_scrolling(browser, pages, name, width):
    opened(browser, pages[name], (width, 800))
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


@needs_browser
def test_the_answer_is_on_the_first_screen(browser, pages):
    opened(browser, pages["real"], LAPTOP)
    table = browser.find_element("css selector", "#answer table")
    assert table.location["y"] + table.size["height"] <= LAPTOP[1]
    rows = [row.text for row in table.find_elements("css selector", "tbody tr")]
    assert " ".join(rows[0].split()).startswith("size one code code 0")
    assert " ".join(rows[1].split()).startswith("hue one code code 1")
    assert len(browser.find_elements("css selector", ".mini-picture path:not(.axes)")) == 2
    assert len(browser.find_elements("css selector", ".mini-picture path.axes")) == 2
    assert "the code (vertical axis) against the factor (horizontal axis)" in browser.page_source


ROWS = "return [...document.querySelectorAll('#models tbody tr')].filter(row => row.offsetParent).map(row => "
NAMES, SCORES = ROWS + "row.cells[0].dataset.sort)", ROWS + "parseFloat(row.cells[1].dataset.sort))"


@needs_browser
def test_of_many_checkpoints_every_one_is_one_row(browser, pages):
    scores = opened(browser, pages["many"]).execute_script(SCORES)
    assert len(scores) == 60
    assert scores == sorted(scores, reverse=True)


@needs_browser
def test_representations_are_sorted_and_filtered_and_seeds_unfolded(browser, pages):
    opened(browser, pages["seeds"])
    names = browser.execute_script(NAMES)
    assert names == ["vae 0", "vae 1", "vae 2", "vae 3"]
    heads = browser.find_elements("css selector", "#models thead button")
    heads[1].click()
    heads[1].click()
    assert browser.execute_script(NAMES) == names[::-1]
    browser.find_element("css selector", "#models .unfold").click()
    assert browser.execute_script(NAMES)[1:4] == [f"vae 3, seed {k}" for k in (2, 1, 0)]
    browser.find_element("id", "all-seeds").click()
    assert len(browser.execute_script(NAMES)) == 16
    browser.find_element("id", "filter").send_keys("2, SEED")
    assert browser.execute_script(NAMES) == ["vae 2", *(f"vae 2, seed {k}" for k in (2, 1, 0))]
    figures = "return [...document.querySelectorAll('figure[data-of]:not([hidden])')].map(each => each.dataset.of)"
    assert {name[:5] for name in browser.execute_script(figures)} == {"vae 2"}


@needs_browser
def test_twelve_representations_fit_eight_pages_and_screens(browser, pages):
    opened(browser, pages["seeds"], (1400, 900))
    browser.get(pages["seeds"].as_uri())
    assert browser.execute_script("return document.documentElement.scrollHeight") <= 8 * 900
    pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 8


@needs_browser
@pytest.mark.parametrize("name", ["real", "both"])
def test_a_click_on_a_cell_draws_the_code_against_the_factor(browser, pages, name):
    opened(browser, pages[name])
    cell = browser.find_element("css selector", "#matrices td.look")
    cell.click()
    dialog = browser.find_element("id", "look")
    assert dialog.is_displayed()
    assert len(dialog.find_elements("css selector", "circle")) == 150
    lists = dialog.find_elements("css selector", "select")
    assert len(lists) == (3 if name == "both" else 2)
    browser.execute_script("arguments[0].selectedIndex = 1; arguments[0].dispatchEvent(new Event('change'))", lists[-1])
    assert [text.text for text in dialog.find_elements("css selector", "svg text")] == ["hue", "code 0"]
    dialog.find_element("css selector", "button").click()
    assert not dialog.is_displayed()


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_both_schemes(browser, pages, scheme):
    opened(browser, pages["doubted"], scheme=scheme)
    paper = rgb(browser, "body", "backgroundColor")
    assert (sum(paper) < 120) == (scheme == "dark")
    for selector in ("body", ".sub", ".small", ".legend", "nav a", "a[href='#reasons']"):
        assert contrast(rgb(browser, selector, "color"), paper) >= 4.5, selector
    cell = "td.best"
    assert contrast(rgb(browser, cell, "color"), rgb(browser, cell, "backgroundColor")) >= 4.5
    for name, levels in (("doubted", ("trust", "caution", "do-not-use")), ("one", ("noise-level",))):
        opened(browser, pages[name], scheme=scheme)
        for level in levels:
            chip = f".chip.{level}"
            assert contrast(rgb(browser, chip, "color"), rgb(browser, chip, "backgroundColor")) >= 4.5, level
            assert browser.find_element("css selector", chip).text == level.replace("-", " ")  # not by colour alone


@needs_browser
def test_printed_pages_are_light_and_unfolded(browser, pages):
    opened(browser, pages["one"], scheme="dark", media="print")
    assert rgb(browser, "body", "backgroundColor") == (255, 255, 255)
    assert not browser.find_element("tag name", "nav").is_displayed()
    folded = "return document.querySelectorAll('details:not([open])').length"
    assert browser.execute_script(folded) > 0
    browser.execute_script(
        "window.addEventListener('beforeprint', () => { "
        "window.foldedOnPaper = document.querySelectorAll('details:not([open])').length; })"
    )
    pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
    assert pdf.startswith(b"%PDF")
    assert browser.execute_script("return window.foldedOnPaper") == 0
    assert browser.execute_script(folded) > 0


@needs_browser
def test_codes_can_be_put_in_the_order_of_their_factors(browser, pages):
    opened(browser, pages["one"])
    names = "return [...document.querySelectorAll('#matrices tbody')[0].rows].map(row => row.cells[0].textContent)"
    given = browser.execute_script(names)
    button = browser.find_element("id", "order-codes")
    button.click()
    ordered = browser.execute_script(names)
    values = dict(zip(given, summarise(fake_evaluation())["matrices"][0]["values"], strict=True))
    best = [max(range(4), key=values[name].__getitem__) for name in ordered]
    assert best == sorted(best)
    button.click()
    assert browser.execute_script(names) == given


@needs_browser
def test_what_was_aggregated_is_said_on_the_page(browser, pages):
    text = opened(browser, pages["large"]).find_element("tag name", "main").text
    assert "Each cell shows the largest value of a block of 17 codes by 2 factors" in text
    assert "the 12 highest and 12 lowest of 200 factors" in text
