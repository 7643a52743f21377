"""What experiments of the papers ask for, on numbers that are made up: figures to draw, models to train, claims.

Nothing is drawn and nothing is trained: a figure is the arguments with which it was asked for.
"""

import importlib
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
from papers_numbers import (
    attacked,
    by_model,
    codes,
    cores,
    correlated,
    decomposed,
    factors,
    flows,
    gaps,
    matrix,
    pairs,
    per_bin,
    per_draw,
    said,
    settings,
    shared,
    spectra,
    torus,
    two_kinds,
)

from unweave.encoding import Encoded
from unweave.estimators.mixture import MixtureSampling
from unweave_papers import trained as complete_grids
from unweave_papers import trained as small_models
from unweave_papers import trained as trained_encoders
from unweave_papers.experiment import ClaimCheck, Options
from unweave_papers.ledger import MeasuredFigure
from unweave_papers.paper000 import experiments
from unweave_papers.paper000 import flows as sample_sizes
from unweave_papers.paper000 import flows as trained_flows
from unweave_papers.paper000 import image_flows as core_flows
from unweave_papers.paper000 import image_flows as digit_flows
from unweave_papers.paper000 import image_flows as wavelet_flows
from unweave_papers.paper000 import images as vae_spectra
from unweave_papers.paper000 import pictures as torus_pictures
from unweave_papers.paper001 import experiments as drawings
from unweave_papers.paper001 import experiments as of_001
from unweave_papers.paper001 import models as measured_models
from unweave_papers.paper001 import models as seed_studies
from unweave_papers.paper002 import encoders as all_images
from unweave_papers.paper002 import encoders as attacked_encoders
from unweave_papers.paper002 import encoders as decomposed_encoders
from unweave_papers.paper002 import experiments as of_002
from unweave_papers.paper002 import experiments as repeated_trainings
from unweave_papers.paper002 import experiments as toy_table
from unweave_papers.paper003 import tables
from unweave_papers.paper004 import encoders as measured_encoders
from unweave_papers.paper004 import encoders as toy_curves
from unweave_papers.paper004 import experiments as correlations_over_seeds
from unweave_papers.paper004 import experiments as of_004
from unweave_papers.paper004 import experiments as toy_experiments
from unweave_papers.paper004.encoders import ToyCurves

FIGURES_IN = ("curves", "geometry", "point_clouds", "information_diagrams", "partial_information", "mark_table")
USUAL = Options(Path("folder"))
QUICK = Options(Path("folder"), quick=True)
STATED = Options(Path("folder"), seed=3, n_seeds=2, n_steps=7, n_rows=40)


def plain(value):
    """Ranges, iterators and slices as lists, so that a record has their content."""
    if isinstance(value, slice):
        return [value.start, value.stop]
    if isinstance(value, (range, Iterator)):
        return list(value)
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def asked(name, *given, **options):
    """A call, as data."""
    return [name, plain(given), plain(options)]


def drawn(draw, *given, options=USUAL):
    """The figures that a function asks for, by the names of their files."""
    found = {}

    def save(figure, path):
        found[path.name] = figure
        return path

    with ExitStack() as stack:
        for module in (importlib.import_module(f"unweave.report.{name}") for name in FIGURES_IN):
            names = [name for name in vars(module) if name.endswith("_figure") and not name.startswith("_")]
            for name in names:
                stack.enter_context(patch.object(module, name, partial(asked, name)))
            if hasattr(module, "save"):
                stack.enter_context(patch.object(module, "save", save))
        files = [path.name for path in draw(*given, options)]
    assert files == list(found)
    return found


def with_centres(found):
    """Flows with an image of every digit."""
    rng = np.random.default_rng(5)
    for flow in (found.gin, found.conditional):
        flow.centres = rng.uniform(-1.5, 1.0, size=(10, 16))
    return found


