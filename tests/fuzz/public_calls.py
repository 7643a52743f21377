"""Calls of every public function, class and method of `unweave`, with usual, odd and hostile arguments from a seed."""

import copy
import functools
import inspect
import io
import json
import tempfile
import types
import zipfile
from pathlib import Path

import numpy as np
from odd_inputs import CHEAP, HOLDERS, NAMES, _values

import unweave
from unweave.evaluation.concepts import concept_report
from unweave.metrics import CATALOGUE, concepts, mcc
from unweave.report.leaderboard import leaderboard

SMALL = 1 / 4  # share of the calls of a name that takes seconds rather than milliseconds
COSTLY = {"audit", "check_metric", "train", "compared_runs", "ladder", "probe", "evaluate", "compare", "run", "encode"}
COSTLY |= {"score_changes", "score_elsewhere", "modelled_score", "TrainedModels", "Evaluation", "Monitor", "verdicts"}
COSTLY |= {
    "RepresentationCallback",
    "unlabelled",
    "similarity",
    "environments",
    "Ladder",
    "DSprites",
    "ColouredShapes",
    "samples_needed",
}
COSTLY |= {"compared", "interval", "noise_floor", "diagnose"}

# names that are not called, with the reason
NOT_CALLED = {
    **dict.fromkeys(("UnweaveError", "InputError", "OptionError", "FileError", "InputWarning"), "an exception"),
    **dict.fromkeys(("MetricError", "MetricUndefined", "SweepStopped"), "an exception"),
    **dict.fromkeys(("Metric", "Protocol", "Constraint", "World", "Encoder"), "a protocol"),
    **dict.fromkeys(("Objective", "DataSet", "Probe", "Prior", "Correlation", "Classifier"), "a protocol"),
    **dict.fromkeys(("Information", "JointInformation", "PosteriorInformation", "IndependenceTest"), "a protocol"),
    **dict.fromkeys(("CodeCorrelations", "DecompositionInformation", "LineClassifier"), "a protocol"),
    "FactorKind": "an enumeration",
    "GridDataSet": "a class to derive from",
    **dict.fromkeys(("EvidenceOptions", "Toy", "Batch", "Step"), "a type for annotations or results"),
}
# records that functions return: they are made by the functions, read from damaged JSON, and their methods are called
RECORDS = (
    *(
        "Evaluation",
        "Ladder",
        "Score",
        "Diagnosis",
        "NoiseFloor",
        "Spectrum",
        "ProbeReport",
        "Similarity",
        "Environments",
        "Recovery",
        "Unlabelled",
    ),
    *("Audit", "Comparison", "Interval", "SamplesNeeded", "Verdict", "Fleet", "TrainedModel", "Measurement", "History"),
    *("CodeUsage", "ConceptReport", "DictionaryMatching", "ScreenedCodes", "SingleCodes", "SparseProbes"),
    *("SplitConcepts", "Leaderboard"),
)


def public_callables():
    """Every public function and class by its dotted name, once."""
    found, modules = {}, [unweave]
    while modules:
        module = modules.pop(0)
        own = [name for name, entry in vars(module).items() if getattr(entry, "__module__", "") == module.__name__]
        for name in getattr(module, "__all__", [name for name in own if not name.startswith("_")]):
            entry = getattr(module, name)
            if isinstance(entry, types.ModuleType):
                if entry.__name__.startswith("unweave"):
                    modules.append(entry)
            elif callable(entry) and getattr(entry, "__module__", "").startswith("unweave"):
                found.setdefault(id(entry), (f"{module.__name__}.{name}", entry))
    found[id(leaderboard)] = ("unweave.report.leaderboard.leaderboard", leaderboard)
    found[id(concept_report)] = ("unweave.evaluation.concepts.concept_report", concept_report)
    return {name: entry for name, entry in found.values() if inspect.isroutine(entry) or inspect.isclass(entry)}


