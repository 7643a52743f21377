"""Types of the arrays that pass between rooms."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Labels = NDArray[np.uint16]  # of the levels or bins of one column
Rows = NDArray[np.intp]  # indices of rows
