"""Inputs whose factors can be set: sentences, files, tones, vowels, letters, scenes, PushT, a light tunnel, dSprites.

A factor is a function of a number between 0 and 1, so that every dependence is a copula: the values of each factor have
the same frequencies in dependent and in independent rows, and one set of independent rows is the truth for all.
"""

from __future__ import annotations

import colorsys
import os
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy.signal import lfilter
from scipy.stats import norm, rankdata

DEPENDENCES = ("independent", "correlated", "confounded", "constrained", "selected")


@dataclass(frozen=True)
class Factor:
    """A factor of a source: a number in a range, levels, a class, or an angle."""

    name: str
    kind: str  # number, class or circular
    low: float = 0.0
    high: float = 1.0
    levels: int = 0

    def values(self, uniform):
        """Values of uniform numbers; classes and levels are equally frequent."""
        if self.levels:
            return np.minimum(np.floor(uniform * self.levels), self.levels - 1)
        return self.low + (self.high - self.low) * uniform

    def targets(self, values):
        """Columns that a probe predicts: the number, indicators of the classes, or cosine and sine."""
        if self.kind == "class":
            return np.eye(self.levels)[values.astype(int)]
        if self.kind == "circular":
            turn = 2 * np.pi * (values - self.low) / ((self.levels or self.high) - self.low)
            return np.column_stack([np.cos(turn), np.sin(turn)])
        return ((values - values.mean()) / values.std())[:, None]

    @property
    def unweave_kind(self):
        """The kind as unweave states it."""
        if self.kind == "circular":
            return f"circular:{(self.levels or self.high) - self.low}"
        return "categorical" if self.kind == "class" else "ordinal" if self.levels else "continuous"


@dataclass(frozen=True)
class Source:
    """Factors, and a function from their values to inputs. `noisy` if inputs also vary with the factors held."""

    name: str
    factors: tuple[Factor, ...]
    render: Callable
    noisy: bool = False

    def uniforms(self, n, dependence, rng):
        """Uniform numbers, n x d. The dependence is between the first two factors, or the first three (confounded)."""
        u = rng.random((n, len(self.factors)))
        if dependence == "correlated":
            a = norm.ppf(u[:, 0])
            u[:, 1] = norm.cdf(0.8 * a + 0.6 * norm.ppf(u[:, 1]))
        elif dependence == "confounded":
            cause = rng.normal(size=(n, 1))
            u[:, :3] = norm.cdf(0.8 * cause + 0.6 * norm.ppf(u[:, :3]))
        elif dependence == "constrained":
            u[:, 1] = (u[:, 0] + 0.5 * u[:, 1] - 0.25) % 1
        elif dependence == "selected":
            while (rejected := u[:, 0] + u[:, 1] < 0.8).any():
                u[rejected, :2] = rng.random((rejected.sum(), 2))
            u[:, :2] = (rankdata(u[:, :2], axis=0) - 0.5) / n
        elif dependence != "independent":
            raise ValueError(f"There is no dependence {dependence!r}: choose one of {', '.join(DEPENDENCES)}.")
        return u

    def values(self, uniforms):
        """Values of all factors, n x d."""
        return np.column_stack([factor.values(u) for factor, u in zip(self.factors, uniforms.T, strict=True)])

    def inputs(self, values, rng):
        """Inputs with these values of the factors."""
        return self.render({f.name: v for f, v in zip(self.factors, values.T, strict=True)}, rng)

    def sample(self, n, dependence, rng):
        """Factors and inputs of n rows."""
        values = self.values(self.uniforms(n, dependence, rng))
        return values, self.inputs(values, rng)

    def interventions(self, n, rng):
        """Rows of the pick-and-freeze design: base, fresh, again, and for each factor base with that factor of fresh.

        Fresh and a set row share one factor only; base and a set row share all others; base and again share all.
        """
        base, fresh = (self.uniforms(n, "independent", rng) for _ in range(2))
        sets = {"base": base, "fresh": fresh}
        if self.noisy:
            sets["again"] = base
        for j, factor in enumerate(self.factors):
            sets[f"set {factor.name}"] = np.where(np.arange(base.shape[1]) == j, fresh, base)
        return {name: self.values(u) for name, u in sets.items()}


NOUNS = (
    "concert singer melody guitar chorus drummer",
    "recipe kitchen soup baker dinner restaurant",
    "match striker referee stadium goal coach",
    "contract manager office meeting deadline report",
)
ADJECTIVES = ("awful dreadful terrible horrible disappointing poor", "wonderful excellent great superb delightful fine")
PLACES = ("near the river", "on Monday", "after the break", "in the north", "by the station", "at noon")
PLACES += ("with two others", "as usual")