def one_alone(which, problem=""):
    """Flows of which one is missing, and the other may have diverged."""
    found = with_centres(flows(1))
    getattr(found, "conditional" if which == "gin" else "gin").problem = problem
    setattr(found, which, None)
    return found


def trained_flow(seed, latents=20):
    """A flow of the torus or of two moons."""
    rng = np.random.default_rng(seed)
    entropies = rng.normal(size=latents)
    spectrum = SimpleNamespace(
        entropies=entropies,
        sorted_entropies=np.sort(entropies)[::-1],
        cumulative=np.cumsum(np.sort(entropies)[::-1]),
        order=np.argsort(-entropies).tolist(),
    )
    return trained_flows.TrainedFlow(
        rng.uniform(),
        spectrum,
        rng.uniform(0, 2),
        rng.uniform(size=(latents, latents)) + seed * np.eye(latents),
        tuple(rng.normal(size=(2, 3, 4, 2))),
        torus(seed) if latents == 20 else None,
    )


def toy_curve(names, label="score"):
    """Curves over three ticks, which fall by .04, .05, .06 and so on."""
    curves = {name: [0.9, 0.5, 0.9 - (4 + k) / 100 - 1e-9] for k, name in enumerate(names)}
    return ToyCurves("beta", (0.0, 0.5, 2.0), {"": curves}, label)


def compared(module, compare, *given):
    """What is said, with claims of the ledger by their numbers."""

    def rows(paper, *numbers, folder):
        return [ClaimCheck(f"{paper}:{number}", "", str(folder), None, number, undecided=True) for number in numbers]

    with patch.object(module, "claim_rows", rows):
        return [[check.claim, check.paper, check.here, check.verdict] for check in compare(*given, USUAL)]


def with_nothing(found):
    """Spectra without those of trained models, and without those of published ones."""
    return vae_spectra.VAESpectra({}, found.published), vae_spectra.VAESpectra(found.trained, {})


def trained_as(compute, module, options):
    """The plans of flows, and how they come back."""
    with patch.object(module, "measured_flows", lambda plans, options: {plan: plan for plan in plans}):
        found = compute(options)
    if isinstance(found, wavelet_flows.TwoKinds):
        return [found.first_name, found.second_name, found.first, found.second, plain(found.scales)]
    return found


def torus_as(compute, options):
    """The world, the shape of the flow, its objectives and the steps."""
    with patch.object(
        trained_flows, "_trained", lambda world, *rest: [type(world).__name__, rest[0], list(rest[1].items()), rest[2]]
    ):
        return compute(options)


def spread_as(options):
    """What is sampled from which flow."""
    with ExitStack() as stack:
        digits = SimpleNamespace(side=4)
        for name, value in {
            "digit_images": lambda options: digits,
            "trained_flow": lambda plan, digits, path, progress: (plan, path.suffix),
            "Evidence": lambda decoder: decoder,
            "geometry": lambda decoder, sampling: SimpleNamespace(log_lengths=decoder, log_directions=sampling),
            "spread": lambda *given: list(given),
        }.items():
            stack.enter_context(patch.object(sample_sizes, name, value))
        decoders = importlib.import_module("unweave_papers.image_training")
        stack.enter_context(patch.object(decoders, "class_decoder", lambda flow: flow))
        return sample_sizes.compute_spread(options)


def vaes_as(options):
    """How VAEs of digits are trained."""
    from unweave import models
    from unweave_papers.paper000.images import DigitImages

    images = np.linspace(-2, 3, 2 * 16, dtype=np.float32).reshape(2, 1, 4, 4)
    digits = DigitImages(images, np.arange(2), images, np.arange(2), 0.25, 0.5)
    found = []
    with patch.object(models, "train", lambda *given, **options: found.append((given, options)) or []):
        vae_spectra._trained(6, digits, options)
    [(given, named)] = found
    return [given, {key: str(value) if isinstance(value, Path) else plain(value) for key, value in named.items()}]


