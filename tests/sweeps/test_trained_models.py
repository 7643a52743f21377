"""Cells of a sweep train the same models as a fleet."""

import numpy as np

from unweave.datasets import small_sprites
from unweave.evidence import Evidence
from unweave.metrics import mcc
from unweave.models import BetaVAE, TrainedModels, TrainingSettings, train
from unweave.models.training_file import DataSetChoice
from unweave.randomness import random_stream
from unweave.sweeps import grid, run


def test_a_sweep_scores_the_models_of_a_fleet(tmp_path):
    settings = TrainingSettings(n_steps=5, batch_size=8)
    objectives = [BetaVAE(beta=1), BetaVAE(beta=1e39)]
    sweep = grid(
        "two",
        worlds=[DataSetChoice("small_sprites")],
        encoders={"one": objectives[0], "infinite": objectives[1]},
        metrics=["mcc"],
        n_rows=300,
        n_seeds=1,
        seed=4,
        protocol=TrainedModels(n_codes=3, settings=settings),
    )
    table = run(sweep, tmp_path)
    sprites = small_sprites()
    [model] = train(sprites, objectives[0], n_seeds=1, seed=4, n_codes=3, settings=settings)
    indices = random_stream(4, "images of a cell").permutation(len(sprites))[:300]
    kinds = dict(zip(sprites.factor_names, sprites.kinds, strict=True))
    codes = model.encode(sprites.images(indices))
    expected = mcc(Evidence(sprites.factors(indices), codes, factor_names=sprites.factor_names, kinds=kinds)).value
    rows = {row["encoder"]: row for row in table.to_dicts()}
    assert rows["one"]["value"] == expected
    assert np.isnan(rows["infinite"]["value"])
    assert "not finite" in rows["infinite"]["problem"]
