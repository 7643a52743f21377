"""``python -m unweave``: the command line."""

from unweave.cli import main

if __name__ == "__main__":
    main(prog_name="unweave")
