import sys
from pathlib import Path

# tiny_cells.py is imported by these tests and by the processes they start, under the same name
sys.path.insert(0, str(Path(__file__).parent))
