"""Whole tables of numbers that are made up, as a terminal shows them: every number, heading and count."""

import math
from io import StringIO
from types import SimpleNamespace

import numpy as np
import pytest
from fake_evaluations import CHOSEN, fake_evaluation
from rich.console import Console

from unweave import Unlabelled
from unweave.evaluation.results import FactorDescription, GroupedScore, GroupedScores
from unweave.evaluation.unlabelled import RunFacts, RunPair
from unweave.metrics.manifolds import Spectrum
from unweave.report import terminal as whole_text
from unweave.report.answer import ComparedQuestion, Ranked
from unweave.report.figures.curves import draw_runs
from unweave.report.geometry import geometry_table
from unweave.report.latex import latex_rows
from unweave.report.tables import READING, concept_table, grouped_table, runs_table
from unweave.report.terminal import metric_table, ranked_table
from unweave.sentences import NOTHING
from unweave.trust.verdict_record import Level


def printed(thing, width=120):
    buffer = StringIO()
    Console(file=buffer, width=width).print(thing, crop=False)
    return buffer.getvalue().rstrip().splitlines()


def shown(text):
    """Lines without the spaces at their end, and with plain dashes."""
    return [line.rstrip().replace(NOTHING, "-") for line in (text if isinstance(text, list) else text.splitlines())]


def concepts(n_concepts, n_codes):
    measured = {"f1": 0.84362, "auroc": 0.95417, "average_precision": 0.77128, "probe_1": 0.91234, "probe_4": math.nan}
    row = {"prevalence": 0.123456, "f1_code": "c7", "f1_sign": 1, "f1_ties": 1, **measured}
    row |= {f"{name}_floor": 0.21951 if name == "f1" else math.nan for name in measured}
    row |= {f"{name}_interval": [0.8, 0.88765] if name == "f1" else None for name in measured}
    split = row | {
        "f1_sign": -1,
        "f1_ties": 2,
        "concept": "red",
        "split": True,
        "specific_codes": 3,
        "absorbing_codes": 1,
    }
    whole = row | {"split": False, "specific_codes": 2, "absorbing_codes": 0}
    counts = {"dead_codes": 1000, "dense_codes": 2000, "always_on_codes": 3000, "absorbed_concepts": 1500}
    totals = {"n_rows": 4000, "n_codes": 5000, "active_per_row": 12.3456, "mean_density": 0.0024691}
    names = [f"c{k}" for k in range(n_codes)]
    return SimpleNamespace(
        rows=lambda: [split, *(whole | {"concept": f"blue {k}"} for k in range(n_concepts - 1))],
        totals=lambda: {**totals, **counts, "split_concepts": 1},
        notes=lambda: ["A note."],
        probes=SimpleNamespace(k=(1, 4)),
        screening=SimpleNamespace(
            codes=np.arange(n_codes), n_codes=5000, rate=0.05, names=names, factors=["red"] * n_codes
        ),
    )


def test_concepts_with_their_codes_and_totals():
    lines = shown(printed(concept_table(concepts(2, 2)), width=1000))
    assert set(lines.pop(3)) == {" ", "─"}
    assert lines == [
        "4,000 rows, 5,000 codes, of which 12.3 are active on a row (density 0.247 %); 1,000 are dead, 2,000 are "
        "active on more than half of the rows, 3,000 on all. 1 concept split, 1,500 partly absorbed by other codes.",
        "",
        " concept    share   best code                                       F1   (noise)"
        "   AUROC   (noise)     AP   (noise)   k = 1   (noise)   k = 4   (noise)   split over   absorbed by",
        " red       12.3 %   not c7 (1 of 2 with this F1)   0.84 (0.80 to 0.89)      0.22"
        "    0.95         -   0.77         -    0.91         -       -         -      3 codes        1 code",
        " blue 0    12.3 %   c7                             0.84 (0.80 to 0.89)      0.22"
        "    0.95         -   0.77         -    0.91         -       -         -",
        "",
        READING,
        "A note.",
        "2 of 5,000 codes depend on a concept (false-discovery rate 5 %): c0 (red), c1 (red).",
    ]


