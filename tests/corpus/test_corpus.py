"""The corpus gives what was frozen; differences.py lists what changed. No case is computed in the quick suite."""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.slow
@pytest.mark.skipif(not (HERE / "frozen.json.gz").exists(), reason="freeze.py has not been run")
def test_nothing_has_changed_since_the_freeze():
    # in a process of its own, so that it has one thread; rounding differs between processors
    command = [sys.executable, HERE / "differences.py", "--relative", "1e-6"]
    compared = subprocess.run(command, capture_output=True, text=True, check=False)
    assert compared.returncode == 0, compared.stdout[-5000:]
