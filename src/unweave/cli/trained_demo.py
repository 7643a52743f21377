"""The demonstration that trains a model on small sprites, encodes the images, scores the codes, and writes a page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unweave.evaluation import Evaluation
    from unweave.report.page.code_pictures import CodePictures

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
    from unweave.evidence import Evidence, EvidenceError
    from unweave.report.page.code_pictures import code_pictures, decoder_of

    try:
        from unweave.models import BetaVAE, TrainingSettings, train
    except ImportError as error:
        raise EvidenceError(str(error)) from None
    sprites = small_sprites()
    say(f"1. Training a beta-VAE on {len(sprites)} sprites of 16 x 16: shape, scale and position, no rotation.")
    # small images are weighted like images of 64 x 64, so that beta has the same effect as in the literature
    settings = TrainingSettings(n_steps=n_steps, learning_rate=1e-3, reconstruction_weight=4096 / 256)
    fleet = train(sprites, BetaVAE(beta=32.0), settings=settings, folder=folder / "runs", progress=True)
    if fleet.problems:
        raise EvidenceError(fleet.problems[0])
    model = fleet.models[0]
    say(f"2. Encoding {N_ROWS} images; codes, factors, their names and kinds go to {folder / 'codes.npz'}.")
    encoded = encode(model, sprites, folder / "codes.npz", rows=N_ROWS, progress=True)
    say("3. Scoring the codes, as `unweave score codes.npz --html page.html` does.")
    kinds = dict(zip(encoded.factor_names, encoded.kinds, strict=True))
    factors = dict(zip(encoded.factor_names, encoded.factors.T, strict=True))
    pictures = code_pictures(Evidence(factors, encoded.codes, kinds=kinds), decoder_of(model))
    found = evaluate(factors, encoded.codes, kinds=kinds, metrics=METRICS, budget=BUDGET, progress=True)
    return found, pictures
