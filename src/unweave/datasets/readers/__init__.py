"""Readers of published data sets with known factors. Images are read on demand."""

from unweave.datasets.readers.cars3d import Cars3D
from unweave.datasets.readers.celeba import CelebA
from unweave.datasets.readers.dsprites_file import DSpritesFile
from unweave.datasets.readers.mpi3d import MPI3D
from unweave.datasets.readers.shapes3d import Shapes3D
from unweave.datasets.readers.small_norb import SmallNORB

__all__ = ["MPI3D", "Cars3D", "CelebA", "DSpritesFile", "Shapes3D", "SmallNORB"]