def latents_as(options):
    """How models with several numbers of latents are trained and measured."""
    with (
        patch.object(seed_studies, "trained", lambda options, objectives, n_codes: [objectives, n_codes]),
        patch.object(
            seed_studies,
            "measured",
            lambda models, label, numbers, options, n_codes: [SimpleNamespace(seeds=(models, label, n_codes))],
        ),
    ):
        return seed_studies.compute_latents(options)


def evaluations_as(options):
    """How trained models are evaluated several times."""

    def measured(models, label, numbers, options):
        return [seed_studies.SmallSetting("a", tuple({"MIG": 10 * k + numbers.args[0]} for k in range(3)))]

    with (
        patch.object(repeated_trainings, "trained", lambda options, objectives: objectives),
        patch.object(repeated_trainings, "measured", measured),
    ):
        return repeated_trainings.compute(options)


def times_as(options):
    """CPU seconds with a clock that counts calls of metrics."""
    clock, seen = [0.0], []

    def metric(evidence):
        clock[0] += evidence.n_factors
        seen.append([evidence.n_rows, float(evidence.codes[0, 0])])

    with ExitStack() as stack:
        for name, value in {
            "TIMED": {"one": (metric,), "two": (metric, metric)},
            "time": SimpleNamespace(process_time=lambda: clock[0]),
            "TIMED_ROWS": 5,
        }.items():
            stack.enter_context(patch.object(toy_curves, name, value))
        return [toy_curves.times(options), seen]


def written(write, *given):
    """The text of the file that is written, in a folder that is made for it."""
    with tempfile.TemporaryDirectory() as folder:
        [path] = write(*given, Options(Path(folder, "new", "deep")))
        return [path.name, path.read_text(encoding="utf-8")]


def models(make):
    return next(by_model(make))


def changed(module, **values):
    """Within it, these names of a module have other values."""
    stack = ExitStack()
    for name, value in values.items():
        stack.enter_context(patch.object(module, name, value))
    return stack


def bounds(compare, *given):
    """The numbers on which claims depend, with the bounds within which they hold."""
    found, usual = [], ClaimCheck.number

    def number(claim, paper, value, **options):
        found.append([claim, paper, value, options])
        return usual(claim, paper, value, **options)

    with changed(ClaimCheck, number=number), changed(digit_flows, N_DRAWS=20):
        list(compare(*given, USUAL))
    return found


def encoded(n_rows=120):
    """Codes of three factors, with standard deviations, of which one is noise."""
    rng = np.random.default_rng(7)
    table = np.column_stack([rng.integers(0, k, n_rows) for k in (3, 4, 5)]).astype(float)
    means = np.column_stack([table[:, ::-1] @ np.diag([0.6, 0.5, 1.2]), np.zeros(n_rows)])
    means = (means - means.mean(axis=0) + 0.3 * table[:, :1]).astype(np.float32)
    stds = np.tile(np.array([0.2, 0.3, 0.4, 1.0], np.float32), (n_rows, 1))
    kinds = ("categorical", "ordinal", "ordinal")
    return Encoded({"codes": means, "codes_std": stds}, table, ("shape", "scale", "x"), kinds, np.arange(n_rows))


def measures_of_001():
    """Everything that is measured of one encoder."""
    with changed(measured_models, BINS=(3, 6), DRAWS=(20, 30, 40), ROWS_SAMPLED=100):
        return {
            measure.__name__: measure(encoded())
            for measure in (
                measured_models.modularities,
                measured_models.informativeness_per_code,
                measured_models.scores_by_bins,
                measured_models.scores_by_draws,
                measured_models.correlations,
                measured_models.shared_by_two_codes,
                measured_models.matrices,
                measured_models.sampled_and_quantised,
                measured_models.three_gaps,
            )
        }


def numbers_of_001():
    with changed(seed_studies, DRAWS=MixtureSampling(30)):
        return seed_studies.numbers(trained_encoders.evidence_of_levels(encoded()))


