"""Types of the arrays that packages exchange."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Labels = NDArray[np.uint16]  # level or bin of every row in one column
Rows = NDArray[np.intp]  # indices of rows
