"""Traversals on the page, colours, Markdown and parts of the notebook."""

import base64
import io

import numpy as np
import pytest
from click.testing import CliRunner
from fake_evaluations import CHOSEN, fake_evaluation

import unweave
from unweave import InputError, evaluate
from unweave.auditing import Audit
from unweave.cli import main
from unweave.datasets import small_sprites
from unweave.encoding import encode
from unweave.evidence import Evidence, Posterior
from unweave.report.html import DARK, LIGHT, UNDEFINED, code_pictures, contrast, decoder_of, luminance, png, text_on
from unweave.report.markdown import markdown_page
from unweave.report.summary import summarise

MODEL = """
import numpy as np
class Model:
    def encode(self, images):
        at = np.arange(16.0)
        lit = images.sum(axis=(1, 2, 3))
        x, y = images[:, 0].sum(axis=1) @ at / lit, images[:, 0].sum(axis=2) @ at / lit
        return np.stack([x, 0 * x, y], axis=1), np.stack([0 * x + 0.3, 0 * x + 1, 0 * x + 0.1], axis=1)
    def decode(self, codes):
        at = np.arange(16.0)
        x, y = codes[:, 0, None, None], codes[:, 2, None, None]
        far = np.square(at[None, None, :] - x) + np.square(at[None, :, None] - y)
        return np.exp(-far / 8)[:, None]
"""


def model():
    names = {}
    exec(MODEL, names)
    return names["Model"]()


def test_rows_are_sorted_and_matched():
    sprites = small_sprites()
    found = encode(model(), sprites, rows=800)
    pictures = code_pictures(found.evidence(), decoder_of(model()))
    assert [row.code for row in pictures.rows] == ["code 2", "code 0", "code 1"]
    assert [row.factor for row in pictures.rows[:2]] == ["y", "x"]
    assert pictures.rows[2].importance == pytest.approx(0, abs=1e-9)
    assert pictures.rows[0].share > 0.6


def test_a_strip_is_a_picture_of_the_decoded_images():
    image = pytest.importorskip("PIL.Image")
    from io import BytesIO

    codes = np.random.default_rng(0).normal(size=(200, 2))
    flat = lambda z: np.broadcast_to((0.5 + z[:, 0] / 8)[:, None, None, None], (len(z), 3, 8, 8))  # noqa: E731
    evidence = Evidence(codes, Posterior(codes, 0.1 + 0 * codes))
    row = code_pictures(evidence, flat).rows
    strip = next(entry.strip for entry in row if entry.code == "code 0")
    pixels = np.asarray(image.open(BytesIO(base64.b64decode(strip.split(",")[1]))))
    assert pixels.shape == (10, 90, 3)
    centres = pixels[5, 5::10, 0] / 255
    assert (np.diff(centres) > 0).all()
    assert centres[0] == pytest.approx(0.5 + np.quantile(codes[:, 0], 0.02) / 8, abs=0.01)


@pytest.mark.parametrize(
    ("decode", "message"),
    [
        (lambda z: z, "has to return images"),
        (lambda z: np.full((len(z), 1, 4, 4), np.nan), "nan or infinite"),
    ],
)
def test_bad_decoders(decode, message):
    codes = np.random.default_rng(0).normal(size=(100, 2))
    with pytest.raises(InputError, match=message):
        code_pictures(Evidence(codes, codes), decode)
    with pytest.raises(InputError, match="cannot decode"):
        decoder_of(3)


def test_the_page_has_the_pictures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "pictured_model.py").write_text(MODEL)
    encode(model(), small_sprites(), out="codes.npz", rows=300)
    command = ["score", "codes.npz", "--metrics", "mcc", "--quick", "--decoder", "pictured_model:Model"]
    done = CliRunner().invoke(main, [*command, "--images", "small_sprites", "--html", "page.html"])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("data:image/png;base64") == 4
    assert "What each code does" in page
    refused = CliRunner().invoke(main, command)
    assert refused.exit_code == 2
    assert "--html" in refused.output
    plain = CliRunner().invoke(main, ["score", "codes.npz", "--metrics", "mcc", "--quick", "--html", "plain.html"])
    assert plain.exit_code == 0, plain.output
    assert "What each code does" not in (tmp_path / "plain.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("ramp", "sign"), [(LIGHT, -1), (DARK, 1)])
def test_luminance_goes_one_way_in_steps_that_can_be_seen(ramp, sign):
    steps = sign * np.diff([luminance(colour) for colour in ramp])
    assert (steps > 0).all()
    assert contrast(ramp[0], ramp[-1]) > 8


@pytest.mark.parametrize("ramp", [LIGHT, DARK])
def test_numbers_can_be_read_on_every_colour(ramp):
    assert min(contrast(colour, text_on(colour)) for colour in ramp) >= 4.5


def test_pictures_are_png_with_the_colours_of_the_values():
    image = pytest.importorskip("PIL.Image", reason="Pillow reads the picture back")
    values = [[0.0, 0.5, 1.0], [None, 2.0, -1.0]]
    read = np.asarray(image.open(io.BytesIO(png(values, (0.0, 1.0), LIGHT))).convert("RGB"))
    low, middle, high = LIGHT[0], LIGHT[10], LIGHT[20]
    assert read.tolist() == [[list(low), list(middle), list(high)], [list(UNDEFINED), list(high), list(high)]]


def test_luminance_of_the_primaries_is_that_of_srgb():
    primaries = [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)]
    assert [luminance(colour) for colour in primaries] == pytest.approx([0.2126, 0.7152, 0.0722, 1.0])