def numbers_of_002():
    with changed(repeated_trainings, DRAWS=20):
        return repeated_trainings.numbers(2, trained_encoders.evidence_of_levels(encoded()))


def attacked_of_002():
    """Information and codes of an encoder without an attack, and with one."""

    def of_interventions(evidence):
        return {
            "codes": evidence.codes,
            "noise": evidence.posterior and evidence.posterior.std,
            "kinds": evidence.kinds,
        }

    with changed(attacked_encoders, DRAWS=MixtureSampling(30), _of_interventions=of_interventions):
        return [attacked_encoders._scores(encoded(), encoded(), alpha) for alpha in (0.0, 2.0)]


def decomposed_of_002():
    """The decomposition of an encoder on given codes."""
    with (
        tempfile.TemporaryDirectory() as folder,
        changed(decomposed_encoders, DRAWS=MixtureSampling(20), ROWS=(100, 110, 120, 130)),
    ):
        options = Options(Path(folder), codes=Path("codes"), seed=1)
        found = decomposed_encoders._decomposed("one", encoded(), "in words", options)
        return [found, [path.name for path in Path(folder, "002").iterdir()]]


def all_images_of_002(budget):
    """Scores of all images; every score takes three seconds."""
    ticks = iter(range(0, 1000, 3))
    with (
        tempfile.TemporaryDirectory() as folder,
        changed(
            all_images,
            DRAWS=MixtureSampling(20),
            GRIDS={100: (), 110: (), 120: ()},
            EVERYTHING=120,
            RANDOM_ROWS=(105,),
            BUDGET=budget,
            codes_of_grid=lambda options, n, models: {models[0]: encoded(n)},
            rows_of_grid=lambda encoded, n: encoded.rows(slice(0, n)),
            time=SimpleNamespace(process_time=lambda: next(ticks)),
            peak_memory=lambda: 2.5,
        ),
    ):
        found = all_images.compute(Options(Path(folder)))
        return [found, said(all_images.compare(found, USUAL)), bounds(all_images.compare, found)]


def grid_as(seconds):
    """The grid that is affordable if a thousand images take so many seconds."""
    clock, calls = iter((0.0, seconds)), []
    vaes = importlib.import_module("unweave.neural.published_vaes")
    with (
        tempfile.TemporaryDirectory() as folder,
        changed(vaes, read_published=lambda name, weights: calls.append(name) or name),
        changed(
            decomposed_encoders,
            encode=lambda model, images, rows: calls.append([model, len(images), rows]),
            evidence_of_levels=lambda part: part,
            unibound=lambda part, estimator: calls.append(estimator.samples),
            time=SimpleNamespace(process_time=lambda: next(clock)),
        ),
    ):
        return [decomposed_encoders._affordable_grid(Options(Path(folder), weights=Path("weights"))), calls]


def published_as(options):
    """Which images are encoded by which published models, and into which files."""
    calls = []

    def encode(model, images, path, **options):
        calls.append([model, type(images).__name__, len(images), path.name, options])
        return encoded().save(path) if "rows" not in options else calls[-1][0]

    vaes = importlib.import_module("unweave.neural.published_vaes")
    with (
        tempfile.TemporaryDirectory() as folder,
        changed(vaes, read_published=lambda name, weights: name),
        changed(trained_encoders, encode=encode),
        changed(complete_grids, encode=encode),
    ):
        options = Options(Path(folder, "new", "deep"), weights=Path("weights"), **options.stated)
        dependences = measured_encoders.LEVELS["one pair"]
        for _ in range(2):
            trained_encoders.codes_of(options, 30, ("beta-VAE", "VAE"))
            complete_grids.codes_of_grid(options, 3240, ("VAE",))
        trained_encoders.codes_of(options, 30, ("VAE",), dependences, "pair")
    return calls


