"""The 200 cases of the corpus: functions without arguments that use only the public API and the command line."""

import contextlib
import functools
import importlib.metadata
import io
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas
import polars
import scipy.sparse

import unweave
from unweave import Evidence, Posterior, synthetic

# fmt: off
CASES, est = {}, unweave.estimators
worlds, encoders, attacks, decoders = synthetic.worlds, synthetic.encoders, synthetic.attacks, synthetic.known_decoders
WORLDS = {
    "independent": worlds.Independent(4), "uniform": worlds.Independent(3, "uniform"),
    "truncated": worlds.Independent(3, "truncated"), "discrete": worlds.Independent(3, "discrete"),
    "weakly correlated": worlds.Correlated(4, 0.3), "strongly correlated": worlds.Correlated(3, 0.9),
    "discrete correlated": worlds.Correlated(3, 0.6, "discrete"), "confounded": worlds.Confounded((0.8, 0.8, 0.0, 0.5)),
    "covariance": worlds.WithCovariance(((1.0, 0.5, 0.0), (0.5, 1.0, -0.4), (0.0, -0.4, 1.0))),
    "causal": worlds.Causal(4), "causal square": worlds.Causal(3, link="square"),
    "constraint of one": worlds.OneFactorConstraint(4), "constraint of two": worlds.TwoFactorConstraint(4),
    "circuit": worlds.Circuit(), "levels": worlds.Levelled(4), "levels, numbers": worlds.Levelled(4, n_continuous=2),
    "reordered": worlds.Reordered(worlds.Correlated(3, 0.6)),
}
ENCODERS = {
    "permuted": encoders.PermutedAndScaled(), "elementwise": encoders.Elementwise(0.7), "mixed": encoders.Mixed(),
    "mixed to twice as many": encoders.Mixed(kappa=3.0, ratio=2.0, standardise=True), "noise": encoders.Noise(4),
    "Gaussian noise": encoders.Noise(3, "gaussian"), "copied": encoders.Copied(),
    "mixed extras": encoders.WithMixedExtras(), "distributed": encoders.Distributed(3),
    "partly mixed": encoders.PartlyMixed(0.3), "noisy": encoders.Noisy(encoders.PermutedAndScaled(), 0.3),
    "noisy mixture": encoders.Noisy(encoders.PartlyMixed(0.5), 0.1),
    "reshaped": encoders.Reshaped(encoders.PartlyMixed(0.2)), "dropped": encoders.Dropped((0,)),
    "with copies": encoders.WithCopies(encoders.Elementwise(), 3), "kept": encoders.Kept((1, 2)),
    "with noise codes": encoders.WithNoiseCodes(encoders.PermutedAndScaled(), 4),
}

def add(name, compute, *arguments, **options):
    CASES[name] = functools.partial(compute, *arguments, **options)

# a small budget unless another one is stated
score, compare = (functools.partial(run, budget=1.0, progress=False) for run in (unweave.evaluate, unweave.compare))

def drawn(world, encoder, n_rows=240):
    factors = WORLDS[world].sample(n_rows, rng=3)
    return factors, ENCODERS[encoder].encode(factors, rng=5)

