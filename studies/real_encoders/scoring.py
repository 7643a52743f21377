"""Ladders of all cells, and the comparison of what they say with what setting the factors shows."""

from __future__ import annotations

import csv
import hashlib
import json
import time
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr
from sklearn.model_selection import KFold

from studies.real_encoders import cells
from studies.real_encoders.encoders import ENCODERS
from studies.real_encoders.sources import SOURCES
from studies.real_encoders.truth import directions, explained, shares

CLOSE, CLOSE_LEAKAGE = 0.05, 0.1  # differences that count as agreement
NOTHING = 0.05  # recovery, or effect on codes, below which a factor counts as not there
# beside the statements of the ladder, for comparison
REFERENCES = ("direction of a plain probe", "leakage to leakage + noise")
NUMBERS = ("one_code", "own_codes", "direction", "readable", "leakage")


def library_digest():
    """Digest of the files of the ladder, which every stored result carries."""
    import unweave.identifiability

    digest = hashlib.sha256()
    for path in sorted(Path(unweave.identifiability.__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def plain_probe(values, codes, factor):
    """Held-out R2 of a ridge on the rows as they are, which dependent factors inflate."""
    target, predicted = factor.targets(values), []
    for fit, held in KFold(5, shuffle=True, random_state=0).split(codes):
        mean, weights, centre = directions(codes[fit], target[fit])
        predicted.append(((codes[held] - mean) @ weights + centre, target[held]))
    return explained(
        np.concatenate([t for _, t in predicted]), np.concatenate([p for p, _ in predicted]), target.mean(0)
    )


def direction_when_set(source, weights, set_values, set_codes):
    """Recovery and leakage of given readouts, measured by setting factors."""
    records = {}
    for j, factor in enumerate(source.factors):
        if factor.name not in weights:
            continue
        readout = {name: rows @ weights[factor.name] for name, rows in set_codes.items()}
        values = np.concatenate([set_values["base"][:, j], set_values["fresh"][:, j]])
        target, read = factor.targets(values), np.concatenate([readout["base"], readout["fresh"]])
        target, read = target - target.mean(0), read - read.mean(0)
        if read.shape[1] == 1 and target.shape[1] == 2:
            target = target[:, 1:]  # two classes have one readout
        total = np.square(target).sum() * np.square(read).sum()
        alone, noise = shares(list(set_values), readout, source.factors)[1]
        records[factor.name] = {
            "direction_set": (target * read).sum() ** 2 / total if total > 0 else 0.0,
            "leakage_set": max(1 - noise - alone[j], 0.0),
        }
    return records


def stored(name, layer, derived, dependence):
    """Where the ladder of a cell is stored."""
    return cells.CACHE / f"ladders.{library_digest()}" / f"{name}.{layer}.{derived or 'plain'}.{dependence}.json"


def ladder_of(name, layer, derived, dependence):
    """The ladder's row of every factor with what setting the factors gives for its own directions."""
    path = stored(name, layer, derived, dependence)
    if not path.is_file():
        import unweave

        source = SOURCES[ENCODERS[name].source]
        values, codes, _ = cells.codes_of(name, layer, derived, dependence)
        table = {factor.name: column for factor, column in zip(source.factors, values.T, strict=True)}
        kinds = {factor.name: factor.unweave_kind for factor in source.factors}
        start = time.process_time()
        ladder = unweave.ladder(table, codes, kinds=kinds)
        seconds = time.process_time() - start
        set_values, set_codes, names = cells.codes_of(name, layer, derived, "interventions")
        measured = direction_when_set(
            source, ladder.directions, cells.by_set(set_values, names), cells.by_set(set_codes, names)
        )
        records = []
        for j, row in enumerate(ladder.rows):
            record = {"encoder": name, "layer": layer, "derived": derived, "dependence": dependence}
            record |= {"factor": row.factor, "rung": row.rung, "leaks_into": row.leaks_into, "probe": row.probe}
            record |= {key: getattr(row, key) for key in (*NUMBERS, "noise", "p_value", "dependence_p_value")}
            for key, (low, high) in row.intervals.items():
                record |= {f"{key}_low": low, f"{key}_high": high}
            record |= measured.get(row.factor, {})
            if dependence != "independent":
                record["plain"] = plain_probe(values[:, j], np.asarray(codes, float), source.factors[j])
            record |= {"axes_p_value": ladder.axes_p_value, "basis_p_value": ladder.basis_p_value}
            record |= {"value": ladder.value, "cpu_seconds": seconds}
            records.append({k: v if isinstance(v, str) else float(v) for k, v in record.items()})
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(records), encoding="utf-8")
        print(f"ladder of {name}, {layer} {derived} {dependence}: {seconds:.1f} CPU s", flush=True)
    return json.loads(path.read_text(encoding="utf-8"))


def all_cells(half=None):
    """All (encoder, layer, derived, dependence), or those of one half: choosing or scored."""
    chosen = []
    for name, layer, derived in cells.representations():
        for dependence in cells.dependences(name) if derived in ("", "ica") else ("independent",):
            if half in (None, "choosing" if cells.choosing(name, derived, dependence) else "scored"):
                chosen.append((name, layer, derived, dependence))
    return chosen


def best_probe(truth):
    """Held-out R2 of the best independent probe."""
    return max(truth["ridge"], truth["knn"], truth["boosting"], truth["kernel"], 0)


def acceptable_rungs(truth):
    """The rungs that the truth allows, if each of its numbers may be wrong by .05."""
    best = best_probe(truth)
    own = max(truth["one_code"], truth["own_codes"])
    linear = max(truth["ridge"], own)
    rungs = set()
    if best < 2 * NOTHING:
        moved = truth["effect"] > NOTHING / 5
        if not moved or truth["effect"] < 2 * NOTHING:
            rungs.add("absent")
        if moved:
            rungs.add("joint")
        if truth["largest_share"] > 0.2:
            rungs.add("folded")
    if best > 0.02:
        signal = max(1 - truth["noise"], 0.05)
        if linear + CLOSE >= 0.75 * (best - CLOSE):
            if truth["one_code"] + CLOSE >= 0.85 * (linear - CLOSE):
                rungs.add("one code")
            if own + CLOSE >= 0.85 * (linear - CLOSE):
                rungs.add("own codes")
            if truth["leakage"] - CLOSE <= 0.1 * signal and own - CLOSE < 0.85 * (linear + CLOSE):
                rungs.add("own direction")
        if linear - CLOSE < 0.75 * (best + CLOSE) or truth["leakage"] + CLOSE > 0.1 * signal:
            rungs.add("readable")
    return rungs


def judged(row, truth):
    """Statements of one row, each right (True) or wrong; a statement that was not made is left out."""
    best = best_probe(truth)
    found = row["rung"] not in ("absent", "joint", "folded", "implied")
    made = {"rung": row["rung"] in acceptable_rungs(truth)}
    if not found:
        made[f"{row['rung']}: not readable"] = best < 2 * NOTHING
        if row["rung"] == "absent":
            made["absent: codes do not change"] = truth["effect"] < 2 * NOTHING
    made["direction"] = abs(row["direction"] - max(truth["ridge"], 0)) <= CLOSE
    if row["dependence"] != "independent":
        made["direction of a plain probe"] = abs(max(row["plain"], 0) - max(truth["ridge"], 0)) <= CLOSE
    made["readable"] = abs(row["readable"] - best) <= CLOSE
    if found:
        made["one_code"] = abs(row["one_code"] - truth["one_code"]) <= 2 * CLOSE
        made["leakage"] = abs(row["leakage"] - row["leakage_set"]) <= CLOSE_LEAKAGE
        most = row["leakage"] + row["noise"] + CLOSE_LEAKAGE
        made["leakage to leakage + noise"] = row["leakage"] - CLOSE_LEAKAGE <= row["leakage_set"] <= most
        if row["leakage"] > CLOSE_LEAKAGE and row["leaks_into"]:
            made["leaks at all"] = row["leakage_set"] > CLOSE_LEAKAGE / 2
    return made


def judgements(some):
    """One record per statement."""
    records = []
    for cell in some:
        by_factor = {truth["factor"]: truth for truth in cells.truth_of(*cell[:3])}
        for row in ladder_of(*cell):
            truth = by_factor[row["factor"]]
            for statement, right in judged(row, truth).items():
                key = {k: row[k] for k in ("encoder", "layer", "derived", "dependence", "factor", "rung")}
                records.append(key | {"statement": statement, "right": int(right)})
    return records


def run(some=None):
    """Ladders of all cells or some, and the tables of rows and of judged statements."""
    some = all_cells() if some is None else some
    common = {"library": library_digest()}
    rows = []
    for name, layer, derived, dependence in some:
        half = "choosing" if cells.choosing(name, derived, dependence) else "scored"
        rows += [{"half": half} | row | common for row in ladder_of(name, layer, derived, dependence)]
    cells.write_rows(cells.RESULTS / "ladders.csv", rows)
    cells.write_rows(cells.RESULTS / "statements.csv", judgements(some))


def write_stored():
    """The tables of the cells that are there."""
    there = [cell for cell in all_cells() if stored(*cell).is_file()]
    print(f"{len(there)} of {len(all_cells())} ladders are there")
    cells.write_codes()
    truths = dict.fromkeys(cell[:3] for cell in there)
    cells.write_rows(cells.RESULTS / "truths.csv", (record for cell in truths for record in cells.truth_of(*cell)))
    run(there)


def share_by_encoder(records, draws=2000):
    """Share of right statements, counted over encoders, with a 95 % interval from resampled encoders."""
    per = {}
    for record in records:
        per.setdefault(record["encoder"], []).append(int(record["right"]))
    means = np.array([np.mean(values) for values in per.values()])
    resampled = np.random.default_rng(0).choice(means, (draws, len(means))).mean(1)
    return means.mean(), *np.quantile(resampled, [0.025, 0.975]), sum(map(len, per.values())), len(means)


def stored_table(name):
    """The rows of a table of the results."""
    with (cells.RESULTS / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def plain_rows(row):
    """Whether a row is of independent factors."""
    return row["dependence"] == "independent"


def table():
    """Print right statements by kind, half and dependence, from the stored table."""
    records = stored_table("statements")
    for half in ("choosing", "scored"):
        for label, wanted in (
            ("independent", lambda d: d == "independent"),
            ("dependent", lambda d: d != "independent"),
        ):
            some = [
                r
                for r in records
                if wanted(r["dependence"])
                and (half == "choosing") == cells.choosing(r["encoder"], r["derived"], r["dependence"])
            ]
            print(f"\n{half}, {label} factors")
            for statement in [*dict.fromkeys(r["statement"] for r in some), "all"]:
                kept = [
                    r
                    for r in some
                    if r["statement"] == statement or (statement == "all" and r["statement"] not in REFERENCES)
                ]
                share, low, high, n, encoders = share_by_encoder(kept)
                print(f"  {statement:28} {share:.3f} ({low:.2f} to {high:.2f}), {n} statements, {encoders} encoders")
    layers_and_twins()


def layers_and_twins():
    """Print how the ladder orders layers, and what training adds over the shuffled twin, beside the truth."""
    key = ("encoder", "layer", "derived", "factor")
    stated = {tuple(r[k] for k in key): float(r["direction"]) for r in stored_table("ladders") if plain_rows(r)}
    true = {tuple(r[k] for k in key): max(float(r["ridge"]), 0) for r in stored_table("truths")}
    first = [key for key in stated if key[1] == ENCODERS[key[0]].layers[0]]
    changes = {}
    for key in first:
        second = (key[0], ENCODERS[key[0]].layers[1], "", key[3])
        changes.setdefault(key[0], []).append((stated[second] - stated[key], true[second] - true[key]))
    rng, names = np.random.default_rng(0), list(changes)

    def correlation(some):
        return spearmanr(np.concatenate([changes[name] for name in some])).statistic

    draws = [correlation(rng.choice(names, len(names))) for _ in range(500)]
    low, high = np.quantile(draws, [0.025, 0.975])
    print(f"\nchange of direction between layers, rank correlation {correlation(names):.3f} ({low:.2f} to {high:.2f})")
    for name in cells.TWINS:
        layer = ENCODERS[name].layers[1]
        gains = []
        for key in stated:
            twin = (name, layer, "twin", key[3])
            if key[:3] == (name, layer, "") and twin in stated:
                gains.append(f"{key[3]} {true[key] - true[twin]:+.2f} (stated {stated[key] - stated[twin]:+.2f})")
        print(f"{name}, trained minus shuffled: " + ", ".join(gains))