def measured_by_004():
    """Metrics with other bins and rows, and where their numbers are kept."""
    evidence, calls = encoded().evidence(), []

    def codes_of(options, n_rows, **given):
        calls.append([n_rows, given])
        return {"one": encoded(20), "two": encoded(30)}

    with (
        tempfile.TemporaryDirectory() as folder,
        changed(measured_encoders, codes_of=codes_of, METRICS={"rows": lambda evidence: evidence.n_rows}),
    ):
        levels = dict(list(measured_encoders.LEVELS.items())[:3])
        with changed(measured_encoders, LEVELS=levels, SAMPLES=(10, 25)):
            found = [
                measured_encoders.samples_against(
                    "rows", lambda evidence: 7.0, "target", Options(Path(folder), **given)
                )
                for given in ({}, STATED.stated, {"codes": Path("codes")})
            ]
        files = sorted(path.name for path in Path(folder, "004").iterdir())
        kept = Path(folder, "004", files[0]).read_text(encoding="utf-8")
    bins = [measured_encoders._with_bins(name, 4, evidence) for name in ("minimality", "sufficiency")]
    return [found, calls, files, kept, bins]


def correlations_of_004(options):
    """Rank correlations of models that are made up, and where their numbers are kept."""
    calls = []

    def model(name):
        return SimpleNamespace(name=name, encode=lambda images: np.reshape(images, (len(images), -1))[:, :50:9])

    def trained(options, objectives):
        calls.append([options.n_seeds, objectives])
        return [model(name) for name in "abc"]

    with (
        tempfile.TemporaryDirectory() as folder,
        changed(
            correlations_over_seeds,
            trained=trained,
            METRICS={"factors": lambda evidence: float(evidence.factors.sum())},
            LEVELS=dict(list(measured_encoders.LEVELS.items())[:2]),
            correlations=lambda measured: measured,
        ),
    ):
        options = Options(Path(folder), **options.stated)
        found = correlations_over_seeds.compute((lambda evidence: float(evidence.n_rows), "rows"), options)
        return [found, calls, sorted(path.name for path in Path(folder, "004").iterdir())]


def evidence_of_a_small_model():
    """Kinds of the factors of small sprites, and their codes."""
    sprites = small_models.small_sprites()
    found = small_models.evidence_of(SimpleNamespace(encode=lambda images: np.ones((len(images), 2))), sprites)
    return [found.factor_names, [str(kind) for kind in found.kinds], found.factors, found.codes.shape]


def declared(experiment):
    """What an experiment is made of."""
    functions = (experiment.compute, experiment.compare, experiment.write, experiment.draw)
    return [experiment, [plain(getattr(each, "args", ())) for each in functions]]


def null_row(bound, value, fifth):
    return tables.NullRow(bound, MeasuredFigure(value, value - 0.1, value + 0.05), fifth, value / 3)


NULLS = {
    100: null_row(0.2199, 0.3499, MeasuredFigure(0.7)),
    50: null_row(0.2901, 0.4501, None),
    20: null_row(0.47, 0.78, MeasuredFigure(0.2)),
    10: null_row(0.6905, 0.9, MeasuredFigure(0.5, 0.4, 0.6)),
}
MARKS = {
    "r2": {"P1": ("✓", ".1"), "P2": ("✗", ".5"), "P3": ("?", ""), "P4": ("✓", "")},
    "mig": dict.fromkeys(("P1", "P2", "P3", "P4"), ("✗", "")),
}


