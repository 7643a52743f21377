"""Odd inputs for metrics, drawn from a seed: sizes, types, values, names, kinds, groups, posteriors and options."""

import datetime
import decimal
import inspect
import json
import typing

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse

import unweave
from unweave import Posterior, estimators, trust
from unweave.estimators import Histogram, MixtureSampling
from unweave.evaluation.concepts import concept_report
from unweave.metrics import CATALOGUE, concepts
from unweave.synthetic import attacks, encoders, known_decoders, theory, toys, worlds

SIZES = (0, 1, 2, 3, 7, 19, 20, 39, 40, 41, 60, 99, 100, 101, 150, 300)
# seconds rather than milliseconds a call: tried less often, so that 20,000 inputs take minutes
COSTLY = {"t_mex", "factors_invariance", "nuisances_invariance", "identification", "dci_explicitness", "dci_size"} | {
    name for name, metric in CATALOGUE.items() if "sampler" in metric.card.needs or "densities" in metric.card.cost
}
COSTLY |= {"beta_vae_score", "factor_vae_score", "relevance_factor_vae_score", "explicitness", "infomec_explicitness"}
NAMES = (
    *("", " ", "size", "size", "größe", "尺寸", "a\nb", "a\tb", "\x1b[31mred\x1b[0m", "x" * 10_000, "\x00", "nan"),
    *("<script>alert(1)</script>", "**bold** [link](http://x)", "$\\alpha_{1}$ & % #", "a,b;c", "0", "None", "\u202e"),
)


def draw(seed):
    """A metric and the arguments of one call, with a word for each choice."""
    rng = np.random.default_rng([1721, seed])
    n_rows = int(rng.choice(SIZES)) if rng.random() < 0.3 else int(rng.integers(100, 301))
    needs_posterior = rng.random() < 0.2
    fitting = [
        name
        for name, metric in CATALOGUE.items()
        if not {"decoder", "sampler", "reference"} & set(metric.card.needs)
        and ("posterior" in metric.card.needs) <= needs_posterior
        and (name not in COSTLY or rng.random() < 0.04)
    ]
    name = str(rng.choice(fitting))
    n_factors, n_codes = (0, 1)[int(rng.random() < 0.95)] * rng.integers(1, 5, size=2)
    factors, factor_words = _table(rng, n_rows, n_factors, "factor")
    n_code_rows = n_rows if rng.random() < 0.97 else int(rng.choice(SIZES))
    if needs_posterior:
        codes, code_words = _posterior(rng, n_code_rows, n_codes)
    else:
        codes, code_words = _table(rng, n_code_rows, n_codes, "code")
    options, option_words = _options(rng, name, n_rows, n_factors, n_codes)
    return name, factors, codes, options, f"{name}({factor_words}; {code_words}; {option_words}) n={n_rows}"