@pytest.mark.parametrize(("grey", "expected"), [(10, 0.0030353), (11, 0.00334654), (128, 0.2158605), (188, 0.5028865)])
def test_luminance_of_greys_is_the_curve_of_srgb(grey, expected):
    """The curve is straight up to 10 of 255 and a power of 2.4 from 11 on."""
    assert luminance((grey,) * 3) == pytest.approx(expected, rel=1e-5)


ABOVE_NOISE = [(*entry[:3], (*entry[3][:3], 0.005), *entry[4:]) for entry in CHOSEN]


def table_after(text, heading):
    lines = text.split(heading, 1)[1].strip().splitlines()
    table = []
    for line in lines:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in line.strip("|").replace("\\|", "¦").split("|")])
    return table


def test_verdict_table_has_what_the_summary_has():
    summary = summarise(fake_evaluation())
    head, _, *rows = table_after(markdown_page(fake_evaluation()), "## Verdicts")
    assert head == ["metric", "score", "noise", "interval", "calibrated", "p", "verdict", "why"]
    assert rows[4][:7] == ["mig", "0.041", "0.033", "0.010 to 0.080", "0.008", "0.310", "noise level"]
    assert rows[4][7] == "These codes score like random codes: 0.04, and random codes score 0.03 (p = 0.31)."
    *_, doubted, _ = table_after(markdown_page(fake_evaluation(chosen=ABOVE_NOISE)), "## Verdicts")
    assert doubted[:7] == ["mig", "0.041", "0.033", "0.010 to 0.080", "0.008", "≤ 0.005", "do not use"]
    assert [row[0].replace("\\", "") for row in rows] == [metric["label"] for metric in summary["metrics"]]


def test_representations_stand_side_by_side():
    head, _, *rows = table_after(fake_evaluation(("a", "b")).to_markdown(), "## Verdicts")
    assert head == ["metric", "a", "b"]
    assert rows[0] == ["mcc", "0.871 caution", "0.851 caution"]


def test_names_with_bars_and_stars_keep_their_cells():
    factors = {"a|b": [float(i % 7) for i in range(60)], "*c*": [float(i % 5) for i in range(60)]}
    text = evaluate(factors, [[float(i % 7), float(i % 5)] for i in range(60)], metrics=["mcc"]).to_markdown()
    head, rule, *_ = table_after(text, "(mcc)")
    assert head == ["code", "a¦b", "\\*c\\*"]
    assert len(rule) == 3


FACTORS = np.random.default_rng(0).uniform(size=(120, 2))


@pytest.fixture(scope="module")
def evaluation():
    return unweave.evaluate(
        {"<b>size": FACTORS[:, 0], "x": FACTORS[:, 1]}, FACTORS, metrics=["mcc"], quick=True, progress=False
    )


def test_a_score_shows_its_factors_escaped(evaluation):
    shown = evaluation["mcc"]._repr_html_()
    assert "mcc = 1.000" in shown
    assert "&lt;b&gt;size" in shown
    assert "<b>size" not in shown


def test_a_diagnosis_shows_its_sentences():
    found = unweave.diagnose(unweave.Evidence(FACTORS, np.column_stack([FACTORS, np.ones(120)])))
    shown = found._repr_html_()
    assert shown.count("<li>") >= len(found.sentences())


def test_an_audit_shows_why_there_is_none():
    assert "No codes." in Audit("mine", 1, refusal="No codes.")._repr_html_()


def test_text_is_text_in_a_notebook_too(evaluation, monkeypatch):
    """In a notebook, rich prints HTML and leaves the text empty unless force_jupyter is False."""
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert "mcc" in str(evaluation)
    assert "run" in str(unweave.unlabelled({"a": FACTORS}))
    both = unweave.compare(FACTORS, {"a": FACTORS, "b": FACTORS[:, ::-1]}, metrics=["mcc"], quick=True, progress=False)
    assert "setting" in str(both.grouped({"a": "one", "b": "one"}))
    assert "mine" in str(Audit("mine", 1, refusal="No codes."))


def test_figures_show_themselves(evaluation):
    assert evaluation.plot()._repr_png_().startswith(b"\x89PNG")


def test_a_comparison_shows_its_groups_escaped():
    from unweave.metrics import mcc
    from unweave.trust import compared

    noise = np.random.default_rng(1).normal(size=(120, 2))
    evidences = {"<i>good": unweave.Evidence(FACTORS, FACTORS), "noise": unweave.Evidence(FACTORS, noise)}
    shown = compared(mcc, evidences)._repr_html_()
    assert "&lt;i&gt;good" in shown
    assert shown.index("good") < shown.index("noise")
    assert "share a letter" in shown