NUISANCE = ("minimality", "a", "b", "c")
TIMES = ("minimality, sufficiency", "MIG", "modularity", "DCI")
TWO_PANELS = ToyCurves("alpha", (1.0,), {"a": {"b": [1.0]}, "c": {"b": [2.0]}})
GROWING = ToyCurves("d", (2.0, 8.0), {"": {name: [k + 1, 3.0 * (k + 2)] for k, name in enumerate(TIMES)}})
REPEATED = repeated_trainings.Repeated(
    {name: np.random.default_rng(k).uniform(size=(3, 4)) for k, name in enumerate("ab")}
)
SPREAD = sample_sizes.SampleSpread((4, 16), {"manifold entropy": [0.2, 0.1], "total entropy": [0.5, 0.3]})
BY_ROWS = {
    name: SimpleNamespace(scores={"MIG": 0.5}, by_grid={3: 0.1, 4: k}, by_rows={1: 0.5}) for k, name in enumerate("ab")
}
TABLE = {("none", 2): (1.4, 0.1, 0.3, 2.0), ("redundancy", 3): (0.9, 0.5, 1.5, 2.0), ("synergy", 5): (0.2, 0.1, 0.4, 2)}
INFORMATION = {key: toy_table.ToyInformation(*values) for key, values in TABLE.items()}
CURVES = {
    key: [toy_table.ToyInformation(*(x + k / 9 for x in values)) for k in range(8)] for key, values in TABLE.items()
}
IMAGES = SimpleNamespace(
    by_grid={100: SimpleNamespace(value=0.5), 300: SimpleNamespace(value=0.7)},
    by_rows={200: SimpleNamespace(value=0.1)},
)