def _values(rng, n_rows, n_columns):
    """Numbers, most often plain ones."""
    plain = rng.normal(size=(n_rows, n_columns))
    common = ["plain"] * 12 + ["classes"] * 6 + ["ties"] * 2 + ["constant"] * 2
    kind = str(rng.choice([*common, "nan", "inf", "huge", "tiny", "heavy"]))
    if kind == "classes":
        return rng.integers(0, int(rng.choice([2, 3, 10, 60])), size=plain.shape).astype(float), kind
    if kind == "ties":
        return np.round(plain), kind
    if kind in ("constant", "nan", "inf"):
        fill = {"constant": 3.0, "nan": np.nan, "inf": np.inf}[kind]
        whole = rng.random() < 0.4
        odd = plain[:, : max(1, n_columns // 2)]
        odd[...] = fill if whole else np.where(rng.random(odd.shape) < 0.3, fill, odd)
        return plain, kind
    scale = {"huge": 1e307, "tiny": 1e-310, "heavy": 1.0, "plain": 1.0}[kind]
    return plain * scale if kind != "heavy" else np.sinh(5 * plain), kind


def _table(rng, n_rows, n_columns, role):
    values, words = _values(rng, n_rows, n_columns)
    holder = str(rng.choice(list(HOLDERS))) if rng.random() < 0.4 else "array"
    try:
        with np.errstate(all="ignore"):
            return HOLDERS[holder](values, rng), f"{role}s {words} {n_columns} as {holder}"
    except (ValueError, TypeError, OverflowError, ArithmeticError):  # a type that cannot hold these values
        return values, f"{role}s {words} {n_columns}"


def _names(rng, n):
    return [str(rng.choice(NAMES)) if rng.random() < 0.5 else f"c{i}" for i in range(n)]


def _cast(kind):
    return lambda values, rng: np.nan_to_num(values, nan=0, posinf=9, neginf=-9).astype(kind)


def _object(values, rng):
    table = values.astype(object)
    table[rng.random(table.shape) < 0.1] = rng.choice([None, "word", 1 + 2j, b"bytes"])
    return table


def _decimals(values, rng):
    return [[decimal.Decimal(repr(float(number))) for number in row] for row in values]


def _masked(values, rng):
    return np.ma.masked_array(values, mask=rng.random(values.shape) < 0.1)


def _nullable(values, rng):
    columns = pd.DataFrame(values).round(0)
    return columns.astype("Int64").mask(rng.random(values.shape) < 0.1)


def _categorical(values, rng):
    ordered = bool(rng.random() < 0.5)
    return pd.DataFrame(
        {f"c{i}": pd.Categorical(np.round(column), ordered=ordered) for i, column in enumerate(values.T)}
    )


def _frame(values, rng):
    return pd.DataFrame(values, columns=_names(rng, values.shape[1]))


def _index(values, rng):
    return pd.DataFrame(values, index=rng.permutation(len(values)))


def _columns(values, rng):
    return dict(zip(_names(rng, values.shape[1]), values.T, strict=True))


def _polars(values, rng):
    return pl.DataFrame({f"c{i}": column for i, column in enumerate(values.T)})


def _words(values, rng):
    return np.array([f"w{number:.0f}" for number in values.ravel()]).reshape(values.shape)


def _dates(values, rng):
    start = np.datetime64(datetime.datetime(2020, 1, 1), "s")
    return start + np.nan_to_num(values, nan=0, posinf=9, neginf=-9).astype("timedelta64[s]")


def _ragged(values, rng):
    rows = [list(row) for row in values]
    return [*rows[:-1], rows[-1][:-1]] if len(rows) > 1 else rows


def _strided(values, rng):
    return np.repeat(values, 2, axis=0)[::2, ::-1]


def _frozen(values, rng):
    values.flags.writeable = False
    return values


def _three(values, rng):
    return values[:, :, None]


def _wrong(values, rng):
    return [3, "text", None, object(), {}, [], {"a": 1}, b"bytes", 1j, len, iter([1])][int(rng.integers(0, 11))]


HOLDERS = {
    **{"array": lambda values, rng: values, "list": lambda values, rng: values.tolist(), "frame": _frame},
    **{kind: _cast(kind) for kind in ("i1", "u2", "i8", "f2", "f4", ">f8", "c16", "bool", "S3", "f8")},
    **{"object": _object, "decimal": _decimals, "masked": _masked, "nullable": _nullable, "categorical": _categorical},
    **{"index": _index, "columns": _columns, "polars": _polars, "words": _words, "dates": _dates, "ragged": _ragged},
    **{"strided": _strided, "frozen": _frozen, "three axes": _three, "wrong": _wrong},
    "sparse": lambda values, rng: scipy.sparse.csr_matrix(np.nan_to_num(values, posinf=9, neginf=-9)),
    "column": lambda values, rng: values.ravel()[: len(values)],
    "fortran": lambda values, rng: np.asfortranarray(values),
}


class Refused:
    """A posterior that was refused when it was made: the error is raised where the call is judged."""

    def __init__(self, *arguments, **options):
        self.arguments, self.options = arguments, options

    def made(self):
        return Posterior(*self.arguments, **self.options)


def _posterior(rng, n_rows, n_codes):
    mean, words = _values(rng, n_rows, n_codes)
    std = np.exp(rng.normal(size=mean.shape) - float(rng.choice([0, 2, 6])))
    kind = str(rng.choice([*["plain"] * 12, "equal", "equal", "zero", "negative", "nan", "huge", "sharp", "shape"]))
    std = {
        "equal": np.full_like(std, 0.1),
        "zero": np.zeros_like(std),
        "negative": -std,
        "nan": np.where(rng.random(std.shape) < 0.1, np.nan, std),
        "huge": std * 1e300,
        "sharp": std * 1e-12,
        "shape": std[:, :-1],
    }.get(kind, std)
    tables = {"shape": rng.dirichlet(np.ones(3), size=n_rows)} if rng.random() < 0.15 else None
    return Refused(
        mean, std, categories=tables
    ), f"posterior {words} {n_codes} std {kind}{' categories' * bool(tables)}"


def _options(rng, name, n_rows, n_factors, n_codes):
    options = {}
    if rng.random() < 0.1:
        choices = ["continuous", "ordinal", "categorical", "circular", "colour", ["ordinal"], {"x": "ordinal"}, 3]
        options["kinds"] = choices[int(rng.integers(0, len(choices)))]
    if rng.random() < 0.5:
        options["missing"] = str(rng.choice(["drop"] * 8 + ["refuse", "fill"]))
    if rng.random() < 0.1:
        groups = [np.zeros(n_rows), np.arange(n_rows), np.arange(n_rows) // 7, np.full(n_rows, np.nan), [1, 2], "ab"]
        options["row_groups"] = groups[int(rng.integers(0, len(groups)))]
    if rng.random() < 0.06:
        groups = [{"g": [0, 1]}, {"g": []}, {"g": ["code 0"]}, {"g": [99]}, {"a": [0], "b": [0]}, 3, {}]
        options["code_groups"] = groups[int(rng.integers(0, len(groups)))]
    if rng.random() < 0.1:
        options["factor_names"] = _names(rng, n_factors if rng.random() < 0.8 else n_factors + 1)
    if rng.random() < 0.1:
        options["code_names"] = _names(rng, n_codes)
    if rng.random() < 0.1:
        options["nuisances"] = _table(rng, n_rows, 1, "nuisance")[0]
    known = list(CATALOGUE[name].options)
    if known and rng.random() < 0.1:
        odd = [-1, 0, 1, 2, 50, 0.5, np.nan, "foo", None, True, Histogram(3), MixtureSampling(50), [1], object()]
        options[str(rng.choice(known))] = odd[int(rng.integers(0, len(odd)))]
    if "estimator" in known and "estimator" not in options and name in COSTLY and rng.random() < 0.7:
        options["estimator"] = MixtureSampling(int(rng.choice([1, 50, 200])))
    return options, ", ".join(options)


ODD_NUMBERS = (-1, 0, 1, 2, 3, 7, 2.5, np.nan, np.inf, True, None, "two", 10**30)


def draw_function(seed):
    """A public function beside the metrics, as one without arguments, and words for it."""
    rng = np.random.default_rng([2117, seed])
    shares = (0.25, 0.25, 0.2, 0.2, 0.1)
    return (_concepts, _synthetic, _estimator, _whole, _geometry)[int(rng.choice(5, p=shares))](rng)


def _odd(rng, usual):
    """A usual value most often, otherwise an odd one, but no number that fills the memory."""
    return ODD_NUMBERS[int(rng.integers(0, len(ODD_NUMBERS) - 1))] if rng.random() < 0.1 else usual


def _odd_fields(rng, kind):
    """Arguments for some of the parameters of a function or class, by their annotations and defaults."""
    given, types = {}, typing.get_type_hints(kind.__init__ if isinstance(kind, type) else kind)
    for name, parameter in inspect.signature(kind).parameters.items():
        needed = parameter.default is inspect.Parameter.empty
        if not needed and rng.random() < 0.6:
            continue
        kinds = str(types[name]).removeprefix("<class '")
        if "Encoder" in kinds:
            usual = [encoders.Elementwise(), encoders.Noise(2), encoders.Mixed()][int(rng.integers(0, 3))]
        elif "World" in kinds:
            usual = worlds.Independent(3)
        elif "tuple[tuple" in kinds or "ndarray" in kinds:
            table = _values(rng, *rng.integers(1, 5, size=2))[0]
            usual = tuple(map(tuple, (table @ table.T if rng.random() < 0.5 else table).tolist()))
            usual = np.array(usual) if "ndarray" in kinds else usual
        elif kinds.startswith("tuple"):
            usual = tuple(_odd(rng, int(rng.integers(0, 4))) for _ in range(int(rng.integers(0, 4))))
        elif kinds.startswith("int"):
            usual = int(rng.integers(0, 7))
        elif "float" in kinds:
            usual = float(np.round(rng.normal(), 1) if rng.random() < 0.5 else rng.random())
        elif "bool" in kinds:
            usual = bool(rng.random() < 0.5)
        else:
            usual = str(rng.choice(["gaussian", "uniform", "discrete", "linear", "cube", "equal_width", "odd", ""]))
        given[name] = _odd(rng, usual)
    return given


def _synthetic(rng):
    """A world, a toy, an encoder of a world's factors, a closed form or a known decoder, with odd arguments."""
    kind = SYNTHETIC[int(rng.integers(0, len(SYNTHETIC)))]
    given = _odd_fields(rng, kind)
    n_rows, seed, d = _odd(rng, int(rng.integers(1, 50))), _odd(rng, 0), int(rng.integers(1, 6))
    factors = worlds.Independent(d).sample(50)  # encoders are given what worlds sample

    def call():
        made = kind(**given)
        if hasattr(made, "sample"):
            made.sample(n_rows, seed)
        if hasattr(made, "encode") and not hasattr(made, "decode"):
            made.encode(factors, seed)
            made.purity(d)
        if hasattr(made, "quantile"):
            made.quantile(0.5)
        if callable(getattr(made, "attack", None)):
            made.attack(Posterior(factors, np.ones_like(factors)))

    return call, f"{kind.__name__}({given}) {n_rows} {seed}"


def _estimator(rng):
    """An estimator with odd fields, in one of the metrics that take it."""
    kind, option, names = ESTIMATORS[int(rng.integers(0, len(ESTIMATORS)))]
    name = str(rng.choice(names))
    given = _odd_fields(rng, kind)
    factors, words = _values(rng, 60, 2)
    codes, more = _values(rng, 60, 3)

    def call():
        held = Posterior(codes, np.full_like(codes, 0.3)) if "posterior" in CATALOGUE[name].card.needs else codes
        return CATALOGUE[name](factors, held, missing="drop", **{option: kind(**given)})

    return call, f"{name}({option}={kind.__name__}({given}); {words}; {more})"


def _whole(rng):
    """The functions of `unweave` itself, with the pages and texts of what they return."""
    name = str(rng.choice(["evaluate", "compare", "diagnose", "noise_floor", "similarity", "unlabelled", "interval"]))
    n_rows = int(rng.choice(SIZES)) if rng.random() < 0.3 else int(rng.integers(60, 150))
    factors, words = _table(rng, n_rows, int(rng.integers(1, 4)), "factor")
    codes, more = _table(rng, n_rows, int(rng.integers(1, 4)), "code")
    metrics = [str(metric) for metric in rng.choice(CHEAP, size=2)]
    options, option_words = _options(rng, "mcc", n_rows, 2, 2)
    odd, level = _odd(rng, 0), _odd(rng, 0.9)
    common = {"metrics": metrics, "quick": True, "budget": 1.0, "progress": False}

    def call():
        if name == "evaluate":
            return _shown(unweave.evaluate(factors, codes, seed=odd, level=level, **common, **options))
        if name == "compare":
            return _shown(unweave.compare(factors, {"a": codes, "b": factors}, seed=odd, level=level, **common))
        if name == "similarity":
            return str(unweave.similarity(factors, codes, level=level, rng=odd)).strip()
        if name == "unlabelled":
            return str(unweave.unlabelled({"a": codes, "b": factors}, rng=odd))
        evidence = unweave.Evidence(factors, codes, **options)
        if name == "diagnose":
            found = unweave.diagnose(evidence, seed=odd)
            return str(found), round_trip(found)
        if name == "noise_floor":
            return unweave.noise_floor(CATALOGUE[metrics[0]], evidence, n_draws=odd or 5, seed=0)
        return trust.interval(CATALOGUE[metrics[0]], evidence, level=level, seed=odd)

    return call, f"{name}({words}; {more}; {option_words}; {odd}; {level}; {metrics}) n={n_rows}"


def _shown(evaluation):
    evaluation.to_markdown()
    evaluation.to_html()
    return str(evaluation), round_trip(evaluation), [round_trip(row.score) for row in evaluation.rows if row.score]


def round_trip(record):
    """Whether a record that is written, read and written again gives the same text."""
    if hasattr(record, "to_json"):
        assert type(record).from_json(record.to_json()).to_json() == record.to_json()
    else:
        text = json.dumps(record.to_dict())
        assert json.dumps(type(record).from_dict(json.loads(text)).to_dict()) == text


def _geometry(rng):
    """Metrics of decoders and samplers, and the spectrum, for decoders that may fail."""
    d, k = (int(size) for size in rng.integers(1, 4, size=2))
    matrix, words = _values(rng, k, d)
    shape = str(rng.choice(["linear", "linear", "tanh", "nan", "scalar", "text", "raises", "object"]))
    decoders = {
        "linear": lambda z: z @ matrix.T,
        "tanh": lambda z: np.tanh(z @ matrix.T),
        "nan": lambda z: np.full((len(z), k), np.nan),
        "scalar": lambda z: 1.0,
        "text": lambda z: "text",
        "raises": lambda z: z[:, 99],
        "object": object(),
    }
    given = known_decoders.LinearDecoder(matrix) if rng.random() < 0.8 else decoders[shape]
    latents, more = _values(rng, 60, d)
    needing = [name for name, metric in CATALOGUE.items() if "decoder" in metric.card.needs]
    name = str(rng.choice([*needing, "spectrum", "Jacobians"]))
    odd = _odd(rng, 50)

    def call():
        if name == "spectrum":
            return str(unweave.spectrum(given, n_samples=odd))
        if name == "Jacobians":
            values, _ = _values(rng, 50, k * d)
            jacobians = unweave.Jacobians(values.reshape(50, k, d) if rng.random() < 0.8 else values)
            return CATALOGUE["manifold_entropy"](None, latents, decoder=jacobians)
        return CATALOGUE[name](None, latents, decoder=given)

    return call, f"{name}({shape} {type(given).__name__} {words} {k}x{d}; {more}; {odd})"


def _concepts(rng):
    odd = ODD_NUMBERS[int(rng.integers(0, len(ODD_NUMBERS)))] if rng.random() < 0.3 else None
    name = str(rng.choice(list(CONCEPT_FUNCTIONS)))
    n_rows = int(rng.choice(SIZES))
    given, concept_words = _table(rng, n_rows, int(rng.integers(1, 4)), "concept")
    if rng.random() < 0.6:
        given = rng.integers(0, int(rng.choice([2, 2, 2, 2, 2, 3, 5])), size=(n_rows, 2))
        concept_words = "classes"
    codes, code_words = _table(rng, n_rows, int(rng.integers(1, 5)), "code")
    function = CONCEPT_FUNCTIONS[name]
    return lambda: function(given, codes, odd), f"{name}({concept_words}; {code_words}; {odd}) n={n_rows}"


SYNTHETIC = (
    *(worlds.Independent, worlds.Correlated, worlds.Confounded, worlds.Causal, worlds.Circuit, worlds.Levelled),
    *(worlds.OneFactorConstraint, worlds.TwoFactorConstraint, worlds.WithCovariance, worlds.Reordered),
    *(toys.DependentClasses, toys.ClassesWithNuisance, known_decoders.LinearDecoder, known_decoders.Torus),
    *(known_decoders.TwoMoons, attacks.Redundancy, attacks.Synergy),
    *(getattr(encoders, name) for name in encoders.__all__ if name not in ("Encoder", "mixing_share")),
    *(getattr(theory, name) for name in theory.__all__ if name != "Attack"),
)
CHEAP = ("mcc", "r2", "sap", "mig", "modularity", "minimality", "sufficiency", "dci_size", "irs")
ESTIMATORS = (
    (estimators.Histogram, "estimator", ("mig", "dcimig", "minimality", "modularity")),
    (estimators.NearestNeighbour, "estimator", ("mig", "infomec_modularity")),
    (estimators.QuantisedPosterior, "estimator", ("rmig", "jemmig", "informativeness")),
    (estimators.MixtureSampling, "estimator", ("informativeness",)),
    (estimators.RandomDependence, "correlation", ("mcc",)),
    *((kind, "probe", ("dci_informativeness",)) for kind in (estimators.GradientBoosting, estimators.RandomForest)),
    *((kind, "probe", ("dci_informativeness", "r2")) for kind in (estimators.BoostedTrees, estimators.Lasso)),
    (estimators.Logistic, "probe", ("explicitness",)),
    *((kind, "classifier", ("sap",)) for kind in (estimators.LinearSvm, estimators.Neighbourhood)),
    (estimators.LinearThenTrees, "ladder", ("dci_explicitness",)),
    (estimators.UsableInformation, "joint", ("explicitness_ratio",)),
    (estimators.NonlinearCovariance, "test", ("t_mex",)),
)
CONCEPT_FUNCTIONS = {
    "single_codes": lambda z, c, odd: concepts.single_codes(z, c),
    "k_sparse_probing": lambda z, c, odd: concepts.k_sparse_probing(z, c, k=(1, odd) if odd is not None else (2,)),
    "split_concepts": lambda z, c, odd: concepts.split_concepts(z, c, fewest=odd if isinstance(odd, int) else 5),
    "screened_codes": lambda z, c, odd: concepts.screened_codes(z, c, rate=odd if odd is not None else 0.1),
    "code_usage": lambda z, c, odd: concepts.code_usage(c),
    "dictionary_matching": lambda z, c, odd: concepts.dictionary_matching(z, c),
    "concept_report": lambda z, c, odd: concept_report(z, c, budget=0.3),
}
