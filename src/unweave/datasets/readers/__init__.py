"""Readers of the files in which data sets with known factors are published. Images are read when they are asked for."""

from unweave.datasets.readers.cars3d import Cars3D
from unweave.datasets.readers.celeba import CelebA
from unweave.datasets.readers.dsprites_file import DSpritesFile
from unweave.datasets.readers.mpi3d import MPI3D
from unweave.datasets.readers.shapes3d import Shapes3D
from unweave.datasets.readers.small_norb import SmallNORB

__all__ = ["MPI3D", "Cars3D", "CelebA", "DSpritesFile", "Shapes3D", "SmallNORB"]
