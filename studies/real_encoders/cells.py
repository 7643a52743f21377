"""Codes and truths on disk: what is there is not computed again."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import time
import zlib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA, FastICA

from studies.real_encoders.encoders import ENCODERS
from studies.real_encoders.sources import DEPENDENCES, SOURCES
from studies.real_encoders.truth import truths

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("REAL_ENCODERS_CACHE", HERE / "cache"))
RESULTS = HERE / "results"
CHOOSING = ("minilm", "crepe", "resemblyzer", "opennsfw", "ppocr_text", "vae_dsprites", "betab_dsprites")
CROSSED = tuple(ENCODERS) if os.environ.get("REAL_ENCODERS_CROSS") else ("minilm", "ddddocr", "factor_dsprites")
ROWS = int(os.environ.get("REAL_ENCODERS_ROWS", 0))  # 0: as many as the encoder's speed allows
TWINS = ("minilm", "crepe", "resemblyzer", "silero", "ppocr_upright", "ddddocr", "vae_dsprites", "factor_dsprites")


def dependences(name):
    """The dependences that an encoder is run with."""
    if name in CROSSED:
        return DEPENDENCES
    if name in CHOOSING:
        return ("independent", "correlated")
    rest = [encoder for encoder in ENCODERS if encoder not in CHOOSING and encoder not in CROSSED]
    return ("independent", ("confounded", "selected")[rest.index(name) % 2])


def derived_of(name, layer):
    """The representations of one layer that are scored."""
    plain = ("",)
    if layer != ENCODERS[name].layers[1]:
        return plain
    return plain + (("pca", "ica", "rotation") if name in CROSSED else ()) + (("twin",) if name in TWINS else ())


def choosing(name, derived, dependence):
    """Whether a cell belongs to the half on which rules may be chosen."""
    return (
        name in CHOOSING
        and derived in ("", "pca", "rotation")
        and dependence in ("independent", "correlated", "constrained")
    )


def seed(*parts):
    """Random numbers that depend on these names alone."""
    return np.random.default_rng(zlib.crc32("/".join(parts).encode()))


def installed(package):
    """Version of a package, or nothing."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def write_rows(path, rows):
    """A table, written whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = list(rows)
    with path.with_suffix(".part").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(dict.fromkeys(key for row in rows for key in row)), lineterminator="\n")
        table.writeheader()
        table.writerows({k: f"{v:.4f}" if isinstance(v, float) else v for k, v in row.items()} for row in rows)
    path.with_suffix(".part").replace(path)


def encode(name, part, twin=False):
    """Factors and codes of one part: a dependence, or `interventions`, whose sets follow each other."""
    path = CACHE / f"{name}{'.twin' if twin else ''}.{part}.npz"
    if not path.is_file():
        encoder, source = ENCODERS[name], SOURCES[ENCODERS[name].source]
        rng = seed(source.name, part)
        start = time.process_time()
        if part == "interventions":
            sets = source.interventions(encoder.sets, rng)
            values, names = np.concatenate(list(sets.values())), np.repeat(list(sets), encoder.sets)
        else:
            values, names = source.values(source.uniforms(ROWS or encoder.rows, part, rng)), np.array([])
        codes = encoder.load(twin)(source.inputs(values, rng))
        arrays = {layer: np.asarray(c, np.float32) for layer, c in zip(encoder.layers, codes, strict=True)}
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.with_suffix(".part").open("wb") as file:
            np.savez(file, factors=values, sets=names, **arrays)
        path.with_suffix(".part").replace(path)
        record = {
            "encoder": name,
            "twin": twin,
            "part": part,
            "source": source.name,
            "rows": len(values),
            "widths": " ".join(str(a.shape[1]) for a in arrays.values()),
            "package": encoder.package,
            "version": installed(encoder.package),
            "numpy": np.__version__,
            "onnxruntime": installed("onnxruntime"),
            "torch": installed("torch"),
            "sha256": hashlib.sha256(b"".join(a.tobytes() for a in arrays.values())).hexdigest()[:16],
            "cpu_seconds": round(time.process_time() - start, 1),
        }
        path.with_suffix(".json").write_text(json.dumps(record), encoding="utf-8")
    return np.load(path)


def mapped(derived, fitted_on):
    """The map of a derived representation, fitted on independent rows."""
    fitted_on = np.asarray(fitted_on, float)
    n_parts = min(32, fitted_on.shape[1])
    if derived in ("pca", "ica"):
        independent = FastICA(n_parts, max_iter=400, tol=1e-3, random_state=0)
        model = PCA(n_parts, random_state=0) if derived == "pca" else independent
        model.fit(fitted_on)
        return lambda codes: model.transform(np.asarray(codes, float))
    if derived == "rotation":
        turn = np.linalg.qr(np.random.default_rng(0).normal(size=(fitted_on.shape[1],) * 2))[0]
        return lambda codes: np.asarray(codes, float) @ turn
    return lambda codes: np.asarray(codes, float)


def codes_of(name, layer, derived, part):
    """Factors, codes and, for interventions, the names of the sets."""
    rows = encode(name, part, derived == "twin")
    apply = mapped(derived, encode(name, "independent")[layer]) if derived in ("pca", "ica", "rotation") else np.asarray
    return rows["factors"], apply(rows[layer]), rows["sets"]


def by_set(values, names):
    """Rows of each set of the interventions."""
    return {str(name): values[names == name] for name in dict.fromkeys(names.tolist())}


def truth_of(name, layer, derived):
    """The records of one representation, from the cache or computed."""
    path = CACHE / "truths" / f"{name}.{layer}.{derived or 'plain'}.json"
    if not path.is_file():
        start = time.process_time()
        values, codes, _ = codes_of(name, layer, derived, "independent")
        set_values, set_codes, names = codes_of(name, layer, derived, "interventions")
        records = truths(
            SOURCES[ENCODERS[name].source], values, codes, by_set(set_values, names), by_set(set_codes, names)
        )
        key = {"encoder": name, "layer": layer, "derived": derived}
        records = [key | {k: v if isinstance(v, str) else float(v) for k, v in r.items()} for r in records]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(records), encoding="utf-8")
        print(f"truth of {name}, {layer} {derived}: {time.process_time() - start:.1f} CPU s", flush=True)
    return json.loads(path.read_text(encoding="utf-8"))


def representations():
    """All (encoder, layer, derived) of the study."""
    return [(n, layer, derived) for n, e in ENCODERS.items() for layer in e.layers for derived in derived_of(n, layer)]


def write_codes():
    """The table of codes with versions and digests."""
    write_rows(RESULTS / "codes.csv", (json.loads(p.read_text(encoding="utf-8")) for p in sorted(CACHE.glob("*.json"))))


def run_codes_and_truths():
    """Encode everything, then measure the truths, and write both tables."""
    for name in ENCODERS:
        for part in (*dependences(name), "interventions"):
            encode(name, part)
        for part in ("independent", "interventions") if name in TWINS else ():
            encode(name, part, twin=True)
    write_codes()
    write_rows(RESULTS / "truths.csv", (record for cell in representations() for record in truth_of(*cell)))
