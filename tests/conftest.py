import sys
from pathlib import Path

# tests/reference/golden_cases.py is shared by the tests of several rooms
sys.path.insert(0, str(Path(__file__).parent / "reference"))
