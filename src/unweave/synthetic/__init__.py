"""Synthetic data with known properties, to test metrics.

- `worlds` draw factors whose dependence is known, and `encoders` map them to codes with a known degree of mixing.
- `toys` draw factors, codes and nuisances of paper 004 together.
- `attacks` entangle posteriors by a known amount, and `known_decoders` have known entropies.
- `theory` has closed forms of scores.

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
