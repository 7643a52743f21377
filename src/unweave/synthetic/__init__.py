"""Worlds, encoders, attacks and decoders whose distance from the truth is known by construction.

>>> from unweave import synthetic
>>> world = synthetic.worlds.Correlated(n_factors=2, rho=0.5)
>>> world.sample(3, rng=0).shape
(3, 2)
"""

from typing import TYPE_CHECKING

from unweave.on_demand import on_demand

if TYPE_CHECKING:
    from unweave.synthetic import attacks, encoders, known_decoders, theory, toys, worlds
else:
    __getattr__, __dir__ = on_demand(
        __name__,
        {
            room: f"unweave.synthetic.{room}"
            for room in ("attacks", "encoders", "known_decoders", "theory", "toys", "worlds")
        },
    )

__all__ = ["attacks", "encoders", "known_decoders", "theory", "toys", "worlds"]