def sentences(values, rng):
    """Short sentences; which noun, adjective and places are used is random."""
    texts = []
    for topic, past, plural, negated, positive, length in zip(*(values[f.name] for f in SENTENCES), strict=True):
        noun = rng.choice(NOUNS[int(topic)].split()) + ("s" if plural else "")
        noun = noun.replace("matchs", "matches").replace("melodys", "melodies")
        verb = (("is", "are"), ("was", "were"))[int(past)][int(plural)]
        words = [rng.choice(["The", "Our", "Their"]), noun, verb, *(["not"] if negated else [])]
        words.append(rng.choice(ADJECTIVES[int(positive)].split()))
        words += list(rng.choice(PLACES, int(length), replace=False))
        texts.append(" ".join(words) + ".")
    return texts


SENTENCES = (
    Factor("topic", "class", levels=4),
    Factor("past", "class", levels=2),
    Factor("plural", "class", levels=2),
    Factor("negated", "class", levels=2),
    Factor("positive", "class", levels=2),
    Factor("length", "number", levels=4),
)


def files(values, rng):
    """The bytes of small generated files in four formats."""
    out = []
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    for kind, lines, digits, length, capitals, crlf in zip(*(values[f.name] for f in FILES), strict=True):

        def word(digits=digits, length=length, capitals=capitals):
            if rng.random() < digits:
                return str(rng.integers(10, 100000))
            text = "".join(rng.choice(letters, max(2, rng.poisson(length))))
            return text.upper() if capitals else text

        rows = []
        for _ in range(round(2**lines)):
            a, b, c = word(), word(), word()
            rows.append(
                (f"def f_{a}(x):\n    return '{b}' + {c!r}", f'  "{a}": ["{b}", "{c}"],', f"{a},{b},{c}")[int(kind)]
                if kind < 3
                else f"<p class='{a}'>{b} {c}</p>"
            )
        head, tail = (
            ("import os", ""),
            ("{", '  "end": 0\n}'),
            ("id,name,value", ""),
            ("<html><body>", "</body></html>"),
        )[int(kind)]
        text = "\n".join([head, *rows, tail]) + "\n"
        out.append((text.replace("\n", "\r\n") if crlf else text).encode())
    return out


FILES = (
    Factor("format", "class", levels=4),
    Factor("lines", "number", 1, 5.5),
    Factor("digits", "number", 0, 0.8),
    Factor("word_length", "number", 3, 10),
    Factor("capitals", "class", levels=2),
    Factor("crlf", "class", levels=2),
)


def tones(rate, size):
    """Renderer of harmonic tones in noise, of this rate and number of samples."""

    def render(values, rng):
        time = np.arange(size) / rate
        out = np.empty((len(values["pitch"]), size), np.float32)
        for row, (pitch, tilt, snr, even, loudness) in enumerate(zip(*(values[f.name] for f in TONES), strict=True)):
            harmonic = np.arange(1, min(24, int(0.45 * rate / 2**pitch)) + 1)
            weight = harmonic**-tilt * np.where(harmonic % 2, 1, even)
            phase = 2 * np.pi * (np.outer(2**pitch * harmonic, time) + rng.random((len(harmonic), 1)))
            wave = weight @ np.sin(phase)
            wave = wave / wave.std() + 10 ** (-snr / 20) * rng.normal(size=size)
            out[row] = 0.1 * 10 ** (loudness / 20) * wave / wave.std()
        return out

    return render


TONES = (
    Factor("pitch", "number", np.log2(80), np.log2(800)),
    Factor("tilt", "number", 0.2, 2),
    Factor("snr", "number", 0, 30),
    Factor("even", "number", 0, 1),
    Factor("loudness", "number", -20, 0),
)
FORMANTS = ((270, 2290, 3010), (530, 1840, 2480), (730, 1090, 2440), (570, 840, 2410), (300, 870, 2240))


