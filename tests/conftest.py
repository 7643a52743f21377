import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

# tests/reference/golden_cases.py is shared by the tests of several rooms
sys.path.insert(0, str(Path(__file__).parent / "reference"))

# how fast inputs are drawn says how busy the machine is, not whether the code is right
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
