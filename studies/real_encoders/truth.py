"""What is true of codes, by setting factors: numpy and scikit-learn alone, nothing of unweave.

Probes are fitted on rows with independent factors and tested on other such rows. Effects come from the design of
`Source.interventions`: two rows that share one factor only covary by the effect of this factor alone, two rows that
share everything but the noise of the inputs covary by all effects.
"""

from __future__ import annotations

import numpy as np
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import SplineTransformer, StandardScaler

PENALTIES = 10.0 ** np.arange(-3, 6)
BINS = 20


def explained(target, prediction, centre):
    """R2 over all columns of a target."""
    return 1 - np.square(target - prediction).sum() / np.square(target - centre).sum()


def shares(sets, values, factors):
    """Shares of the variance of every column, and of all together: of each factor alone, and of noise."""

    def covariance(a, b):
        # with the mean and variance of these rows, so that a share of 1 is estimated without error
        a, b = values[a], values[b]
        centre = (a.mean(0) + b.mean(0)) / 2
        total = np.square(a - centre).mean(0) + np.square(b - centre).mean(0)
        return 2 * ((a - centre) * (b - centre)).mean(0), total

    def share(a, b):
        shared, total = covariance(a, b)
        return shared / np.maximum(total, 1e-30), shared.sum() / max(total.sum(), 1e-30)

    alone = [share("fresh", f"set {factor.name}") for factor in factors]
    again = share("base", "again") if "again" in sets else (np.ones(values["base"].shape[1]), 1.0)
    per_column = np.column_stack([a[0] for a in alone]), 1 - again[0]
    return per_column, (np.array([a[1] for a in alone]), 1 - again[1])


def total_effects(sets, codes, factors):
    """How much of the most affected code's variance setting one factor changes, beyond what noise changes.

    The code is the most significant one on the first half of the rows and is measured on the second, so that no effect
    has the value 0.
    """
    spread = np.concatenate([codes[name] for name in sets]).var(0)
    alive = spread > 1e-6 * spread.max()
    half = len(codes["base"]) // 2

    def beyond_noise(name, rows):
        changes = np.square(codes["base"][rows] - codes[name][rows])[:, alive]
        if "again" in sets:
            changes = changes - np.square(codes["base"][rows] - codes["again"][rows])[:, alive]
        return changes.mean(0) / (2 * spread[alive]), changes.mean(0) / np.maximum(changes.std(0), 1e-30)

    def effect(name):
        code = beyond_noise(name, slice(None, half))[1].argmax()
        return beyond_noise(name, slice(half, None))[0][code]

    return np.array([effect(f"set {factor.name}") for factor in factors])


def directions(codes, targets):
    """A ridge of every target on standardised codes: predictions are `(codes - mean) @ weights + centre`."""
    scale = np.where(codes.std(0) > 1e-9 * codes.std(0).max(), codes.std(0), np.inf)
    mean = codes.mean(0)
    fitted = RidgeCV(PENALTIES, alpha_per_target=True).fit((codes - mean) / scale, targets)
    return mean, np.atleast_2d(fitted.coef_).T / scale[:, None], fitted.intercept_


def ridge_predictions(codes, targets, test):
    """Out-of-fold predictions of the rows, and those of test rows by each of the five fits."""
    own, other = np.empty_like(targets), []
    for fit, held in KFold(5, shuffle=True, random_state=0).split(codes):
        mean, weights, centre = directions(codes[fit], targets[fit])
        own[held] = (codes[held] - mean) @ weights + centre
        other.append((test - mean) @ weights + centre)
    return own, other


def binned(codes, test, targets, test_targets):
    """R2 of every target from every code alone, by means within 20 bins: of the rows themselves, and of test rows."""
    own, other = np.zeros(codes.shape[1]), np.zeros(codes.shape[1])
    centre = targets.mean(0)
    for i in range(codes.shape[1]):
        edges = np.unique(np.quantile(codes[:, i], np.linspace(0, 1, BINS + 1)[1:-1]))
        places = np.searchsorted(edges, codes[:, i])
        counts = np.bincount(places, minlength=len(edges) + 1)[:, None]
        sums = np.stack([np.bincount(places, t, len(edges) + 1) for t in targets.T], axis=1)
        means = np.where(counts > 0, sums / np.maximum(counts, 1), centre)
        own[i] = explained(targets, means[places], centre)
        other[i] = explained(test_targets, means[np.searchsorted(edges, test[:, i])], centre)
    return own, other


def kernel_predictions(codes, targets, test):
    """Ridge in the space of a Gaussian kernel; width and penalty by three folds."""
    search = GridSearchCV(
        KernelRidge(kernel="rbf"),
        {"gamma": [g / codes.shape[1] / codes.var() for g in (0.1, 0.5)], "alpha": [0.01, 0.1, 1]},
        cv=KFold(3, shuffle=True, random_state=0),
    )
    centre = targets.mean(0)
    return search.fit(codes, targets - centre).predict(test) + centre


