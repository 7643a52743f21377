"""Speed and memory against peers and against the machine, as ratios measured in one run.

``python -m benchmarks`` runs all, ``python -m benchmarks NAME ...`` those named. Absolute times move between machines
and with what else runs on them; a ratio of two best CPU times, taken in turns, is what stays.
"""

import os

# One thread on both sides, set before numpy loads its BLAS: on a busy machine two are slower than one and measure luck.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
