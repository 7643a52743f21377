"""Which codes the models explain almost completely."""

from types import SimpleNamespace

import numpy as np
import pytest

from unweave.trust import counterpart as drawn_codes

SIGNS = np.tile([[1.0], [-1.0]], (20, 1))


@pytest.mark.parametrize(("share", "expected"), [(0.0, True), (0.9, True), (1.1, False)])
def test_codes_are_explained_below_a_share_of_their_variance(share, expected):
    """A code of variance 9 with a model of its values, one of variance 4 with a model of its scores, and noise."""
    left = np.sqrt(share * drawn_codes.OWN_INFORMATION)
    found = SimpleNamespace(
        of_codes=np.array([True, False, False]),
        codes=SIGNS * [3.0, 100.0, 1.0],
        code_scores=SIGNS * [100.0, 2.0, 1.0],
        residuals=SIGNS * [3.0 * left, 2.0 * left, 1.0],
    )
    drawn = SimpleNamespace(responses=found)
    assert drawn_codes.DrawnCodes._explained(drawn, np.array([0, 1])) is expected
    assert drawn_codes.DrawnCodes._explained(drawn, np.array([0])) is expected
    assert drawn_codes.DrawnCodes._explained(drawn, np.array([0, 2])) is False