@pytest.mark.parametrize(("extra", "said"), [(0, None), (1, "1 concept is"), (2, "2 concepts are")])
def test_of_many_concepts_the_first_forty_are_shown(extra, said):
    lines = shown(printed(concept_table(concepts(40 + extra, 2)), width=1000))
    assert sum("12.3 %" in line for line in lines) == 40
    assert [line for line in lines if "not shown" in line] == (
        [f"{said} not shown; --json writes all of them."] if said else []
    )


@pytest.mark.parametrize(
    ("n_codes", "end"),
    [
        (0, "(false-discovery rate 5 %)."),
        (1, "(false-discovery rate 5 %): c0 (red)."),
        (10, "c8 (red), c9 (red)."),
        (11, "c8 (red), c9 (red) and 1 more."),
    ],
)
def test_ten_codes_that_depend_on_a_concept_are_named(n_codes, end):
    *_, last = shown(printed(concept_table(concepts(2, n_codes)), width=1000))
    assert last.startswith(f"{n_codes} of 5,000 codes depend on a concept")
    assert last.endswith(end)


class Measured:
    """The scores of a decoder, as far as the table needs them."""

    def __init__(self, matrix):
        self.notes = {"A note.": ("mine",)}
        scores = {
            "manifold_entropy": (9.0, {}),
            "total_entropy": (2.34567, {"standard_error": [0.01234], "per_dimension": [0.781893]}),
            "manifold_total_correlation": (0.34567, {"per_dimension": [0.11522]}),
            "manifold_mutual_information": (0.87654, {"matrix": matrix}),
        }
        self.scores = {name: SimpleNamespace(value=value, parts=parts) for name, (value, parts) in scores.items()}
        self.rows = [SimpleNamespace(metric=name, score=score) for name, score in self.scores.items()]
        self.rows.append(SimpleNamespace(metric="failed", score=None))

    def __getitem__(self, name):
        return self.scores[name]


def decoder(entropies, cumulative, n_outputs=64):
    names, errors = tuple("abcdefghijklmnopqrstuvwxyzABCDEFG"[: len(entropies)]), np.full(len(entropies), 0.0123)
    tangents = np.zeros((n_outputs, len(entropies)))
    return Spectrum(names, np.array(entropies), errors, np.array(cumulative), 0.34567, tangents)


TOTALS = [
    "total entropy                       2.346 +- 0.012 (0.7819 per latent)",
    "manifold total correlation          0.346 (0.1152 per latent)",
    "  with random directions            0.024",
    "manifold mutual information         0.877",
]
KEPT = [
    "Kept so far is the joint entropy of the latents down to this row, which counts shared information once. It can "
    "fall: 0",
    "nats are a change by 0.24 units of the outputs, and a latent whose own change is smaller adds less than 0.",
]


def test_latents_in_the_order_of_their_entropy():
    matrix = np.array([[np.nan, 0.25, 0.5], [0.25, np.nan, 0.125], [0.5, 0.125, np.nan]])
    found = decoder([0.0, 4.0, 4.0 - math.log(2)], [4.0, 5.875])
    assert shown(printed(geometry_table(found, Measured(matrix), 4.25))) == [
        "64 outputs, 3 latents; all values in nats",
        *TOTALS,
        "largest drop                        3.307 after 2 latents",
        "",
        " latent   entropy      +-   kept so far   shares most with    nats",
        " " + "─" * 65,
        " b          4.000   0.012         4.000   a                  0.250",
        " c          3.307   0.012         5.875   a                  0.500",
        " a          0.000   0.012                 c                  0.500",
        "",
        *KEPT,
        "The first 2 latents keep 4.25 nats.",
        "A note.",
    ]


