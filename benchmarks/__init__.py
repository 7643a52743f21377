"""Speed and memory relative to other libraries and to basic operations, as ratios measured in one run.

``python -m benchmarks`` runs all benchmarks, ``python -m benchmarks NAME ...`` those that are named. Absolute times
depend on the machine and its load. The ratio of two smallest CPU times, measured alternately, hardly does.
"""

import os

# One thread on both sides, set before numpy loads its BLAS: on a busy machine, times of two threads depend on the load.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
