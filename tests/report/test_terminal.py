"""Tables for a terminal, a pipe and a paper: nothing is cut, nothing is taken for markup."""

import re
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from unweave import Evidence, compare, evaluate

RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(60, 2))
NOISE = RNG.normal(size=(60, 2))
STRANGE = ["[red]", "[/x]", "a_b", r"50% & {more} #1 ~ x^2 $y \z", "two\nlines"]


@pytest.fixture(scope="module")
def strange():
    return compare(FACTORS, dict.fromkeys(STRANGE, FACTORS), metrics=["mcc", "r2:n_folds=3"], quick=True)


@pytest.fixture(scope="module")
def seeded():
    codes = FACTORS + NOISE
    return compare(FACTORS, {"one": codes, "two": codes[:, ::-1]}, metrics=["r2", "mig"], seeds=[0, 1], quick=True)


def printed(evaluation, width):
    buffer = StringIO()
    Console(file=buffer, width=width).print(evaluation, crop=False)
    return buffer.getvalue()


def test_text_holds_every_number():
    codes = {f"representation {k}": FACTORS + k * NOISE for k in range(25)}
    evaluation = compare(FACTORS, codes, metrics=["mcc"], quick=True)
    (line,) = [line for line in str(evaluation).splitlines() if line.strip().startswith("mcc")]
    found = re.findall(r"\d\.\d{3}", line)
    expected = [f"{evaluation.score('mcc', name).value:.3f}" for name in evaluation.representations]
    assert found[:25] == expected
    assert "representation 24" in str(evaluation)


@pytest.mark.parametrize("width", [30, 60, 80, 140])
def test_a_narrow_terminal_loses_columns_but_no_score(seeded, width):
    text = printed(seeded, width)
    assert ("explicitness" in text, "chance" in text) == ((True, True) if width == 140 else (width == 80, width >= 60))
    for name in seeded.representations:
        mean, spread = seeded.mean_and_spread("r2", name)
        assert f"{mean:.3f} ± {spread:.3f}" in text


def test_several_seeds_show_mean_and_spread(seeded):
    line = next(line for line in str(seeded).splitlines() if line.strip().startswith("r2"))
    assert len(re.findall(r"\d\.\d{3} ± \d\.\d{3}", line)) == 2


def test_names_are_not_markup(strange):
    for text in (str(strange), printed(strange, 200)):
        assert "[red]" in text
        assert "[/x]" in text


def test_latex_has_balanced_columns_and_no_bare_special_letter(strange):
    lines = strange.to_latex().splitlines()
    assert lines[0] == r"\begin{tabular}{l" + "r" * len(STRANGE) + "}"
    assert [lines[1], lines[3], *lines[-2:]] == [r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}"]
    table = [lines[2], *lines[4:-2]]
    assert len(table) == 3
    for line in table:
        assert line.endswith(r" \\")
        assert len(re.findall(r"(?<!\\)&", line)) == len(STRANGE)
        bare = re.sub(r"\\(?:textbackslash|textasciitilde|textasciicircum)\{\}|\\[_%&#${}]|\$\\pm\$", "", line[:-3])
        assert not set(bare) & set("_%#${}~^\\")
    assert r"a\_b" in lines[2]
    assert r"r2 (n\_folds=3)" in lines[5]


def test_latex_of_one_representation_and_several_seeds(seeded):
    assert r"$\pm$" in seeded.to_latex()
    assert evaluate(FACTORS, FACTORS, metrics="mcc").to_latex().splitlines()[2] == r"metric & score \\"


def test_failed_and_undefined_are_told_apart():
    evaluation = evaluate(FACTORS[:, :1], FACTORS, metrics=["mcc", "dci_disentanglement", "r2:n_folds=99"], quick=True)
    lines = {line.split()[0]: line for line in str(evaluation).splitlines() if line.strip()}
    assert "undefined" in lines["dci_disentanglement"]
    assert "failed" in lines["r2"]


