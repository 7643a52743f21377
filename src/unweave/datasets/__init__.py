"""Images with known factors, behind one small interface.

Every data set has `factor_names`, `kinds`, `factors(indices)`, `images(indices)`, `sample(n, rng)`, `batches(size)` and
a `fingerprint`. Those of all combinations of their factors' values also give `images_of(factors)` and a `sampler` with
which an `Evidence` can hold factors of real images.
"""

from unweave.datasets.dsprites import DSprites, small_sprites
from unweave.datasets.grid import GridDataSet
from unweave.datasets.interface import Batch, DataSet, DataSetError, Factor
from unweave.datasets.names import DATA_SETS, load

__all__ = [
    "DATA_SETS",
    "Batch",
    "DSprites",
    "DataSet",
    "DataSetError",
    "Factor",
    "GridDataSet",
    "load",
    "small_sprites",
]
