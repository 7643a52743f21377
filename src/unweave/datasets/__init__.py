"""Images with known factors, behind one small interface.

Every data set has `factor_names`, `kinds`, `factors(indices)`, `images(indices)`, `sample(n, rng)`, `batches(size)` and
a `fingerprint`. Data sets of all combinations of their factors' values also have `images_of(factors)` and a `sampler`,
with which an `Evidence` can hold factors of real images fixed.
"""

from unweave.datasets.coloured_shapes import ColouredShapes
from unweave.datasets.dependence import Confounder, CorrelatedPair, DependentSample, DeterminedFactor
from unweave.datasets.digits import Digits, emnist, fashion_mnist, mnist
from unweave.datasets.dsprites import DSprites, small_sprites
from unweave.datasets.environments import EnvironmentImages
from unweave.datasets.interface import Batch, DataSet, Factor, GridDataSet
from unweave.datasets.names import DATA_SETS, load
from unweave.datasets.readers import MPI3D, Cars3D, CelebA, DSpritesFile, Shapes3D, SmallNORB

# fmt: off
__all__ = [
    "DATA_SETS", "MPI3D", "Batch", "Cars3D", "CelebA", "ColouredShapes", "Confounder", "CorrelatedPair", "DSprites",
    "DSpritesFile", "DataSet", "DependentSample", "DeterminedFactor", "Digits", "EnvironmentImages", "Factor",
    "GridDataSet", "Shapes3D", "SmallNORB", "emnist", "fashion_mnist", "load", "mnist", "small_sprites",
]
# fmt: on
