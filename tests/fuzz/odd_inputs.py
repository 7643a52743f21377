"""Odd inputs for metrics, drawn from a seed: sizes, types, values, names, kinds, groups, posteriors and options."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse

from unweave import Posterior
from unweave.estimators import Histogram, MixtureSampling
from unweave.metrics import CATALOGUE, concepts
from unweave.synthetic import toys, worlds

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
    """A public function beside the metrics, as one without arguments, and words for it: concepts and worlds."""
    rng = np.random.default_rng([2117, seed])
    odd = [ODD_NUMBERS[int(rng.integers(0, len(ODD_NUMBERS)))] for _ in range(3)]
    if rng.random() < 0.3:
        kind = WORLDS[int(rng.integers(0, len(WORLDS)))]
        n_rows = odd[0] if rng.random() < 0.5 and odd[0] != 10**30 else int(rng.integers(1, 50))
        options = {"n_factors": odd[1]} if odd[1] != 10**30 and "n_factors" in kind.__dataclass_fields__ else {}
        seed_given = odd[2] if rng.random() < 0.3 else 0
        return lambda: kind(**options).sample(n_rows, seed_given), f"{kind.__name__}({options}) {n_rows} {seed_given}"
    name = str(rng.choice(list(CONCEPT_FUNCTIONS)))
    n_rows = int(rng.choice(SIZES))
    given, concept_words = _table(rng, n_rows, int(rng.integers(1, 4)), "concept")
    if rng.random() < 0.6:
        given = rng.integers(0, int(rng.choice([2, 2, 2, 3, 5])), size=(n_rows, 2))
        concept_words = "classes"
    codes, code_words = _table(rng, n_rows, int(rng.integers(1, 5)), "code")
    function = CONCEPT_FUNCTIONS[name]
    return lambda: function(given, codes, odd[0]), f"{name}({concept_words}; {code_words}; {odd[0]}) n={n_rows}"


WORLDS = (
    *(worlds.Independent, worlds.Correlated, worlds.Confounded, worlds.Causal, worlds.Circuit, worlds.Levelled),
    *(worlds.OneFactorConstraint, worlds.TwoFactorConstraint, toys.DependentClasses, toys.ClassesWithNuisance),
)
CONCEPT_FUNCTIONS = {
    "single_codes": lambda z, c, odd: concepts.single_codes(z, c),
    "k_sparse_probing": lambda z, c, odd: concepts.k_sparse_probing(z, c, k=(1, odd) if odd is not None else (2,)),
    "split_concepts": lambda z, c, odd: concepts.split_concepts(z, c, fewest=odd if isinstance(odd, int) else 5),
    "screened_codes": lambda z, c, odd: concepts.screened_codes(z, c, rate=odd if odd is not None else 0.1),
    "code_usage": lambda z, c, odd: concepts.code_usage(c),
    "dictionary_matching": lambda z, c, odd: concepts.dictionary_matching(z, c),
    "concept_report": lambda z, c, odd: concepts.concept_report(z, c),
}
