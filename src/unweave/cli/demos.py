"""The demonstrations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from unweave.arrays import FloatArray
from unweave.errors import OptionError
from unweave.synthetic.encoders import Elementwise, Encoder, Kept, Mixed, Noise
from unweave.synthetic.worlds import Independent

if TYPE_CHECKING:
    from unweave.evaluation import Evaluation
    from unweave.report.html import CodePictures

DEMO_BUDGET = 30.0  # seconds


def scene_encoders(n_rows: int, rng: int = 0) -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
    """Factors by name, and the codes of four encoders by name."""
    columns = Independent(4).sample(n_rows, rng)
    encoders: dict[str, Encoder] = {
        "one code each": Elementwise(alpha=0.5),
        "rotated": Mixed(),
        "without hue": Kept((0, 2, 3)),
        "noise": Noise(4),
    }
    codes = {name: encoder.encode(columns, rng + 3) for name, encoder in encoders.items()}
    return dict(zip(("size", "hue", "x", "y"), columns.T, strict=True)), codes


def introduction() -> str:
    """A text that explains what the demonstration shows."""
    return (
        "A scene with four independent factors: size, hue, x and y.\n"
        "Four encoders: a curved copy of every factor; all factors rotated into each other; size, x and y without hue; "
        "noise.\n"
    )


N_STEPS, N_ROWS, BUDGET = 4000, 2000, 5.0
METRICS: tuple[str, ...] | None = None  # None stands for the panel


def trained_demonstration(
    folder: Path, say: Callable[[str], None], n_steps: int = N_STEPS
) -> tuple[Evaluation, CodePictures]:
    """Train a small beta-VAE, encode its images, score the codes and draw traversals; files are written to the folder.

    Results that exist in the folder are read and not computed again.
    """
    from unweave.datasets import small_sprites
    from unweave.encoding import encode
    from unweave.evaluation import evaluate
    from unweave.evidence import Evidence
    from unweave.report.html import code_pictures, decoder_of

    try:
        from unweave.models import BetaVAE, TrainingSettings, train
    except ImportError as error:
        raise OptionError(str(error)) from None
    sprites = small_sprites()
    say(f"1. Training a beta-VAE on {len(sprites)} sprites of 16 x 16: shape, scale and position, no rotation.")
    # small images are weighted like images of 64 x 64, so that beta has the same effect as in the literature
    settings = TrainingSettings(n_steps=n_steps, learning_rate=1e-3, reconstruction_weight=4096 / 256)
    fleet = train(sprites, BetaVAE(beta=32.0), settings=settings, folder=folder / "runs", progress=True)
    if fleet.problems:
        raise OptionError(fleet.problems[0])
    model = fleet.models[0]
    say(f"2. Encoding {N_ROWS} images; codes, factors, their names and kinds go to {folder / 'codes.npz'}.")
    encoded = encode(model, sprites, out=folder / "codes.npz", rows=N_ROWS, progress=True)
    say("3. Scoring the codes, as `unweave score codes.npz --html page.html` does.")
    kinds = dict(zip(encoded.factor_names, encoded.kinds, strict=True))
    factors = dict(zip(encoded.factor_names, encoded.factors.T, strict=True))
    pictures = code_pictures(Evidence(factors, encoded.codes, kinds=kinds), decoder_of(model))
    evaluation = evaluate(factors, encoded.codes, kinds=kinds, metrics=METRICS, budget=BUDGET, progress=True)
    return evaluation, pictures
