"""The picture of an audit: one panel for each property."""

import numpy as np
import pytest

from unweave import InputError
from unweave.auditing import audit

pytest.importorskip("matplotlib")
from unweave.report.figures.scores import audit_figure


def test_the_picture_has_a_panel_for_each_property(small):
    figure = audit_figure(audit(lambda factors, codes: 0.5, grid=small, n_seeds=2, adversary=False))
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["P1 satisfied", "P2 violated", "P3 satisfied", "P4 violated"]
    level = figure.axes[3].lines[0].get_ydata()
    assert set(level) == {0.5}
    assert figure.axes[3].get_ylim() == (-0.04, 1.06)


def test_panels_of_changes_end_a_tenth_beyond_what_they_show(small):
    figure = audit_figure(audit("mcc", grid=small, n_seeds=2, adversary=False, further=False))
    for axes in (figure.axes[0], figure.axes[2]):
        shown = np.concatenate(
            [line.get_ydata() for line in axes.lines]
            + [path.vertices[:, 1] for area in axes.collections for path in area.get_paths()]
        )
        low, high = axes.get_ylim()
        assert low == pytest.approx(1.1 * min(shown.min(), -0.2))
        assert high == pytest.approx(1.1 * max(shown.max(), 0.2))


def test_there_is_no_picture_of_what_was_not_audited():
    with pytest.raises(InputError, match="cannot be drawn"):
        audit_figure(audit("rmig"))