def test_a_latent_alone_has_no_partner_and_no_drop():
    assert shown(printed(geometry_table(decoder([0.5], [0.5], 1), Measured(np.array([[np.nan]])), 0.25))) == [
        "1 output, 1 latent; all values in nats",
        *(line for line in TOTALS if "random" not in line),
        "",
        " latent   entropy      +-   kept so far   shares most with   nats",
        " " + "─" * 64,
        " a          0.500   0.012         0.500",
        "",
        "The first latent keeps 0.25 nats.",
        "A note.",
    ]


@pytest.mark.parametrize(("extra", "said"), [(0, None), (1, "1 latent with less entropy is"), (2, "2 latents with")])
def test_of_many_latents_the_thirty_most_important_are_shown(extra, said):
    n = 30 + extra
    lines = shown(printed(geometry_table(decoder(-np.arange(n), [0.0]), Measured(np.zeros((n, n))))))
    assert sum(" 0.012 " in line for line in lines) - 1 == 30  # the total entropy has an error too
    assert not any("keep" in line and "nats." in line for line in lines)
    assert [line for line in lines if "not shown" in line] == [line for line in lines if said and line.startswith(said)]


def test_more_than_can_be_kept_is_said():
    lines = shown(printed(geometry_table(decoder([2.0, 1.0], [2.0, 2.5]), Measured(np.eye(2)), 3.0)))
    assert lines[-2].startswith("No bottleneck keeps 3 nats")


def test_models_by_setting_with_the_spread_over_seeds():
    pytest.importorskip("torch")
    from unweave.sweeps.trained_models import ModelRow, RunComparison

    rows = (
        ModelRow("beta 1", 0, 3.0, 12.34, 0.56, {"my_score": 0.12345}),
        ModelRow("beta 1", 1, 4.0, 13.34, 0.66, {"my_score": 0.22345}),
        ModelRow("beta 2", 0, math.nan, 1.0, 2.0, {"my_score": 0.5}, "It failed."),
    )
    found = RunComparison(rows, ("my_score",), {"my_score": {"beta 1": "a", "beta 2": "b"}})
    assert columns(runs_table(found)) == ("lrrrr", "-wwww", [])
    assert shown(printed(runs_table(found))) == [
        "",
        " model                          active   recon. (nats)   KL (nats)        my score",
        " " + "─" * 81,
        " beta 1 seed 0                     3.0            12.3         0.6            .123",
        " beta 1 seed 1                     4.0            13.3         0.7            .223",
        "   2 seeds                   3.5 ± 0.7      12.8 ± 0.7   0.6 ± 0.1   .173 ± .071 a",
        "",
        " beta 2 seed 0  It failed.           -             1.0         2.0            .500",
        "   1 seed                            -             1.0         2.0            .500",
    ]


def test_settings_ranked_by_the_first_metric():
    nan = math.nan
    scores = {
        "mcc": (
            GroupedScore("beta 2", (0.5, 0.7), 0.6, 0.1414, 0.0, 1.0, "a"),
            GroupedScore("beta 1", (0.4,), 0.4, nan, nan, nan),
        ),
        "r2": (
            GroupedScore("beta 1", (), nan, nan, nan, nan),
            GroupedScore("beta 2", (0.25, 0.75), 0.5, 0.35355, 0.0, 1.0, "b"),
        ),
    }
    assert shown(str(GroupedScores(scores))) == [
        "",
        " setting   seeds               mcc                r2",
        " " + "─" * 51,
        " beta 2        2   0.600 ± 0.141 a   0.500 ± 0.354 b",
        " beta 1        1             0.400                 -",
        "",
        "Mean ± standard deviation over seeds; settings that share a letter do not differ significantly.",
    ]


def test_tables_of_settings_are_at_most_100_wide_and_have_every_name():
    scores = {f"dci_disentanglement {k}": (GroupedScore("beta 1", (0.4,), 0.4, *[math.nan] * 3),) for k in range(40)}
    text = str(GroupedScores(scores))
    assert max(map(len, text.splitlines())) <= 100
    assert all(name in text for name in scores)


