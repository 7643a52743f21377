"""``python -m unweave``: the command line."""

import os
import sys

if __name__ == "__main__":
    if not sys.flags.safe_path and sys.path[0] == os.getcwd():
        del sys.path[0]  # Python puts the current folder first, where any file could take the place of a library
    from unweave.cli import main

    main(prog_name="unweave")