PUBLIC = public_callables()
CALLED = [name for name in PUBLIC if name.rpartition(".")[2] not in (*NOT_CALLED, *RECORDS)]
WEIGHTS = np.array([SMALL if name.rpartition(".")[2] in COSTLY else 1.0 for name in CALLED])
CUMULATIVE = np.cumsum(WEIGHTS) / WEIGHTS.sum()
ROWS = 60
Z = np.random.default_rng(0).normal(size=(ROWS, 3))
ODD = (
    *(-1, 0, 1, 2, 3, 2.5, np.nan, np.inf, -np.inf, True, None, "", "two", "größe", 10**30, -(10**30), 1e-320, 1j),
    *(b"bytes", (), [], {}, {"a": 1}, [1, "a", None], ("x",), object(), len, int, np.zeros(3), np.zeros((0, 0))),
    *(
        np.array("text"),
        {"x": object()},
        frozenset({3}),
        np.float32(0.5),
        np.int64(3),
        np.nan * np.ones((3, 3)),
        "\x00",
    ),
)


def drawn_name(rng):
    """A public function or class; empty for a method of what one returned."""
    return "" if rng.random() < 0.25 else CALLED[int(np.searchsorted(CUMULATIVE, rng.random(), side="right"))]


def draw_public(seed):
    """A public function or class, or a method of what one returned, as a call without arguments, and its words."""
    rng = np.random.default_rng([3301, seed])
    name = drawn_name(rng)
    if not name:
        return _record_call(rng)
    given, words = _arguments(rng, PUBLIC[name], name)

    def call():
        made = PUBLIC[name](**given)
        if type(made).__module__.startswith("unweave"):
            str(made), repr(made)
        if hasattr(made, "sample") and hasattr(made, "images"):  # a data set
            made.images(made.sample_indices(3, 0))
        return made

    return call, f"{name}({words})"


def _arguments(rng, function, name):
    """Arguments by name: usual ones most often, one or two odd ones, some left out."""
    try:
        signature = inspect.signature(function)
    except ValueError:
        return {}, ""
    given = {}
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL) or parameter.name == "self":
            continue
        needed = parameter.default is parameter.empty
        always = parameter.name in ALWAYS
        if needed or always or rng.random() < 0.25:
            given[parameter.name] = _usual(rng, parameter, name)
    if given and rng.random() < 0.75:
        for at in rng.choice(list(given), size=min(len(given), int(rng.integers(1, 3)))):
            if at not in ("progress", "budget") or rng.random() < 0.3:
                given[str(at)] = ODD[int(rng.integers(0, len(ODD)))]
    return given, ", ".join(f"{key}={_short(value)}" for key, value in given.items())


def _short(value):
    return " ".join(repr(value).split())[:60]


ALWAYS = {"progress", "budget", "quick", "settings", "n_steps", "n_draws", "n_rows", "grid", "further", "adversary"}


def _usual(rng, parameter, name):
    """A value that fits the name of the parameter, or its default."""
    makers = USUAL.get(f"{name.rpartition('.')[2]}.{parameter.name}") or USUAL.get(parameter.name)
    if makers is not None:
        return makers(rng)
    if parameter.default is not parameter.empty:
        return parameter.default
    kinds = str(parameter.annotation)
    if "int" in kinds or "Count" in kinds or "Several" in kinds or "Whole" in kinds:
        return int(rng.integers(0, 7))
    if "Mapping" in kinds or "dict" in kinds:
        return {"a": 1}
    return float(np.round(rng.normal(), 1)) if "str" not in kinds else str(rng.choice(NAMES))


def _table(rng):
    values, _ = _values(rng, ROWS, int(rng.integers(1, 4)))
    if rng.random() < 0.7:
        return Z[:, : int(rng.integers(1, 4))] if rng.random() < 0.5 else values
    try:
        with np.errstate(all="ignore"):
            return HOLDERS[str(rng.choice(list(HOLDERS)))](values, rng)
    except (ValueError, TypeError, OverflowError, ArithmeticError):
        return values


@functools.cache
def evidence_of(seed):
    rng = np.random.default_rng(seed)
    codes = Z @ rng.normal(size=(3, 3)) if seed % 2 else rng.normal(size=(ROWS, 3))
    factors = np.round(Z) if seed % 3 == 0 else Z
    return unweave.Evidence(factors, codes)


def _evidence(rng):
    return evidence_of(int(rng.integers(0, 6)))


