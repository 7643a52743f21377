import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

# modules that tests share: the versions that recorded numbers are valid for, and the pages of the documents
ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "tests" / "recorded"), str(ROOT / "docs")]

# the time of drawing inputs depends on the load of the machine and not on the code
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
