"""The picture's data and the picture: bands of one representation, intervals of several."""

import numpy as np
import pytest

from unweave import Evidence, Posterior
from unweave.estimators import GaussianInformation, MixtureSampling
from unweave.report.figures.information import band_figure, interval_figure
from unweave.report.summary import factor_bands, term_intervals
from unweave.synthetic.attacks import Redundancy, Synergy

FACTORS = np.random.default_rng(0).integers(0, 3, size=(600, 2))
PLAIN = Posterior(FACTORS - 1.0, np.full((600, 2), 0.4))
SAMPLING = MixtureSampling(300)
CASES = {"plain": PLAIN, "redundant": Redundancy(3.0).attack(PLAIN), "synergistic": Synergy(2.0).attack(PLAIN)}
EVIDENCE = {name: Evidence(FACTORS, codes, kinds="categorical") for name, codes in CASES.items()}


def test_bands_show_redundancy_and_synergy():
    for name, sign in {"redundant": 1, "synergistic": -1}.items():
        for band, j in zip(factor_bands(EVIDENCE[name], SAMPLING), range(2), strict=True):
            assert (band.factor, band.code) == (f"factor {j}", f"code {j}")
            assert sign * band.interaction > 0.1
            assert max(band.single, band.rest) <= band.whole <= band.entropy + 1e-9


def test_intervals_are_ordered():
    for evidence in EVIDENCE.values():
        for low, high in term_intervals(evidence, SAMPLING).values():
            assert 0 <= low <= high <= 1


def test_closed_forms_have_no_entropy():
    evidence = Evidence(FACTORS, PLAIN)
    assert np.isnan(factor_bands(evidence, GaussianInformation())[0].entropy)


def test_pictures_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    band_figure(factor_bands(EVIDENCE["redundant"], SAMPLING)).savefig(tmp_path / "bands.png")
    intervals = {name: term_intervals(evidence, SAMPLING) for name, evidence in EVIDENCE.items()}
    interval_figure(intervals).savefig(tmp_path / "intervals.png")
    assert all((tmp_path / name).stat().st_size > 5000 for name in ("bands.png", "intervals.png"))


def test_without_matplotlib_a_sentence_says_what_to_install(monkeypatch):
    import builtins

    plain_import = builtins.__import__

    def refusing(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError
        return plain_import(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refusing)
    with pytest.raises(ImportError, match="pip install"):
        interval_figure({"plain": {"unique": (0.1, 0.2)}})
