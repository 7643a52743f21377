"""Handwritten digits and clothes from idx files, with factors measured from the pixels."""

from unweave.datasets.digits.digits import Digits, emnist, fashion_mnist, mnist
from unweave.datasets.digits.idx import read_idx

__all__ = ["Digits", "emnist", "fashion_mnist", "mnist", "read_idx"]