def test_runs_without_factors_and_their_agreement():
    facts = {"a": RunFacts(10, 8, 0.12345, {"informativeness": 0.5}, 0.45678), "b": RunFacts(9, 7, 1.5, {}, 0.5)}
    lines = shown(str(Unlabelled(1200, facts, (RunPair("a", "b", 0.61234, 0.12345, 0.71234, 0.5, {}),))))
    assert lines[:-2] == [
        "1,200 rows, 2 runs, no factors; total correlation in nats",
        "",
        " run   codes   active   total correlation   informativeness     UDR",
        " " + "─" * 66,
        " a        10        8               0.123             0.500   0.457",
        " b         9        7               1.500                 -   0.500",
        "",
        "",
        " runs   matched one to one   unrelated codes   linear map (R2)     UDR",
        " " + "─" * 69,
        " a, b                0.612             0.123             0.712   0.500",
        "",
    ]
    assert len(lines[-2]) <= 120 < len(f"{lines[-2]} {lines[-1]}")
    assert shown(str(Unlabelled(1, {"a": RunFacts(10, 8, 0.12345)})))[:5] == [
        "1 row, 1 run, no factors; total correlation in nats",
        "",
        " run   codes   active   total correlation",
        " " + "─" * 40,
        " a        10        8               0.123",
    ]


@pytest.mark.parametrize(("n", "between"), [(12, None), (13, 1), (15, 3)])
def test_of_many_representations_the_first_ten_and_the_last_two_are_shown(n, between):
    ranked = [Ranked(f"run {k}", 0.5 - k / 100, None, None, Level.CAUTION, "caution", False) for k in range(n)]
    ranked[0] = Ranked("run 0", 0.5, 0.41234, 0.51234, Level.TRUST, "trust", True, "", 0.01234)
    lines = printed(ranked_table(ComparedQuestion("q", "", "", "mcc", None, tuple(ranked), True)))
    assert " ".join(lines[0].split()) == "run 0 0.500 ± 0.012 0.412 to 0.512 trust best"
    kept = range(n) if between is None else [*range(10), n - 2, n - 1]
    assert [line.split()[1] for line in lines if "run" in line] == [str(k) for k in kept]
    assert [line.split() for line in lines if "between" in line] == (
        [] if between is None else [["...", str(between), "more", "between"]]
    )
    assert lines[1].split() == ["run", "1", "0.490", "caution"]


def test_metrics_by_question_with_no_number_cut():
    assert shown(printed(metric_table(fake_evaluation(), 80), 80)) == [
        "",
        " metric                      score  noise  90 % interval   verdict",
        " " + "─" * 69,
        " Own code for each factor?",
        "   mcc                       0.871  0.214  0.850 to 0.890  caution",
        "",
        " Are the factors readable?",
        "   r2                        0.934  0.000  0.920 to 0.950  trust",
        "",
        " One factor per code?",
        "   dci_disentanglement       0.702  0.118  0.660 to 0.740  trust",
        "",
        " One code per factor?",
        "   dci_completeness          0.655  0.131  0.610 to 0.690  caution",
        "   mig                       0.041  0.033  0.010 to 0.080  noise level",
        "   jemmig (lower is better)  0.512  0.930  0.480 to 0.550  trust",
    ]
    above_noise = [(*entry[:3], (*entry[3][:3], 0.005), *entry[4:]) for entry in CHOSEN]
    doubted = shown(printed(metric_table(fake_evaluation(chosen=above_noise), 80), 80))
    assert "   mig                       0.041  0.033  0.010 to 0.080  do not use" in doubted
    narrow = shown(printed(metric_table(fake_evaluation(), 79), 40))
    assert [line for line in narrow if "0.871" in line] == ["   mcc        0.871  0.214  caution"]
    quick = shown(printed(metric_table(fake_evaluation(trusted=False), 79), 79))
    assert quick[1] == " metric                      score  noise"
    assert quick[4] == "   mcc                       0.871  0.100"


