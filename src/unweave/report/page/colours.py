"""Colour scales of the matrices, for light and dark pages.

Values differ in lightness, so that readers with a colour vision deficiency can read the scale as well.
"""

from __future__ import annotations

Colour = tuple[int, int, int]


def _ramp(text: str) -> tuple[Colour, ...]:
    red_green_blue = (bytes.fromhex(word) for word in text.split())
    return tuple((red, green, blue) for red, green, blue in red_green_blue)


# Both scales are defined in OKLCH. Light: lightness .975 to .31, hue 235 to 268. Dark: .25 to .93, hue 268 to 205.
# The chroma is largest in the middle.
LIGHT = _ramp(
    "f5f7f8 e6edf1 d8e3ea c9d8e4 bbcedd adc4d7 9ebad2 91afcc 83a5c7 759bc2 6890bd "
    "5b86b8 4f7bb3 4370ae 3865a9 2f5ba2 2a5096 274788 243d7a 21346c 1d2c5e"
)
DARK = _ramp(
    "1f2228 212a3d 24324b 283b5a 2a4568 2b4f77 2a5986 2c6492 336f9a 3d7aa2 4785a9 "
    "5390b0 5f9ab7 6ca5bd 7ab0c4 89bacb 98c4d1 a7cfd8 b7d9df c8e3e7 d8ecef"
)
N_LEVELS = len(LIGHT)
INK, PAPER = (0, 0, 0), (255, 255, 255)  # on any colour, one of the two has a contrast of at least 4.58


def level_of(value: float | None, scale: tuple[float, float]) -> int | None:
    """Return the index of the colour for an absolute value, or None if the value is undefined.

    >>> level_of(0.5, (0.0, 1.0)), level_of(-1.0, (0.0, 1.0)), level_of(None, (0.0, 1.0))
    (10, 20, None)
    """
    if value is None:
        return None
    share = (abs(value) - scale[0]) / (scale[1] - scale[0])
    return round(min(1.0, max(0.0, share)) * (N_LEVELS - 1))


def text_on(colour: Colour) -> Colour:
    """Return black or white, whichever has the higher contrast on a colour."""
    return max(INK, PAPER, key=lambda ink: contrast(ink, colour))


def contrast(one: Colour, other: Colour) -> float:
    """Return the contrast ratio of two colours, which lies between 1 and 21 (WCAG 2).

    >>> round(contrast((0, 0, 0), (255, 255, 255)), 1)
    21.0
    """
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: Colour) -> float:
    """Return the relative luminance of a colour, which lies between 0 and 1."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (part / 255 for part in colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def hexadecimal(colour: Colour) -> str:
    """Return a colour in the hexadecimal notation of CSS.

    >>> hexadecimal((255, 0, 16))
    '#ff0010'
    """
    return "#{:02x}{:02x}{:02x}".format(*colour)
