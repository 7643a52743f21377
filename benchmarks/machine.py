"""Facts about the machine and its libraries, which are needed to interpret a figure."""

from __future__ import annotations

import os
import platform

import numpy as np
import scipy
import sklearn
from threadpoolctl import threadpool_info


def machine_facts() -> dict[str, str]:
    """Return cores, load, versions, and the BLAS with its number of threads."""
    blas = {f"{pool['internal_api']} {pool['version']}" for pool in threadpool_info() if pool["user_api"] == "blas"}
    threads = {pool["num_threads"] for pool in threadpool_info()}
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return {
        "machine": f"{platform.system()} {platform.machine()}",
        "cores": str(os.cpu_count()),
        "load": load,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "BLAS": ", ".join(sorted(blas)) or "unknown",
        "threads": ", ".join(map(str, sorted(threads))),
    }
