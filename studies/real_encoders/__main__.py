"""Commands of the study: run, table, pictures."""

from __future__ import annotations

import os
import sys

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

from studies.real_encoders import cells, scoring  # noqa: E402 - the variables above are read at import


def main(command):
    """Run one command."""
    if command == "run":
        cells.run_codes_and_truths()
        scoring.run()
    elif command == "stored":
        scoring.write_stored()
    elif command == "table":
        scoring.table()
    elif command == "pictures":
        from studies.real_encoders import pictures

        pictures.draw()
    else:
        raise SystemExit("Give one command: run, stored (tables of a run that was stopped), table or pictures.")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) == 2 else "")