@pytest.mark.parametrize(
    ("width", "asks"), [(97, "Own code for each factor?"), (98, "Is every factor in a code of its own?")]
)
def test_a_wide_table_of_metrics_asks_in_full(width, asks):
    assert shown(printed(metric_table(fake_evaluation(), width), width))[3] == f" {asks}"


@pytest.mark.parametrize(
    ("low", "high", "text"), [(0.121, 0.124, "0.12"), (0.121, 0.126, "0.12 to 0.13"), (0.5, 0.5, "0.50")]
)
def test_equal_ends_of_a_range_are_one_number(low, high, text):
    assert whole_text._range(low, high) == text


@pytest.mark.parametrize(
    ("n_factors", "sizes", "screened", "heading"),
    [
        (8, {"a": 3}, {}, "10,000 rows, 8 factors (z0 continuous, z1 continuous"),
        (9, {"a": 3}, {}, "10,000 rows, 9 factors (8 continuous, 1 ordinal), 3 codes"),
        (9, {"a": 1, "b": 1}, {}, "10,000 rows, 9 factors (8 continuous, 1 ordinal), 1 code"),
        (9, {"a": 3, "b": 7, "c": 5}, {}, "10,000 rows, 9 factors (8 continuous, 1 ordinal), 3 to 7 codes"),
        (9, {"a": 3}, {"a": 4000}, "10,000 rows, 9 factors (8 continuous, 1 ordinal), 3 of 4,000 codes"),
        (9, {"a": 3, "b": 3}, {"a": 4000}, "10,000 rows, 9 factors (8 continuous, 1 ordinal), 3 codes"),
        (9, {"a": 3, "b": 3}, {"a": 40, "b": 40}, "10,000 rows, 9 factors (8 continuous, 1 ordinal), 3 codes"),
    ],
)
def test_the_heading_counts_factors_and_codes(n_factors, sizes, screened, heading):
    kinds = ["continuous"] * (n_factors - 1) + ["ordinal"]
    data = SimpleNamespace(
        n_rows=10_000,
        n_dropped=0,
        factors=[FactorDescription(f"z{k}", kind) for k, kind in enumerate(kinds)],
        representations={name: SimpleNamespace(n_codes=size, units=()) for name, size in sizes.items()},
        screening={name: SimpleNamespace(n_codes=size, n_rows=0) for name, size in screened.items()},
    )
    assert whole_text._heading(SimpleNamespace(data=data)).startswith(heading)
    data.n_rows = 0
    assert whole_text._heading(SimpleNamespace(data=data)) == "A decoder alone, without factors and codes"


@pytest.mark.parametrize(
    ("labels", "known", "text"),
    [
        (("mcc",), ("mcc",), "mcc"),
        (("mcc", "r2"), ("mcc", "r2"), "all metrics"),
        (("mcc", "r2"), ("mcc", "r2", "mig"), "mcc and r2"),
        (tuple("abcdefg"), tuple("abcdefgh"), "a, b, c, d, e, f and 1 more"),
    ],
)
def test_a_note_names_its_metrics(labels, known, text):
    assert whole_text._whose(labels, SimpleNamespace(labels=known)) == text


def columns(table):
    """Which columns are right-aligned, which are not wrapped, and the largest widths that are stated."""
    return (
        "".join("r" if column.justify == "right" else "l" for column in table.columns),
        "".join("-" if column.no_wrap else "w" for column in table.columns),
        [column.max_width for column in table.columns if column.max_width],
    )


def test_numbers_are_aligned_and_not_wrapped():
    nothing = ComparedQuestion("q", "", "", "mcc", None, (), False)
    settings = GroupedScores({"mcc": (GroupedScore("beta 1", (0.4,), 0.4, *[math.nan] * 3),)})
    assert columns(ranked_table(nothing)) == ("llrlll", "w-----", [32])
    assert columns(metric_table(fake_evaluation(), 80)) == ("lrrll", "w----", [])
    assert columns(grouped_table(settings)) == ("lrr", "-ww", [])


