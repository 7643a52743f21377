"""The colour scales differ in lightness, and text is readable on every colour."""

import io

import numpy as np
import pytest

from unweave.report.html import DARK, LIGHT, UNDEFINED, contrast, luminance, png, text_on


@pytest.mark.parametrize(("ramp", "sign"), [(LIGHT, -1), (DARK, 1)])
def test_luminance_goes_one_way_in_steps_that_can_be_seen(ramp, sign):
    steps = sign * np.diff([luminance(colour) for colour in ramp])
    assert (steps > 0).all()
    assert contrast(ramp[0], ramp[-1]) > 8


@pytest.mark.parametrize("ramp", [LIGHT, DARK])
def test_numbers_can_be_read_on_every_colour(ramp):
    assert min(contrast(colour, text_on(colour)) for colour in ramp) >= 4.5


def test_pictures_are_png_with_the_colours_of_the_values():
    image = pytest.importorskip("PIL.Image", reason="Pillow reads the picture back")
    values = [[0.0, 0.5, 1.0], [None, 2.0, -1.0]]
    read = np.asarray(image.open(io.BytesIO(png(values, (0.0, 1.0), LIGHT))).convert("RGB"))
    low, middle, high = LIGHT[0], LIGHT[10], LIGHT[20]
    assert read.tolist() == [[list(low), list(middle), list(high)], [list(UNDEFINED), list(high), list(high)]]


def test_luminance_of_the_primaries_is_that_of_srgb():
    primaries = [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)]
    assert [luminance(colour) for colour in primaries] == pytest.approx([0.2126, 0.7152, 0.0722, 1.0])


@pytest.mark.parametrize(("grey", "expected"), [(10, 0.0030353), (11, 0.00334654), (128, 0.2158605), (188, 0.5028865)])
def test_luminance_of_greys_is_the_curve_of_srgb(grey, expected):
    """The curve is straight up to 10 of 255 and a power of 2.4 from 11 on."""
    assert luminance((grey,) * 3) == pytest.approx(expected, rel=1e-5)