CASES = {
    "000, figures of digits": lambda: [
        drawn(draw, found)
        for draw in (
            digit_flows.draw_gin,
            digit_flows.draw_spectra,
            digit_flows.draw_tangents,
            digit_flows.draw_traversals,
        )
        for found in (
            with_centres(flows(0)),
            one_alone("gin"),
            one_alone("conditional"),
            one_alone("gin", "It diverged."),
        )
    ],
    "000, figures of spectra": lambda: [
        [drawn(draw, "figE7", found), *(drawn(draw, "figE7", part) for part in with_nothing(found))]
        for draw in (vae_spectra.draw, vae_spectra.draw_totals)
        for found in [spectra(1)]
    ],
    "000, figures of two kinds": lambda: [
        drawn(draw, two_kinds(2)) for draw in (wavelet_flows.draw_wavelet, wavelet_flows.draw_convolutional)
    ],
    "000, figures of cores": lambda: [
        drawn(draw, found) for draw in (core_flows.draw_core, core_flows.draw_information) for found in (cores(2), [])
    ],
    "000, figures of samples": lambda: [
        drawn(sample_sizes.draw_spread, SPREAD),
        drawn(sample_sizes.draw_pca, sample_sizes.compute_pca(USUAL)),
        said(sample_sizes.compare_spread(SPREAD, USUAL)),
    ],
    "000, figures of the torus": lambda: [
        drawn(torus_pictures.draw_data, None),
        drawn(torus_pictures.draw_generated, torus(1)),
        drawn(torus_pictures.draw_grids, torus(1)),
        drawn(experiments.draw_torus, {"a": trained_flow(0), "b": trained_flow(1)}),
        drawn(experiments.draw_two_moons, {name: trained_flow(k, 2) for k, name in enumerate("ABC")}),
    ],
    "000, flows of the torus": lambda: [
        said(experiments.compare_torus({"a": trained_flow(k), "b": trained_flow(j)}, USUAL))
        for k, j in ((0, 1), (1, 0))
    ],
    "000, flows of two moons": lambda: said(
        experiments.compare_two_moons({name: trained_flow(k, 2) for k, name in enumerate("ABC")}, USUAL)
    ),
    "000, flows to train": lambda: [
        trained_as(compute, module, options)
        for compute, module in (
            (wavelet_flows.compute_wavelet, wavelet_flows),
            (wavelet_flows.compute_convolutional, wavelet_flows),
            (core_flows.compute_core, core_flows),
            (digit_flows.compute_gin, digit_flows),
            (digit_flows.compute_both, digit_flows),
        )
        for options in (USUAL, QUICK, STATED)
    ],
    "000, known worlds to train": lambda: [
        torus_as(compute, options)
        for compute in (trained_flows.two_moons, trained_flows.torus)
        for options in (USUAL, STATED)
    ],
    "000, latents to sample": lambda: [spread_as(options) for options in (USUAL, QUICK, STATED)],
    "000, VAEs to train": lambda: [vaes_as(options) for options in (USUAL, QUICK, STATED)],
    "001, figures": lambda: [
        drawn(partial(draw, "fig14"), models(make))
        for draw, make in (
            (drawings.draw_rmig, factors),
            (drawings.draw_jemmig, factors),
            (drawings.draw_bars, factors),
            (drawings.draw_sorted, codes),
            (drawings.draw_bins, per_bin),
            (drawings.draw_draws, per_draw),
            (drawings.draw_matrices, matrix),
            (drawings.draw_shared, shared),
            (drawings.draw_estimates, pairs),
            (drawings.draw_gaps, gaps),
        )
    ],
    "001, sorted codes": lambda: [
        drawn(partial(drawings.draw_sorted, name), found)
        for name in ("fig9", "fig14")
        for found in ({"VAE": [0.5, 0.4], "beta-VAE": [0.7]}, {"VAE": [0.5, 0.4]})
    ],
    "001, figures over seeds": lambda: [
        drawn(partial(seed_studies.draw_seeds, "fig2", ("I(x, z)", "WSEPIN")), settings(0)),
        drawn(
            partial(seed_studies.draw_seeds, "fig5", ("RMIG",)),
            [seed_studies.SmallSetting("factor_vae-gamma=10-critic_hidden=64", ({"RMIG": 0.5},))],
        ),
    ],
    "001, latents to train": lambda: [latents_as(options) for options in (USUAL, STATED)],
    "002, figures of the toy model": lambda: [
        drawn(toy_table.draw_table, INFORMATION),
        drawn(toy_table.draw_curves, CURVES),
        *(drawn(partial(toy_table.draw_systems, name), INFORMATION) for name in toy_table.DIAGRAMS),
    ],
    "002, the toy model": lambda: [
        compared(toy_table, toy_table.compare_table, INFORMATION),
        compared(toy_table, toy_table.compare_curves, CURVES),
        compared(toy_table, toy_table.compare_systems, INFORMATION),
        written(partial(toy_table.write_scores, "tab1"), INFORMATION),
        written(partial(toy_table.write_scores, "sec5.1"), CURVES),
    ],
    "002, strengths of attacks": lambda: [
        [list(found), [each.scores for informations in found.values() for each in informations]]
        for found in [toy_table.compute_curves(USUAL)]
    ],
    "002, figures": lambda: [
        drawn(of_002.draw_scores, decomposed(0)),
        drawn(of_002.draw_scores, BY_ROWS),
        drawn(of_002.draw_parts, decomposed(0)),
        drawn(of_002.draw_attacks, attacked(0)),
        drawn(repeated_trainings.draw, REPEATED),
        drawn(all_images.draw, IMAGES),
    ],
    "002, evaluations": lambda: [evaluations_as(options) for options in (USUAL, STATED)],
    "004, figures": lambda: [
        *(
            drawn(partial(toy_experiments.draw_toys, name, "a title"), found)
            for name in ("fig3", "fig9")
            for found in (toy_curve(NUISANCE), toy_curve(TIMES, "seconds"))
        ),
        drawn(partial(toy_experiments.draw_toys, "fig2", ""), TWO_PANELS),
        drawn(partial(of_004.draw_comparison, "fig5", "accuracy"), correlated(0)),
    ],
    "004, toys": lambda: [
        compared(toy_experiments, toy_experiments.compare_nuisance, toy_curve(NUISANCE)),
        compared(toy_experiments, toy_experiments.compare_nuisance, toy_curve(NUISANCE[:2])),
        compared(toy_experiments, toy_experiments.compare_times, GROWING),
        *(
            compared(toy_experiments, each.compare, toy_curve(TIMES))
            for each in toy_experiments.TOYS
            if each.name not in ("fig3", "fig4")
        ),
        written(partial(toy_experiments.write_toys, "fig2"), toy_curve(NUISANCE)),
        written(partial(of_004.write_comparison, "fig5"), correlated(0)),
    ],
    "000, bounds of numbers": lambda: [
        *(bounds(compare, flows(0)) for compare in (digit_flows.compare_spectra, digit_flows.compare_traversals)),
        bounds(experiments.compare_torus, {"a": trained_flow(0), "b": trained_flow(1)}),
        bounds(experiments.compare_two_moons, {name: trained_flow(k, 2) for k, name in enumerate("ABC")}),
        bounds(sample_sizes.compare_spread, SPREAD),
        bounds(sample_sizes.compare_pca, sample_sizes.compute_pca(USUAL)),
        bounds(torus_pictures.compare_grids, torus(1)),
        bounds(wavelet_flows.compare_convolutional, two_kinds(0)),
    ],
    "001, bounds of numbers": lambda: [bounds(of_001.compare_bins, models(per_bin))],
    "004, bounds of numbers": lambda: [
        bounds(compare, correlated(0))
        for compare in (of_004.compare_accuracy, of_004.compare_robustness, partial(of_004.compare_settings, 130))
    ],
    "000, diverged flows": lambda: [
        [[check.claim, check.here, check.ledger, check.verdict] for check in compare(found, USUAL)]
        for compare, found in (
            (digit_flows.compare_gin, SimpleNamespace(gin=SimpleNamespace(problem="It diverged."))),
            (
                digit_flows.compare_spectra,
                SimpleNamespace(gin=SimpleNamespace(problem="It diverged."), conditional=None),
            ),
            (digit_flows.compare_tangents, one_alone("gin", "It diverged.")),
            (digit_flows.compare_traversals, SimpleNamespace(conditional=SimpleNamespace(problem="It diverged."))),
            (wavelet_flows.compare_wavelet, wavelet_flows.TwoKinds("one", "other", (), (), ())),
        )
    ],
    "001, measures of an encoder": measures_of_001,
    "001, numbers of a model": numbers_of_001,
    "002, numbers of a model": numbers_of_002,
    "002, attacked scores": attacked_of_002,
    "002, decomposed scores": decomposed_of_002,
    "002, all images": lambda: [all_images_of_002(budget) for budget in (1e-9, 6.3, 6.2, 9.6)],
    "002, affordable grids": lambda: [grid_as(seconds) for seconds in (1e-9, 0.2, 0.21, 0.8, 0.82, 1e9)],
    "published encoders": lambda: [published_as(options) for options in (USUAL, Options(Path(), seed=3))],
    "003, tables": lambda: [
        compared(tables, tables.compare_nulls, NULLS),
        compared(tables, tables.compare_marks, MARKS),
        drawn(tables.draw_nulls, NULLS),
        drawn(tables.draw_marks, MARKS),
        written(tables.write_nulls, NULLS),
    ],
    "004, metrics of encoders": measured_by_004,
    "004, correlations over seeds": lambda: [correlations_of_004(options) for options in (USUAL, STATED)],
    "declarations": lambda: [
        declared(seed_studies._experiment("fig2", "a title", compared, drawn, ("RMIG",))),
        declared(correlations_over_seeds._seed_experiment("fig5", "a title", (compared, "accuracy"), drawn)),
        declared(toy_experiments._toy_experiment("fig7", "a title", compared, (130, 136))),
        declared(toy_experiments._toy_experiment("fig7", "a title", compared, drawn, "hours")),
        {name: metric.keywords for name, metric in toy_experiments._bins(compared).items()},
    ],
    "evidence of a small model": evidence_of_a_small_model,
    "004, times": lambda: [times_as(options) for options in (USUAL, STATED)],
}