def vowels(values, rng, rate=16000, size=12800):
    """A train of pulses through three resonators: five vowels of an adult."""
    time = np.arange(size) / rate
    out = np.empty((len(values["pitch"]), size), np.float32)
    for row, (pitch, tract, vowel, breath, vibrato, loudness) in enumerate(
        zip(*(values[f.name] for f in VOWELS), strict=True)
    ):
        bend = vibrato / 12 * np.sin(2 * np.pi * (5.5 * time + rng.random()))
        cycles = np.cumsum(2 ** (pitch + bend)) / rate + rng.random()
        wave = np.diff(np.floor(cycles), prepend=np.floor(cycles[0]))
        wave = wave / wave.std() * (1 - breath) + rng.normal(size=size) * breath
        for centre, width in zip(np.array(FORMANTS[int(vowel)]) / tract, (80, 100, 140), strict=True):
            radius, angle = np.exp(-np.pi * width / rate), 2 * np.pi * centre / rate
            wave = lfilter([1 - radius], [1, -2 * radius * np.cos(angle), radius**2], wave)
        out[row] = 0.05 * 10 ** (loudness / 20) * wave / wave.std()
    return out


VOWELS = (
    Factor("pitch", "number", np.log2(80), np.log2(320)),
    Factor("tract", "number", 0.8, 1.2),
    Factor("vowel", "class", levels=5),
    Factor("breath", "number", 0, 0.6),
    Factor("vibrato", "number", 0, 1),
    Factor("loudness", "number", -20, 0),
)
FONTS = ("DejaVuSans", "DejaVuSerif-Bold", "DejaVuSansMono-BoldOblique", "DejaVuSans-ExtraLight")


@cache
def font(name, size):
    """A font of Debian's DejaVu family."""
    from PIL import ImageFont

    return ImageFont.truetype(f"{name}.ttf", size)


def letters(values, rng):
    """Grey images of one letter, 48 x 96."""
    from PIL import Image, ImageDraw

    out = np.empty((len(values["x"]), 48, 96), np.float32)
    columns = (values[f.name] for f in LETTERS)
    for row, (rotation, x, letter, face, size, ground, flipped) in enumerate(zip(*columns, strict=True)):
        image = Image.new("L", (96, 96), 0)
        ImageDraw.Draw(image).text(
            (48, 48), "AEFKRT"[int(letter)], 255, font(FONTS[int(face)], round(size)), anchor="mm"
        )
        image = image.rotate(rotation + 180 * flipped, Image.Resampling.BICUBIC)
        ink = np.roll(np.asarray(image)[24:72] / 255, round(x) - 48, axis=1)
        out[row] = ground * (1 - ink)
    return out


LETTERS = (
    Factor("rotation", "number", -30, 30),
    Factor("x", "number", 24, 72),
    Factor("letter", "class", levels=6),
    Factor("font", "class", levels=4),
    Factor("size", "number", 22, 42),
    Factor("ground", "number", 0.4, 1),
    Factor("flipped", "class", levels=2),
)


def scenes(values, rng):
    """Colour images of one solid on a floor, 112 x 112, from pybullet's software renderer."""
    import pybullet

    if not pybullet.isConnected():
        pybullet.connect(pybullet.DIRECT)
    view = pybullet.computeViewMatrix([0, -4, 3], [0, 0, 0.3], [0, 0, 1])
    lens = pybullet.computeProjectionMatrixFOV(40, 1, 0.1, 20)
    out = np.empty((len(values["x"]), 112, 112, 3), np.float32)
    for row, (size, x, hue, solid, yaw, light, floor) in enumerate(zip(*(values[f.name] for f in SCENES), strict=True)):
        colour = [*colorsys.hsv_to_rgb(hue, 0.8, 0.9), 1]
        parts = (
            {"shapeType": pybullet.GEOM_BOX, "halfExtents": [0.7 * size, 0.35 * size, 0.4 * size]},
            {"shapeType": pybullet.GEOM_CYLINDER, "radius": 0.4 * size, "length": 1.4 * size},
            {"shapeType": pybullet.GEOM_CAPSULE, "radius": 0.35 * size, "length": 0.9 * size},
        )[int(solid)]
        turn = pybullet.getQuaternionFromEuler([0, np.pi / 2 if solid else 0, yaw])
        ground = pybullet.createVisualShape(pybullet.GEOM_BOX, halfExtents=[9, 9, 0.01], rgbaColor=[floor] * 3 + [1])
        shape = pybullet.createVisualShape(rgbaColor=colour, **parts)
        bodies = [
            pybullet.createMultiBody(0, -1, ground),
            pybullet.createMultiBody(0, -1, shape, [x, 0, 0.4 * size], turn),
        ]
        pixels = pybullet.getCameraImage(
            112, 112, view, lens, lightDirection=[3 * light, -2, 3], shadow=0, renderer=pybullet.ER_TINY_RENDERER
        )[2]
        out[row] = np.reshape(pixels, (112, 112, 4))[..., :3] / 255
        for body in bodies:
            pybullet.removeBody(body)
    return out