def own_block(codes, targets, test, test_targets, purity, order):
    """Best R2 of splines of the purest codes, times the lowest purity among them."""
    best = 0.0
    size = 1
    while size <= min(64, len(order)) or size // 2 < len(order) <= 64:
        block = order[:size]
        columns = SplineTransformer(5, knots="uniform", extrapolation="constant").fit(codes[:, block])
        scale = StandardScaler().fit(columns.transform(codes[:, block]))
        fit = [scale.transform(columns.transform(rows[:, block])) for rows in (codes, test)]
        model = RidgeCV(PENALTIES).fit(fit[0], targets)
        value = explained(test_targets, model.predict(fit[1]).reshape(test_targets.shape), targets.mean(0))
        best = max(best, value * min(1.0, purity[block].min()))
        size *= 2
    return best


def truths(source, values, codes, set_values, set_codes):
    """One record per factor from independent rows (values, codes) and interventions (by name of the set)."""
    factors, sets = source.factors, list(set_values)
    codes = np.asarray(codes, float)
    set_codes = {name: np.asarray(rows, float) for name, rows in set_codes.items()}
    both = np.concatenate([values, set_values["base"], set_values["fresh"]])
    test = np.concatenate([set_codes["base"], set_codes["fresh"]])
    n = len(values)
    columns = [factor.targets(both[:, j]) for j, factor in enumerate(factors)]
    at = np.cumsum([0, *(c.shape[1] for c in columns)])
    targets = np.column_stack(columns)
    own, other = ridge_predictions(codes, targets[:n], test)
    mean, weights, _ = directions(codes, targets[:n])
    # a code may follow a factor on both sides of its median, so its distance from the median is looked at as well
    middle = np.median(codes, axis=0)
    viewed, viewed_test = (np.column_stack([rows, np.abs(rows - middle)]) for rows in (codes, test))
    viewed_sets = {name: np.column_stack([rows, np.abs(rows - middle)]) for name, rows in set_codes.items()}
    per_code, noise_per_code = shares(sets, viewed_sets, factors)[0]
    effects = total_effects(sets, set_codes, factors)
    scaler = StandardScaler().fit(codes)
    components = PCA(min(30, *codes.shape), random_state=0).fit(scaler.transform(codes))
    reduced, reduced_test = (components.transform(scaler.transform(rows)) for rows in (codes, test))
    smooth = kernel_predictions(reduced, targets[:n], reduced_test)
    whitened = kernel_predictions(reduced / reduced.std(0), targets[:n], reduced_test / reduced.std(0))
    records = []
    for j, factor in enumerate(factors):
        part = slice(at[j], at[j + 1])
        here, there = targets[:n, part], targets[n:, part]
        centre = here.mean(0)
        errors = np.square(here - own[:, part]).sum() + np.mean([np.square(there - o[:, part]).sum() for o in other])
        ridge = 1 - errors / (np.square(here - centre).sum() + np.square(there - centre).sum())
        near = KNeighborsRegressor(10, weights="distance").fit(reduced, here).predict(reduced_test)
        in_rows, in_test = binned(viewed, viewed_test, here, there)
        first = np.argsort(-in_rows[: codes.shape[1]])[:24]
        mixed, mixed_test = (
            np.column_stack([reduced[:, :24], codes[:, first]]),
            np.column_stack([reduced_test[:, :24], test[:, first]]),
        )
        boosted = np.column_stack(
            [
                HistGradientBoostingRegressor(max_iter=60, learning_rate=0.12, max_leaf_nodes=12, random_state=0)
                .fit(mixed, column)
                .predict(mixed_test)
                for column in (here.T if here.shape[1] != 2 or factor.kind == "circular" else here.T[:1])
            ]
        )
        boosted = np.column_stack([boosted, 1 - boosted]) if boosted.shape[1] < here.shape[1] else boosted
        readout = {name: (rows - mean) @ weights[:, part] for name, rows in set_codes.items()}
        leaks, noise = shares(sets, readout, factors)[1]
        signal = np.maximum(1 - noise_per_code, 0.05)
        purity = np.clip(per_code[:, j] / signal, 0, 1)
        code = int(np.argmax(in_rows * purity))
        pure = np.flatnonzero((purity >= 0.55) & (per_code[:, j] > 0.05))
        order = pure[np.argsort(-(per_code * purity[:, None])[pure, j])]
        others = np.where(np.arange(len(factors)) == j, -np.inf, leaks)
        records.append(
            {
                "factor": factor.name,
                "ridge": ridge,
                "knn": explained(there, near, centre),
                "boosting": explained(there, boosted, centre),
                "kernel": max(explained(there, smooth[:, part], centre), explained(there, whitened[:, part], centre)),
                "one_code": max(in_test[code], 0) * purity[code],
                "code": code % codes.shape[1],
                "purity": purity[code],
                "own_codes": own_block(viewed, here, viewed_test, there, purity, order) if len(order) else 0.0,
                "largest_share": per_code[:, j].max(),
                "leakage": max(1 - noise - leaks[j], 0.0),
                "leaks_into": factors[int(np.argmax(others))].name,
                "leak_largest": others.max(),
                "noise": noise,
                "effect": effects[j],
            }
        )
    return records
