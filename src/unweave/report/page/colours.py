"""One hue from little to much, for light and dark pages: lightness alone tells values apart, so anyone can read it."""

from __future__ import annotations

import math
from dataclasses import dataclass

N_LEVELS = 21
Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Ramp:
    """Colours of OKLCH from ``low`` to ``high`` lightness; chroma peaks between, because the ends have little room."""

    low: float
    high: float
    hues: tuple[float, float]
    chroma: float

    def colour(self, share: float) -> Colour:
        """Colour for a share of the scale."""
        lightness = self.low + share * (self.high - self.low)
        hue = math.radians(self.hues[0] + share * (self.hues[1] - self.hues[0]))
        # none at the white end, all of it from the middle on, a little less at the dark end
        away = min(1.0, 1.9 * min(1.02 - lightness, lightness * 1.15))
        return _srgb(lightness, self.chroma * max(0.0, away) * (0.2 + 0.8 * share**0.35), hue)

    @property
    def levels(self) -> list[Colour]:
        """The colours of all levels."""
        return [self.colour(k / (N_LEVELS - 1)) for k in range(N_LEVELS)]


LIGHT = Ramp(0.975, 0.31, (235.0, 268.0), 0.135)
DARK = Ramp(0.25, 0.93, (268.0, 205.0), 0.125)
INK, PAPER = (0, 0, 0), (255, 255, 255)  # one of them has a contrast of 4.58 or more on any colour


def level_of(value: float | None, scale: tuple[float, float]) -> int | None:
    """Level of a value by its absolute size; None where there is no value.

    >>> level_of(0.5, (0.0, 1.0)), level_of(-1.0, (0.0, 1.0)), level_of(None, (0.0, 1.0))
    (10, 20, None)
    """
    if value is None:
        return None
    share = (abs(value) - scale[0]) / (scale[1] - scale[0])
    return round(min(1.0, max(0.0, share)) * (N_LEVELS - 1))


def text_on(colour: Colour) -> Colour:
    """Black or white, whichever is easier to read on a colour."""
    return max(INK, PAPER, key=lambda ink: contrast(ink, colour))


def contrast(one: Colour, other: Colour) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2).

    >>> round(contrast((0, 0, 0), (255, 255, 255)), 1)
    21.0
    """
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: Colour) -> float:
    """Relative luminance of a colour, 0 to 1."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (part / 255 for part in colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def hexadecimal(colour: Colour) -> str:
    """Colour as CSS writes it.

    >>> hexadecimal((255, 0, 16))
    '#ff0010'
    """
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _srgb(lightness: float, chroma: float, hue: float) -> Colour:
    """OKLCH to sRGB, clipped (Ottosson, 'A perceptual color space for image processing')."""
    a, b = chroma * math.cos(hue), chroma * math.sin(hue)
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )
    red, green, blue = (_encoded(part) for part in linear)
    return red, green, blue


def _encoded(part: float) -> int:
    clipped = min(1.0, max(0.0, part))
    return round(255 * (12.92 * clipped if clipped <= 0.0031308 else 1.055 * clipped ** (1 / 2.4) - 0.055))