SCENES = (
    Factor("size", "number", 0.5, 1.1),
    Factor("x", "number", -0.8, 0.8),
    Factor("hue", "circular"),
    Factor("solid", "class", levels=3),
    Factor("yaw", "number", -0.7, 0.7),
    Factor("light", "number", -1, 1),
    Factor("floor", "number", 0.3, 0.9),
)


@cache
def push_t():
    """The environment alone: its package imports training code that is not needed here."""
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    root = Path(next(iter(find_spec("stable_worldmodel").submodule_search_locations)))
    for name, folder in (("", "."), (".envs", "envs"), (".envs.pusht", "envs/pusht")):
        module = sys.modules[f"stable_worldmodel{name}"] = types.ModuleType(f"stable_worldmodel{name}")
        module.__path__ = [str(root / folder)]
    from stable_worldmodel.envs.pusht.env import PushT

    environment = PushT(resolution=64, with_target=False)
    environment.variation_space.reset()
    return environment


def pushes(values, rng):
    """Colour images of PushT, 64 x 64. After one step of physics, so a block that overlaps the agent has moved."""
    environment = push_t()
    block = environment.variation_space["block"]
    out = np.empty((len(values["block_x"]), 64, 64, 3), np.float32)
    for row, (block_x, block_y, agent_x, agent_y, angle, scale, hue) in enumerate(
        zip(*(values[f.name] for f in PUSHES), strict=True)
    ):
        block["angle"].set_value(np.float64(angle))
        block["scale"].set_value(np.float32(scale))
        block["color"].set_value((np.array(colorsys.hsv_to_rgb(hue, 0.8, 0.8)) * 255).astype(np.uint8))
        environment._setup()
        environment._set_state([agent_x, agent_y, block_x, block_y, angle, 0.0, 0.0])
        out[row] = environment.render() / 255
    return out


PUSHES = (
    Factor("block_x", "number", 130, 380),
    Factor("block_y", "number", 130, 380),
    Factor("agent_x", "number", 60, 450),
    Factor("agent_y", "number", 60, 450),
    Factor("angle", "circular", 0, 2 * np.pi),
    Factor("scale", "number", 25, 55),
    Factor("hue", "circular"),
)


def tunnel(values, rng):
    """Colour images of the light tunnel's simulator F1, 64 x 64: the polarisers act through their difference alone."""
    from causalchamber.simulators.lt.image.models_f import ModelF1

    simulator = ModelF1(center_x=0.5, center_y=0.5, radius=0.4, offset=0.0, image_size=64)
    columns = (values[name] for name in ("red", "green", "blue", "pol_1", "pol_2"))
    images = simulator._simulate(*columns, **simulator.parameters())
    return np.asarray(images, np.float32)


TUNNEL = (
    Factor("red", "number", 0, 255),
    Factor("green", "number", 0, 255),
    Factor("blue", "number", 0, 255),
    Factor("pol_1", "circular", 0, 180),
    Factor("pol_2", "circular", 0, 180),
)


@cache
def dsprites():
    """All of dSprites, rendered on demand."""
    from unweave.datasets import DSprites

    return DSprites()


def sprites(values, rng):
    """White shapes on black, 1 x 64 x 64."""
    data = dsprites()
    places = np.column_stack([values[name] for name in ("shape", "scale", "orientation", "x", "y")]).astype(int)
    return data.images(np.ravel_multi_index(places.T, data.n_values))


SPRITES = (
    Factor("x", "number", levels=32),
    Factor("y", "number", levels=32),
    Factor("scale", "number", levels=6),
    Factor("orientation", "circular", levels=39),
    Factor("shape", "class", levels=3),
)

SOURCES = {
    source.name: source
    for source in (
        Source("sentences", SENTENCES, sentences, noisy=True),
        Source("files", FILES, files, noisy=True),
        Source("tones", TONES, tones(16000, 4096), noisy=True),
        Source("long tones", TONES, tones(22050, 43844), noisy=True),
        Source("vowels", VOWELS, vowels, noisy=True),
        Source("letters", LETTERS, letters),
        Source("scenes", SCENES, scenes),
        Source("pushes", PUSHES, pushes),
        Source("tunnel", TUNNEL, tunnel),
        Source("sprites", SPRITES, sprites),
    )
}