@pytest.mark.parametrize(
    ("evidence", "heading"),
    [
        (
            Evidence({"size": range(60), "shape": ["a", "b"] * 30}, FACTORS),
            "60 rows, 2 factors (size continuous, shape categorical), 2 codes",
        ),
        (Evidence(RNG.normal(size=(60, 12)), FACTORS), "60 rows, 12 factors (12 continuous), 2 codes"),
        (Evidence(None, FACTORS), "60 rows, no factors, 2 codes"),
    ],
    ids=["few", "many", "none"],
)
def test_the_heading_says_what_was_evaluated(evidence, heading):
    assert str(evaluate(evidence, metrics="mcc", quick=True)).splitlines()[0] == heading


@pytest.fixture(scope="module")
def checked():
    rng = np.random.default_rng(1)
    factors = rng.normal(size=(200, 2))
    codes = {"kept": factors, "noisy": factors + rng.normal(size=(200, 2)), "noise": rng.normal(size=(200, 2))}
    return factors, compare(factors, codes, metrics=["mcc", "r2"])


def test_one_representation_shows_every_check(checked):
    factors, _ = checked
    line = next(line for line in str(evaluate(factors, factors, metrics="mcc")).splitlines() if " mcc" in line)
    assert re.search(r"1\.000 +0\.0\d\d +1\.000 to 1\.000 +1\.000 +✓ trust +Stable: the estimate", line)


def test_several_representations_show_marks_and_ties(checked):
    _, evaluation = checked
    lines = str(evaluation).splitlines()
    mcc = next(line for line in lines if line.strip().startswith("mcc"))
    assert re.search(r"1\.000 . a +0\.\d{3} . b +0\.\d{3} . c", mcc)
    assert any("do not differ significantly" in line for line in lines)


@pytest.mark.parametrize("width", [60, 100, 200])
def test_the_verdict_is_never_cut(checked, width):
    factors, _ = checked
    shown = printed(evaluate(factors, factors, metrics=["mcc", "r2"]), width)
    assert shown.count("✓ trust") == 2
    assert ("reason" in shown) == (width == 200)


@pytest.fixture(scope="module")
def doubtful():
    rng = np.random.default_rng(1)
    factors = rng.normal(size=(200, 2))
    codes = factors @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(200, 6))
    return evaluate(factors, codes, metrics=["sap", "mig", "relevance_factor_vae_score"], budget=0.0)


@pytest.mark.parametrize("width", [80, 100, 120])
def test_reasons_without_a_column_stand_below(doubtful, width):
    shown = printed(doubtful, width)
    rows = [row for row in doubtful.rows if row.verdict.level != "trust"]
    assert rows
    assert "reason" not in shown.splitlines()[2]
    for row in rows:
        assert row.verdict.reasons[0].sentence in " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= width


def test_reasons_in_a_column_are_not_repeated(doubtful):
    assert not re.search(r"^ [!✗] ", str(doubtful), re.MULTILINE)


def test_calibrated_goes_before_the_interval_and_that_before_the_floor(doubtful):
    kept = [
        [name for name in ("calibrated", "interval", "floor") if name in printed(doubtful, w)] for w in (100, 80, 60)
    ]
    assert kept[0] == ["calibrated", "interval", "floor"]
    assert kept[1] == ["floor"]
    assert kept[2] == []


def test_floors_in_the_table_lie_within_the_bounds_of_the_metric():
    """r2 of permuted codes is below 0 before it is cut, and so are the scores beside it."""
    codes = np.random.default_rng(1).normal(size=(60, 20))
    evaluation = evaluate(FACTORS, codes, metrics=["r2"], budget=0)
    assert max(evaluation.rows[0].noise_floor.draws) < 0 > evaluation["r2"].raw
    line = next(line for line in str(evaluation).splitlines() if line.strip().startswith("r2"))
    assert "0.000" in line
    assert not re.search(r"-\d", line)