def _metric(rng):
    return [CATALOGUE[str(rng.choice(CHEAP))], str(rng.choice(CHEAP)), "nothing", print][
        int(rng.choice(4, p=[0.5, 0.4, 0.05, 0.05]))
    ]


@functools.cache
def folder():
    """A folder with damaged files under the names that data sets look for."""
    path = Path(tempfile.mkdtemp())
    content = io.BytesIO()
    np.savez_compressed(
        content, codes=Z, factors=Z, imgs=np.zeros((6, 4, 4), "u1"), images=np.zeros((4, 2, 2, 3), "u1")
    )
    for name in ("3dshapes.h5", "a.mat", "mpi3d_toy.npz", "cut.npz", "list_attr_celeba.txt", "empty.json", "codes.npz"):
        whole = content.getvalue()
        (path / name).write_bytes(whole if name in ("codes.npz", "mpi3d_toy.npz") else whole[: len(whole) // 2])
    with zipfile.ZipFile(path / "empty.npz", "w"):
        pass
    evaluation().save(path / "evaluation.json")
    return path


def _path(rng):
    names = (
        "",
        "3dshapes.h5",
        "a.mat",
        "mpi3d_toy.npz",
        "cut.npz",
        "empty.npz",
        "codes.npz",
        "nothing",
        "a\x00b",
        "x" * 300,
    )
    return folder() / str(rng.choice(names))


def _environment(rng):
    import gymnasium

    class Room:
        variation_space = gymnasium.spaces.Dict(
            {"x": gymnasium.spaces.Box(-1.0, 1.0), "k": gymnasium.spaces.Discrete(3)}
        )
        action_space = gymnasium.spaces.Discrete(2)
        shape = [(8, 8, 3), (8, 8), (), (8, 8, 3), (0, 8, 3)][int(rng.integers(0, 5))]

        def reset(self, seed=None, options=None):
            return None, {}

        def step(self, action):
            return None, 0.0, False, False, {}

        def render(self):
            return np.full(self.shape, 7, np.uint8)

    return Room()


def _models(rng):
    from unweave.models import MLP, TrainingSettings, train

    return train(
        np.zeros((20, 4, 4)),
        ["vae"],
        n_codes=2,
        trunk=MLP((4,)),
        settings=TrainingSettings(n_steps=2, batch_size=4),
        progress=False,
    )


def _settings(rng):
    from unweave.models import TrainingSettings

    return TrainingSettings(n_steps=2, batch_size=4)


def _trunk(rng):
    from unweave.models import MLP

    return MLP((4,))


def _cells(rng):
    from unweave.sweeps import grid
    from unweave.synthetic import encoders, worlds

    return grid("s", worlds=[worlds.Independent(2)], encoders=[encoders.Mixed()], metrics=["mcc"], n_rows=40, n_seeds=1)


def _sprites(rng):
    return unweave.datasets.small_sprites(16)


@functools.cache
def evaluation():
    return unweave.evaluate(Z, Z, metrics=["mcc", "r2"], quick=True, budget=1.0, progress=False)


@functools.cache
def comparison():
    return unweave.trust.compared(unweave.metrics.r2, {"a": evidence_of(1), "b": evidence_of(2)})


USUAL = {
    **dict.fromkeys(("factors", "codes", "first", "second", "mean", "concepts", "table", "latents"), _table),
    **dict.fromkeys(("nuisances", "baseline"), lambda rng: _table(rng) if rng.random() < 0.5 else None),
    "evidence": _evidence,
    "evidences": lambda rng: {"a": _evidence(rng), "b": _evidence(rng)},
    "metric": _metric,
    "metrics": lambda rng: [str(name) for name in rng.choice(CHEAP, size=2)],
    "representations": lambda rng: {"a": _table(rng), "b": _table(rng)},
    "runs": lambda rng: {"a": _table(rng), "b": _table(rng)},
    "std": lambda rng: np.abs(_values(rng, ROWS, 3)[0]) if rng.random() < 0.2 else np.full((ROWS, 3), 0.3),
    "log_variance": lambda rng: None,
    "covariance": lambda rng: None,
    "categories": lambda rng: None if rng.random() < 0.7 else {"shape": rng.dirichlet(np.ones(3), size=ROWS)},
    "matrix": lambda rng: _values(rng, 3, 2)[0],
    "matrices": lambda rng: [Z, Z],
    "progress": lambda rng: False,
    "budget": lambda rng: 0.5,
    "quick": lambda rng: True,
    "n_jobs": lambda rng: 1,
    "cluster": lambda rng: None,
    "tracker": lambda rng: None,
    "adversary": lambda rng: False,
    "further": lambda rng: False,
    "device": lambda rng: str(rng.choice(["cpu", "cpu", "nowhere"])),
    "scale": lambda rng: None,
    **dict.fromkeys(("seed", "rng", "rotation_seed"), lambda rng: int(rng.integers(0, 5))),
    "level": lambda rng: float(rng.choice([0.9, 0.95, 0.5])),
    "n_draws": lambda rng: 5,
    "n_rows": lambda rng: 40,
    "n_seeds": lambda rng: int(rng.integers(1, 3)),
    "n_samples": lambda rng: 30,
    "n_parts": lambda rng: int(rng.integers(4, 12)),
    "n_folds": lambda rng: int(rng.integers(2, 6)),
    "decoder": lambda rng: unweave.synthetic.known_decoders.LinearDecoder(rng.normal(size=(3, 2))),
    "values": lambda rng: rng.normal(size=(30, 3, 2)),
    "GridDataSet.values": lambda rng: [np.arange(3), np.arange(2)],
    "GridDataSet.factors": lambda rng: [
        unweave.datasets.Factor("a", "ordinal"),
        unweave.datasets.Factor("b", "ordinal"),
    ],
    "scales": lambda rng: None,
    "comparison": lambda rng: comparison(),
    "samples_needed.first": lambda rng: str(rng.choice(["a", "b", "c"])),
    "samples_needed.second": lambda rng: str(rng.choice(["a", "b", "c"])),
    "evaluation": lambda rng: evaluation(),
    **dict.fromkeys(("path", "folder", "images", "labels"), _path),
    "run.folder": lambda rng: Path(tempfile.mkdtemp()) / "sweep",
    "train.folder": lambda rng: None,
    "leaderboard.folder": lambda rng: folder(),
    "out": lambda rng: None,
    "page": lambda rng: None,
    "log_evaluation.page": lambda rng: False,
    "environment": _environment,
    "n_episodes": lambda rng: int(rng.integers(1, 5)),
    "steps": lambda rng: int(rng.integers(1, 3)),
    "state": lambda rng: None,
    "vary": lambda rng: [None, ["x"], ["k"], ["nothing"], []][int(rng.integers(0, 5))],
    "dataset": _sprites,
    "dependences": lambda rng: [unweave.datasets.CorrelatedPair("x", "y", 0.3)],
    "DependentSample.dataset": _sprites,
    "model": lambda rng: lambda images: images.reshape(len(images), -1)[:, :3],
    "rows": lambda rng: 20,
    "data": lambda rng: np.zeros((20, 4, 4)),
    "objectives": lambda rng: [str(rng.choice(["vae", "beta_vae", "factor_vae", "nothing"]))],
    "settings": _settings,
    "trunk": _trunk,
    "models": _models,
    "n_codes": lambda rng: int(rng.integers(1, 4)),
    "batch_size": lambda rng: int(rng.integers(1, 30)),
    "size": lambda rng: int(rng.choice([4, 8, 16, 32])),
    "hidden": lambda rng: (4,),
    "grid": lambda rng: unweave.auditing.Grid(
        n_factors=(3,), n_rows=60, rhos=(0,), ratios=(1,), splits=(2,), mixed_shares=(), null_ratios=(0.1,)
    ),
    "sweep": _cells,
    "summary.table": lambda rng: _swept(),
    "Sweep.cells": lambda rng: _cells(rng).cells,
    "worlds": lambda rng: [unweave.synthetic.worlds.Independent(2)],
    "encoders": lambda rng: [unweave.synthetic.encoders.Mixed()],
    "world": lambda rng: unweave.synthetic.worlds.Independent(3),
    "encoder": lambda rng: unweave.synthetic.encoders.Elementwise(),
    "protocol": lambda rng: unweave.sweeps.AllRows(),
    "score": lambda rng: lambda: unweave.metrics.mcc(Z, Z),
    "scores": lambda rng: {"mcc": unweave.metrics.mcc(Z, Z)},
    "verdicts.metrics": lambda rng: {"mcc": unweave.metrics.mcc},
    "verdicts.scores": lambda rng: {"mcc": unweave.metrics.mcc(evidence_of(1))},
    "diagnosis": lambda rng: unweave.diagnose(evidence_of(1)),
    "floors": lambda rng: None,
    "inputs": lambda rng: Z,
    "every": lambda rng: 1,
    "label": lambda rng: str(rng.choice(NAMES)),
    "holds": lambda rng: lambda evidence: True,
    "caveat": lambda rng: str(rng.choice(NAMES)),
    "name": lambda rng: str(rng.choice(["dsprites", "coloured_shapes", "mpi3d", "nothing", *NAMES[:4]])),
    "kind": lambda rng: str(rng.choice(["continuous", "ordinal", "circular:3", "nothing"])),
    "noise_floor.kind": lambda rng: str(rng.choice(["permutation", "gaussian", "nothing"])),
    "measures": lambda rng: ("cka", "cca"),
    "metric.measures": lambda rng: "modularity",
    "Card.measures": lambda rng: "modularity",
    "equivalence": lambda rng: str(rng.choice(["elementwise", "any", "nothing"])),
    "min_rows": lambda rng: 10,
    "chance": lambda rng: [0.0, "by permutation", "nothing", lambda n, m, d: 0.0][int(rng.integers(0, 4))],
    "names": lambda rng: None,
    "code_groups": lambda rng: None,
    "kinds": lambda rng: None,
    "row_groups": lambda rng: None,
    "target": lambda rng: None if rng.random() < 0.5 else _values(rng, ROWS, 1)[0][:, 0],
    "environments": lambda rng: None if rng.random() < 0.3 else rng.choice(["observational", "0", "1"], size=ROWS),
    "environments.factors": lambda rng: None if rng.random() < 0.7 else _table(rng),
    "graph": lambda rng: [None, np.eye(3), [("0", "1")], []][int(rng.integers(0, 4))],
    "factor_names": lambda rng: None,
    "code_names": lambda rng: None,
    "reference": lambda rng: None,
    "metric.reference": lambda rng: "ours",
    "Card.reference": lambda rng: "ours",
    "sampler": lambda rng: None,
    "output_names": lambda rng: None,
    "mixing": lambda rng: str(rng.choice(["reflection", "rotation"])),
    "without_codes.names": lambda rng: ["code 0"],
    "sources": lambda rng: ("x",),
    "function": lambda rng: str(rng.choice(["sum", "mean", "nothing"])),
    "factor": lambda rng: str(rng.choice(["x", "shape", "nothing"])),
    "CorrelatedPair.first": lambda rng: "x",
    "CorrelatedPair.second": lambda rng: "y",
    "sigma": lambda rng: 0.3,
}


@functools.cache
def _swept():
    return unweave.sweeps.run(_cells(None), Path(tempfile.mkdtemp()) / "sweep", progress=False)


@functools.cache
def records():
    """A record of every kind that public functions return, by the name of its class."""
    binary = (Z > 0).astype(int)
    made = [
        evaluation(),
        unweave.compare(Z, {"a": Z, "b": Z**2}, metrics=["mcc", "r2"], quick=True, budget=1.0, progress=False),
        unweave.ladder(Z, Z, quick=True),
        unweave.metrics.mcc(Z, Z),
        unweave.metrics.dci_informativeness(np.round(Z), Z),
        unweave.diagnose(evidence_of(3)),
        unweave.noise_floor(unweave.metrics.mcc, evidence_of(1), n_draws=19),
        unweave.spectrum(unweave.synthetic.known_decoders.LinearDecoder(np.eye(3))),
        unweave.probe(Z, {"a": Z, "b": Z**2}, probes=("linear",), n_folds=2),
        unweave.similarity(Z, Z),
        unweave.environments(Z, np.where(np.arange(ROWS) % 2, "observational", "a")),
        unweave.unlabelled({"a": Z, "b": Z**2}),
        unweave.recovery(Z, Z**2),
        unweave.audit(
            unweave.metrics.mcc,
            n_seeds=2,
            budget=1.0,
            grid=USUAL["grid"](None),
            adversary=False,
            further=False,
            progress=False,
        ),
        comparison(),
        unweave.trust.interval(unweave.metrics.r2, evidence_of(1)),
        unweave.trust.samples_needed(comparison(), difference=0.1),
        unweave.trust.verdicts(
            {"mcc": mcc}, {"mcc": mcc(evidence_of(1))}, evidence_of(1), unweave.diagnose(evidence_of(1))
        )["mcc"],
        unweave.sweeps.measured("mcc", lambda: unweave.metrics.mcc(Z, Z)),
        unweave.integrations.monitor.History({0: evaluation()}),
        _models(None),
        _models(None)[0],
        leaderboard(folder()),
        concepts.code_usage(Z),
        concept_report(binary, Z),
        concepts.dictionary_matching(Z, Z),
        concepts.screened_codes(binary, Z),
        concepts.single_codes(binary, Z),
        concepts.k_sparse_probing(binary, Z, k=(1, 2)),
        concepts.split_concepts(binary, Z),
    ]
    return [entry for entry in made if entry is not None]


def _record_call(rng):
    """A method of a record with odd arguments, a rendering, or the reading of its own JSON with one wrong entry."""
    made = records()
    record = made[int(rng.integers(0, len(made)))]
    kind = type(record)
    methods = [
        name
        for name in dir(kind)
        if not name.startswith("_")
        and (
            inspect.isfunction(entry := getattr(kind, name))
            or inspect.ismethod(entry)
            or isinstance(inspect.getattr_static(kind, name), property)
        )
        and getattr(inspect.unwrap(entry) if callable(entry) else entry.fget, "__module__", "").startswith("unweave")
    ]
    name = str(rng.choice([*methods, "__str__", "__repr__"]))
    if name in ("from_json", "from_dict", "load"):
        return _damaged_call(rng, record, name)
    if name in ("save",) or isinstance(inspect.getattr_static(kind, name, None), property):
        target = Path(tempfile.gettempdir()) / "nowhere" / "x.json"
        return (lambda: record.save(target)) if name == "save" else (
            lambda: getattr(record, name)
        ), f"{kind.__name__}.{name}"
    given, words = _arguments(rng, getattr(record, name), f"{kind.__name__}.{name}")
    if name == "plot" or "figure" in name:
        given = {key: value for key, value in given.items() if key != "ax"}
    if "path" in given and rng.random() < 0.8:
        given["path"] = None if rng.random() < 0.5 else Path(tempfile.gettempdir()) / "nowhere" / "x.html"

    def call():
        found = getattr(record, name)(**given)
        if name == "plot":
            import matplotlib.pyplot as plt

            plt.close("all")
        return found

    return call, f"{kind.__name__}.{name}({words})"


def _damaged_call(rng, record, name):
    plain = json.loads(record.to_json()) if hasattr(record, "to_json") else json.loads(json.dumps(record.to_dict()))
    plain = copy.deepcopy(plain)
    entry, key, holder = plain, None, None
    while isinstance(entry, (dict, list)) and entry and (holder is None or rng.random() < 0.85):
        holder, key = (
            entry,
            list(entry)[int(rng.integers(0, len(entry)))]
            if isinstance(entry, dict)
            else int(rng.integers(0, len(entry))),
        )
        entry = holder[key]
    wrong = [None, -1, 10**30, "x", [], {}, [[1]], {"kind": "?"}, True, 1e308, float("nan")][int(rng.integers(0, 11))]
    if holder is not None and rng.random() < 0.2:
        del holder[key]
    elif holder is not None:
        holder[key] = wrong
    text = json.dumps(plain)
    if rng.random() < 0.1:
        text = text[: int(rng.integers(0, len(text)))]
    kind = type(record)
    words = f"{kind.__name__}.{name}({key}: {_short(wrong)})"
    if name == "load":
        path = folder() / "damaged.json"

        def loaded():
            path.write_text(text)
            return str(kind.load(path))

        return loaded, words
    if name == "from_json":
        return lambda: str(kind.from_json(text)), words
    return lambda: str(kind.from_dict(plain)), words