def test_figures_of_trained_models_are_written(tmp_path, monkeypatch):
    """Of models with a network, the first sixteen are reconstructed, and all are traversed from the same images."""
    pytest.importorskip("torch")
    pytest.importorskip("matplotlib")
    from unweave.models import model as pictures
    from unweave.report.figures import curves as training

    asked, drawn = [], []

    def sample(*sizes):
        asked.append(sizes)
        return SimpleNamespace(images=np.arange(500.0))

    def seen(name, result):
        return lambda *given: drawn.append((name, *given)) or result

    monkeypatch.setattr(pictures, "loss_curves", seen("losses", {"kl": {}}))
    monkeypatch.setattr(pictures, "reconstructions", seen("reconstructions", {"vae": 0}))
    monkeypatch.setattr(pictures, "traversals", seen("traversals", {}))
    for name in ("loss_figure", "reconstruction_figure", "traversal_figure"):
        monkeypatch.setattr(training, name, lambda *given, name=name: name)
    monkeypatch.setattr(training, "save", lambda figure, path: (figure, path.relative_to(tmp_path).as_posix()))
    models = [SimpleNamespace(name=f"m{k}", network=None if k == 0 else k) for k in range(18)]
    found = list(draw_runs(tmp_path, models, SimpleNamespace(sample=sample)))
    assert found[:2] == [("loss_figure", "losses.png"), ("reconstruction_figure", "reconstructions.png")]
    assert found[2:] == [("traversal_figure", f"m{k}/traversals.png") for k in range(1, 18)]
    assert asked == [(500, 0)]
    (_, given), (_, chosen, images), *moved = drawn
    assert (given, chosen, len(images)) == (models, models[1:17], 12)
    assert [model for _, model, _ in moved] == models[1:]
    assert {len(rows) for *_, rows in moved} == {500}


def latex_of(*cells, answers=("mcc",)):
    named = [("mcc", "a"), ("r2", "a"), ("mcc", "b")]
    plain = {"value": 0.51234, "spread": None, "interval": None, "verdict": None}
    metrics = {"mcc": [], "r2": []}
    for (label, name), cell in zip(named, cells, strict=False):
        metrics[label].append({**plain, "representation": name, **cell})
    summary = {
        "answer": {"questions": [{"metric": label} for label in answers]},
        "metrics": [{"label": label, "cells": of_one} for label, of_one in metrics.items()],
        "data": {"representations": [{"name": "a"}, {"name": "b"}]},
    }
    return latex_rows(summary).splitlines()


def test_rows_for_a_paper_have_intervals_and_marks():
    interval = {"low": -0.25, "high": 0.75, "level": 0.9}
    assert latex_of(
        {"spread": 0.01234, "interval": interval, "verdict": {"level": "caution"}}, {}, {"value": None}
    ) == [
        "% columns: representation, mcc",
        "% in brackets: 90 % intervals over samples",
        "% dagger: use with caution on these data",
        r"a & 0.512 $\pm$ 0.012 {\scriptsize [$-$0.250, 0.750]}$^{\dagger}$ \\",
        r"b & -- \\",
    ]
    assert latex_of({"interval": interval}, {"interval": interval | {"level": 0.95}}, {}, answers=()) == [
        "% columns: representation, mcc, r2",
        "% in brackets: 90 % or 95 % intervals over samples",
        r"a & 0.512 {\scriptsize [$-$0.250, 0.750]} & 0.512 {\scriptsize [$-$0.250, 0.750]} \\",
        r"b & 0.512 & -- \\",
    ]
    assert latex_of({"verdict": {"level": "noise level"}}, {}, {"verdict": {"level": "do not use"}})[1:] == [
        "% degree sign: not significantly better than random codes; double dagger: not reliable on these data",
        r"a & 0.512$^{\circ}$ \\",
        r"b & 0.512$^{\ddagger}$ \\",
    ]
