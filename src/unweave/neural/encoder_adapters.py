"""Adapters that make torch modules functions of images in numpy arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn


@dataclass(frozen=True, eq=False)
class TorchEncoder:
    """A torch module that encodes images: by its method encode if it has one, else by calling it.

    The module is put into evaluation mode, and images are moved to the device of its weights.
    """

    module: nn.Module

    def __call__(self, images: NDArray[np.float32]) -> Any:
        """The output of the module for these images."""
        was_training = self.module.training
        self.module.eval()
        try:
            with torch.no_grad():
                batch = torch.from_numpy(np.ascontiguousarray(images))
                weight = next(self.module.parameters(), None)
                if weight is not None:
                    batch = batch.to(device=weight.device, dtype=weight.dtype)
                encode = getattr(self.module, "encode", self.module)
                return encode(batch)
        finally:
            self.module.train(was_training)