def plain(n_rows=300, n=3):
    """Factors, and codes that are each mostly one factor; they do not depend on random numbers of unweave."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(n_rows, n))
    return factors, factors + 0.4 * np.roll(factors, 1, axis=1) + 0.2 * rng.normal(size=(n_rows, n))
(FACTORS, CODES), FEW = plain(), ["mcc", "r2", "mig", "sap"]
COLUMNS = ["factor_0", "factor_1", "factor_2", "code_0", "code_1", "code_2"]

# Worlds and encoders: every world with two encoders, and every encoder in two worlds
for k, world in enumerate(WORLDS):
    for j, encoder in enumerate([list(ENCODERS)[k], list(ENCODERS)[(k + 9) % len(ENCODERS)]]):
        add(f"world: {world}, {encoder}", lambda quick, *pair: score(*drawn(*pair), quick=quick), (k + j) % 3 == 0,
            world, encoder)

# Kinds of factors, missing values, groups, nuisances
def of_kinds(hidden="", **options):
    rng = np.random.default_rng(1)
    size, level, angle = rng.normal(size=400), rng.integers(0, 5, 400), rng.uniform(0, 6, 400)
    shape = rng.integers(0, 3, 400)
    codes = np.column_stack([size**3, level + 0.3 * size, np.cos(angle), np.sin(angle), shape == 1, shape == 2])
    table = {"size": size, "level": 1.0 * level, "angle": angle, "codes": codes + 0.1 * rng.normal(size=codes.shape)}
    if hidden:
        table[hidden][rng.random(400) < 0.2] = np.nan
    table["shape"] = np.array(["disc", "bar", "heart"])[shape]
    kinds = {"size": "continuous", "level": "ordinal", "angle": "circular:6", "shape": "categorical"}
    return score({name: table[name] for name in kinds}, table["codes"], **{"kinds": kinds} | options)
add("kinds: declared", of_kinds)
add("kinds: inferred", of_kinds, kinds=None)
add("kinds: all metrics", of_kinds, metrics="all", quick=True)
for kind in ("continuous", "ordinal", "categorical"):
    add(f"kinds: {kind}", lambda kind: score(np.round(2 * FACTORS).clip(-3, 3), CODES, kinds=kind), kind)
for hidden in ("size", "level", "angle", "codes"):
    add(f"missing: {hidden}", of_kinds, hidden, missing="drop")
add("missing: all metrics", of_kinds, "size", missing="drop", metrics="all", quick=True)
add("refused: missing", of_kinds, "size")
add("refused: kinds", of_kinds, kinds="numbers")
add("row groups: 20", lambda: score(FACTORS, CODES, row_groups=np.repeat(np.arange(20), 15)))
add("row groups: names", lambda: score(FACTORS, CODES, row_groups=[f"row {k % 40}" for k in range(300)], metrics="all"))
add("code groups", lambda: score(*plain(300, 4), code_groups={"a": [0, 1], "b": ["code 2", "code 3"]}))
add("code groups: all metrics", lambda: score(*plain(300, 4), code_groups={"a": [0, 1]}, metrics="all", quick=True))
for toy in (synthetic.toys.ClassesWithNuisance(0.0), synthetic.toys.ClassesWithNuisance(0.5)):
    case = str(toy).replace("ClassesWithNuisance", "NuisedClasses")  # its name in the frozen evaluations
    add(f"nuisances: {case}", lambda data: score(*data[:2], nuisances=data[2], metrics="information"), toy.sample(300))
for toy in (synthetic.toys.DependentClasses(1.0, 0.4), synthetic.toys.DependentClasses(0.5, 1.0)):
    add(f"dependent: {toy}", lambda drawn: score(*drawn[:2], kinds="categorical"), toy.sample(300))

# Posteriors
STD = np.exp(np.random.default_rng(5).normal(-1, 0.3, CODES.shape))
COVARIANCE, TABLES = 0.2 * np.eye(3) + 0.1, {"kind": np.exp(CODES) / np.exp(CODES).sum(axis=1, keepdims=True)}
SAMPLED = est.MixtureSampling(samples=300)
POSTERIORS = {
    "std": lambda: Posterior(CODES, STD), "covariance": lambda: Posterior(CODES, covariance=COVARIANCE),
    "log-variance": lambda: Posterior(CODES, log_variance=np.full_like(CODES, -3.0), names=["a", "b", "c"]),
    "covariance by row": lambda: Posterior(CODES, covariance=COVARIANCE * STD[:, :1, None]),
    "categories too": lambda: Posterior(CODES, STD, categories=TABLES),
    "categories only": lambda: Posterior(categories=TABLES),
    "sharp": lambda: Posterior(CODES, np.full_like(CODES, 1e-6)),
    "one collapsed": lambda: Posterior(CODES * [1, 1, 0], np.where([1, 1, 0], STD, 1.0)),
    "batches": lambda: Posterior.from_batches((CODES[k : k + 50], STD[k : k + 50]) for k in range(0, 300, 50)),
    "redundancy": lambda: attacks.Redundancy(2.0).attack(Posterior(CODES, STD)),
    "weak redundancy": lambda: attacks.Redundancy(0.2, "identity").attack(Posterior(CODES, STD)),
    "synergy": lambda: attacks.Synergy(2.0).attack(Posterior(CODES, covariance=COVARIANCE)),
    "weak synergy": lambda: attacks.Synergy(0.2).attack(Posterior(CODES, STD)),
}
OF_POSTERIORS = ["mcc", "mig", "rmig", "jemmig", "misjed", "informativeness",
    *(functools.partial(unweave.metrics.CATALOGUE[name], estimator=SAMPLED) for name in ("unibound", "wsepin"))]
for family, made in POSTERIORS.items():
    add(f"posterior: {family}", lambda made: score(FACTORS, made(), metrics=OF_POSTERIORS, quick=True), made)
add("posterior: panel", lambda: score(FACTORS, POSTERIORS["std"]()))
add("posterior: no factors", lambda: score(None, POSTERIORS["std"](), metrics=["informativeness", "misjed"]))

# Tables and number types
HOLDERS = {
    "pandas": lambda values, names: pandas.DataFrame(values, columns=list(names), index=range(len(values), 0, -1)),
    "polars": lambda values, names: polars.DataFrame(dict(zip(names, values.T, strict=True))),
    "pyarrow": lambda values, names: HOLDERS["polars"](values, names).to_arrow(),
    "mapping": lambda values, names: dict(zip(names, values.T, strict=True)),
    "lists": lambda values, names: values.tolist(), "Fortran order": lambda values, names: np.asfortranarray(values),
    "tensor": lambda values, names: importlib.import_module("torch").from_numpy(values.astype("f4")),
    "reversed view": lambda values, names: values[::-1, ::-1],
    "words": lambda values, names: np.where(values > 0, "high", "low") if names == "xyz" else values,
}
for holder, held in HOLDERS.items():
    add(f"input: {holder}", lambda held: score(held(FACTORS, "xyz"), held(CODES, "abc"), metrics=FEW), held)
for dtype in ("f2", "f4", ">f8", "i1", "u2", "bool"):
    add(f"input: {dtype}", lambda dtype: score(*((table > 0 if dtype == "bool" else (3 * table + 10).clip(0)).
        astype(dtype) for table in plain())), dtype)
for ordered in (True, False):
    add(f"input: categories {ordered}", lambda ordered: score(pandas.DataFrame({"weight": FACTORS[:, 1],
        "size": pandas.Categorical(np.array(["low", "mid", "top"])[np.digitize(FACTORS[:, 0], [-0.5, 0.5])],
        categories=["low", "mid", "top"], ordered=ordered)}), CODES), ordered)

# Odd data
ODD = {
    "odd: constant factor": lambda: score(np.pad(FACTORS, [(0, 0), (0, 1)]), CODES),
    "odd: constant code": lambda: score(FACTORS, np.pad(CODES, [(0, 0), (0, 1)])),
    "odd: constant codes": lambda: score(FACTORS, np.ones((300, 3))),
    "odd: equal codes": lambda: score(FACTORS, CODES[:, [0, 0, 1, 1, 2]]),
    "odd: one factor": lambda: score(FACTORS[:, :1], CODES), "odd: one code": lambda: score(FACTORS, CODES[:, :1]),
    "odd: huge codes": lambda: score(FACTORS, CODES * 1e200, metrics=FEW),
    "odd: heavy tails": lambda: score(FACTORS, np.sinh(4 * CODES)),
    "odd: repeated rows": lambda: score(np.repeat(FACTORS[:60], 5, axis=0), np.repeat(CODES[:60], 5, axis=0)),
    "odd: sorted rows": lambda: score(*(table[np.argsort(FACTORS[:, 0])] for table in (FACTORS, CODES))),
    "odd: names": lambda: score(FACTORS, CODES, metrics=FEW, factor_names=["größe", "a|b", "<i>x</i>"]),
    "refused: different lengths": lambda: score(FACTORS, CODES[:-1]),
    "refused: infinite": lambda: score(FACTORS, np.where(CODES > 2, np.inf, CODES)),
    "refused: no rows": lambda: score(FACTORS[:0], CODES[:0]),
    "refused: unknown metric": lambda: score(FACTORS, CODES, metrics="mcx"),
    "refused: negative budget": lambda: score(FACTORS, CODES, budget=-1),
    "refused: no comparison": lambda: compare(FACTORS, {}),
}
CASES.update(ODD)
for n_rows in (5, 12, 25, 60, 100):
    add(f"few rows: {n_rows}", lambda n: score(*plain(n), metrics="all" if n == 60 else None), n_rows)

# Many codes, sparse codes, tables of probabilities, rows in blocks
def concepts(n_codes, as_matrix, **options):
    rng = np.random.default_rng(6)
    present = (rng.random((600, 3)) < 0.3).astype(int)
    active = (rng.random((600, n_codes)) < 0.03) * rng.gamma(5, 0.2, (600, n_codes))
    active[:, :3] = present * rng.gamma(5, 0.2, (600, 3))
    return score(dict(zip(("negation", "plural", "past"), present.T, strict=True)), as_matrix(active), **options)
add("many codes: 70 sparse", concepts, 70, scipy.sparse.csr_array)
add("many codes: 40 sparse columns", concepts, 40, scipy.sparse.csc_matrix, kinds="categorical")
add("many codes: all sparse", concepts, 70, scipy.sparse.coo_array, screen=False, quick=True, metrics="all")
add("many codes: 1,100", concepts, 1100, np.asarray, quick=True)
add("many codes: 100 screened", concepts, 100, np.asarray, screen=True)
add("many codes: 100", concepts, 100, np.asarray, screen=False, metrics=FEW)
add("probabilities: panel", lambda: score({"soft": TABLES["kind"], "size": FACTORS[:, 0]}, CODES))
add("probabilities: posterior", lambda: score(TABLES, POSTERIORS["std"](), metrics=["rmig", "jemmig", "mcc"]))

def in_blocks(n_rows, metrics):
    blocks = importlib.import_module("unweave.files.formats")  # documented in docs/guides/many-rows.md
    with tempfile.TemporaryDirectory() as folder:
        for part, rows in enumerate(np.array_split(np.hstack(plain(n_rows)), 3)):
            polars.DataFrame(rows, schema=COLUMNS).write_parquet(f"{folder}/part-{part}.parquet")
        return score(blocks.parquet_blocks(folder, sample_rows=400), metrics=metrics)
add("blocks: 60,000 rows", in_blocks, 60_000, [*FEW, "mig_sup", "dcimig", "modularity"])
add("blocks: panel", in_blocks, 3_000, None)

# Samplers, decoders and the whole catalogue
def sampler(fixed, n_rows, rng):
    factors = rng.integers(0, 4, (n_rows, 3)).astype(float)
    for name, value in fixed.items():
        factors[:, int(name[-1])] = value
    return factors, factors + 0.5 * factors[:, [1, 0, 2]] + 0.1 * rng.normal(size=factors.shape)
SAMPLES = sampler({}, 300, np.random.default_rng(7))
JACOBIANS = np.random.default_rng(8).normal(size=(50, 6, 3))
EVERYTHING = Evidence(SAMPLES[0], Posterior(SAMPLES[1], STD), nuisances=STD[:, :1], sampler=sampler, decoder=JACOBIANS,
    reference=JACOBIANS + 0.1)
add("sampler: panel", lambda: score(*SAMPLES, sampler=sampler))
add("sampler: intervention", lambda: score(*SAMPLES, sampler=sampler, metrics="intervention"))
add("sampler: options", lambda: score(*SAMPLES, sampler=sampler, metrics=["irs:bins=5", "beta_vae_score:scale=values"]))
LINEAR = decoders.LinearDecoder(np.array([[1.0, 0.5], [0.0, 2.0], [0.3, 0.3]]))
for name, decoder in {"linear": LINEAR, "torus": decoders.Torus(3), "moons": decoders.TwoMoons(0.2)}.items():
    add(f"decoder: {name}", lambda decoder: score(decoder=decoder, metrics="geometry"), decoder)
add("decoder: Jacobians", lambda: score(decoder=JACOBIANS, reference=JACOBIANS[:, :, ::-1] + 0.1, metrics="geometry"))
add("spectrum", lambda: unweave.spectrum(LINEAR, n_samples=200))

def torch_decoder():
    torch = importlib.import_module("torch")
    layers = torch.nn.Sequential(torch.nn.Linear(2, 5), torch.nn.Tanh(), torch.nn.Linear(5, 4))
    for weights in layers.parameters():
        weights.data = torch.arange(weights.numel()).view(weights.shape).sin()
    return score(decoder=layers, metrics=["total_entropy", "manifold_total_correlation"])

add("decoder: torch", torch_decoder)
ALL = unweave.metrics.CATALOGUE
add("metrics: all", lambda: score(EVERYTHING, metrics=list(ALL), quick=True))
add("metrics: two seeds", lambda: score(EVERYTHING, metrics=["r2", "mcc", "sap", "explicitness"], n_n_seeds=2, seed=1))
for names in (list(ALL)[start : start + 7] for start in range(0, len(ALL), 7)):
    add(f"metrics: {names[0]} to {names[-1]}", lambda names: {name: ALL[name](EVERYTHING) for name in names}, names)
OPTIONS = {
    "matching": {"mcc": [{"correlation": "spearman"}, {"normalise": "coverage"}, {"cross_fit": True}],
        "r2": [{"probe": est.RandomForest()}, {"n_folds": 3}]},
    "trees": {"dci_disentanglement": [{"probe": est.Lasso()}, {"weights": "uniform"}, {"test_share": 0.4}],
        "dci_completeness": [{"probe": est.RandomForest()}], "dci_informativeness": [{"measure": "accuracy"}],
        "dci_explicitness": [{"floor": "best"}]},
    "information": {name: [{"estimator": est.Histogram(8, "equal_width")}, {"estimator": est.NearestNeighbour(k=5)},
        {"estimator": est.Histogram(20, bias_correction="miller_madow")}]
        for name in ("mig", "mig_sup", "dcimig", "modularity", "infomec_modularity")},
    "sufficient": {name: [{"joint": est.UsableInformation("boosted_trees")}, {"estimator": est.Histogram(6)}]
        for name in ("minimality", "sufficiency", "explicitness_ratio")},
    "single codes": {"sap": [{"classify": "discrete"}, {"classifier": est.LinearSvm()}, {"rescale": False}],
        "explicitness": [{"bins": 4}], "irs": [{"overall": "largest"}, {"scale": "ranks"}],
        "t_mex": [{"test": "linear"}, {"correction": "none"}, {"level": 0.2}]},
    "posteriors": {"rmig": [{"estimator": est.QuantisedPosterior(bins=30)}, {"normalise": False}],
        "sepin_at_k": [{"k": 1, "estimator": SAMPLED}], "indin_at_k": [{"k": 2, "estimator": SAMPLED}],
        "informativeness": [{"of": "all", "sampling": SAMPLED}], "jemmig": [{"normalise": False}],
        "synergy_upper_bound": [{"estimator": SAMPLED}]},
    "geometry": {"manifold_entropy": [{"dimensions": [0, 1]}], "manifold_mutual_information": [{"sets": ([0], [1])}],
        "manifold_total_correlation": [{"partition": [[0], [1, 2]]}],
        "manifold_cross_mutual_information": [{"match": "latents"}]},
}
for group, chosen in OPTIONS.items():
    add(f"options: {group}", score, EVERYTHING, quick=True, metrics=[functools.partial(ALL[name], **options)
        for name, several in chosen.items() for options in several])

# Comparisons, diagnosis, audit
def of_encoders(world, *names, **options):
    return compare(drawn(world, names[0])[0], {name: drawn(world, name)[1] for name in names}, **options)

def audited(metric):
    small = importlib.import_module("unweave.auditing").Grid(n_factors=(5,), n_rows=200, rhos=(0, 0.9), ratios=(2,),
        splits=(2,), null_ratios=(0.1,))
    # a budget is in measured seconds, so that the cells that fit into it would vary
    return unweave.audit(metric, grid=small, n_seeds=2, budget=None, adversary=False, further=False)
add("compare: two", of_encoders, "independent", "permuted", "mixed")
add("compare: three", of_encoders, "weakly correlated", "noisy", "partly mixed", "noise", budget=3)
add("compare: four", of_encoders, "levels", "permuted", "copied", "dropped", "distributed")
add("compare: constrained", of_encoders, "circuit", "elementwise", "mixed extras", quick=True)
add("compare: metrics", of_encoders, "causal", "noisy", "noisy mixture", metrics=["mcc", "mig"], n_seeds=2, budget=3)
add("compare: posteriors", lambda: compare(FACTORS, {name: POSTERIORS[name]() for name in ("std", "synergy")},
    metrics=["rmig", "mcc"]))
add("compare: missing", lambda: compare(FACTORS, {"a": np.where(CODES > 2, np.nan, CODES), "b": CODES}, missing="drop"))
for world in ("circuit", "strongly correlated", "levels"):
    add(f"diagnosis: {world}", lambda world: unweave.diagnose(Evidence(*drawn(world, "noisy"))), world)
add("noise floors", lambda: {kind: unweave.noise_floor(ALL["mcc"], Evidence(FACTORS, CODES), kind=kind, n_draws=19)
    for kind in ("permutation", "matched", "constant")})
add("audit: mcc", audited, "mcc:correlation=spearman")
add("audit: function", audited, lambda factors, codes: float(np.abs(np.corrcoef(factors[:, 0], codes[:, 0])[0, 1])))

# Published, trained and real networks: README.md says where their codes come from
NETWORKS = dict(np.load(Path(__file__).parent / "codes.npz"))

def posterior_of(model):
    tables = {"category": NETWORKS[f"{model}_category"]} if f"{model}_category" in NETWORKS else None
    return Posterior(NETWORKS[f"{model}_mean"], NETWORKS[f"{model}_std"], categories=tables)
SPRITES = {"factor_names": ["shape", "scale", "orientation", "x", "y"],
    "kinds": ["categorical", "ordinal", "circular", "ordinal", "ordinal"]}
WORDS = {"factor_names": ["topic", "tense", "number", "negation", "sentiment", "length"]}
for model in ("VAE", "betaB", "betaH", "btcvae", "factor", "joint"):
    add(f"network: {model}", lambda model: score(NETWORKS["dsprites"], posterior_of(model), budget=2, **SPRITES), model)
add("network: compared", lambda: compare(NETWORKS["dsprites"], {name: NETWORKS[f"{name}_mean"] for name in ("VAE",
    "betaH", "btcvae", "factor")}, budget=4, **SPRITES))
for model in ("beta1", "beta32"):
    add(f"network: {model}", lambda model: score(NETWORKS["sprites"], posterior_of(model), budget=2), model)
add("network: MiniLM", lambda: score(NETWORKS["sentences"], NETWORKS["minilm"][:, :16], **WORDS))
add("network: MiniLM screened", lambda: score(NETWORKS["sentences"], NETWORKS["minilm"], screen=True, quick=True))
add("network: CREPE", lambda: score(NETWORKS["tones"], NETWORKS["crepe"][:, ::4], budget=2))
add("network: CREPE, all codes", lambda: score(NETWORKS["tones"], NETWORKS["crepe"], metrics=FEW, budget=3))
add("unlabelled: one", lambda: unweave.unlabelled({"codes": CODES}))
add("unlabelled: trained", lambda: unweave.unlabelled({name: posterior_of(name) for name in ("beta1", "beta32")}))
add("unlabelled: published", lambda: unweave.unlabelled({name: NETWORKS[f"{name}_mean"] for name in ("VAE", "betaH")}))

# The default budget
for pair in (("independent", "partly mixed"), ("weakly correlated", "noisy mixture"), ("levels", "noisy")):
    add(f"default budget: {pair[0]}", lambda *pair: score(*drawn(*pair, n_rows=200), budget=30), *pair)
for pair in (("strongly correlated", "noisy"), ("circuit", "mixed"), ("discrete", "noisy mixture"), ("causal square",
    "reshaped"), ("confounded", "noise"), ("uniform", "copied")):
    add(f"default budget: {pair[0]}", lambda *pair: score(*drawn(*pair), budget=30, metrics=FEW), *pair)
add("default budget: compared", of_encoders, "covariance", "noisy", "noisy mixture", metrics=["mcc", "mig"], budget=30)
add("default budget: beta32", lambda: score(NETWORKS["sprites"], posterior_of("beta32"), metrics=FEW, budget=30))
add("default budget: groups", lambda: score(FACTORS, CODES, row_groups=np.arange(300) // 10, metrics="mcc", budget=30))

# The command line
def command(line):
    """What a command prints and writes, in a folder with some small files."""
    (main,) = importlib.metadata.entry_points(group="console_scripts", name="unweave")
    factors, codes = plain(200)
    printed, arguments = io.StringIO(), sys.argv
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        np.savez("a.npz", factors=factors, codes=codes)
        np.savez("b.npz", factors=factors, codes=codes @ np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]]))
        np.savez("concepts.npz", factors=factors > 0, codes=codes)
        np.savez("posterior.npz", factors=factors, codes=codes, codes_std=np.full_like(codes, 0.3))
        polars.DataFrame(np.hstack([factors, codes]), schema=COLUMNS).write_csv("table.csv")
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            for sys.argv in (["unweave", *part.split()] for part in line.split(" && ")):
                with contextlib.suppress(SystemExit):
                    main.load()()
        sys.argv = arguments
        return "\n".join([printed.getvalue(), *(path.read_text() for path in sorted(Path().glob("page.*")))])
for line in ("score a.npz --json --budget 1", "score a.npz --quick", "score table.csv --budget 1 --markdown page.md",
    "score posterior.npz --quick --json --metrics rmig,mcc", "score a.npz --quick --summary page.json",
    "compare a.npz b.npz --json --budget 1", "compare a.npz b.npz --quick --metrics mcc,mig --seeds 2", "metrics",
    "explain mcc && explain r2 && explain unibound", "explain mgi", "score missing.npz",
    "score a.npz --metrics dci_disentanglement,irs:bins=5 --quick --json", "unlabelled a.npz b.npz",
    "score a.npz --kinds x", "score concepts.npz --metrics concepts"):
    add(f"command: {line}", command, line)
