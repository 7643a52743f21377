"""Install the wheel of a folder into an empty environment, and run it there: `python empty_environment.py dist`."""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

CHECK = """
import importlib.util, sys, time
start = time.process_time()
import unweave
seconds = time.process_time() - start
assert seconds < 0.1, f"import took {seconds:.2f} s"
assert importlib.util.find_spec("torch") is None, "torch was installed"
assert importlib.util.find_spec("matplotlib") is None, "matplotlib was installed"
print(f"import unweave: {seconds:.3f} s")
"""


def size_of(folder: Path) -> float:
    """Megabytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def main(dist: str) -> None:
    """Build the environment, import, run the demo, and say how much was installed."""
    (wheel,) = Path(dist).glob("*.whl")
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        programs, packages = Path(folder, "bin"), next(Path(folder, "lib").glob("python*/site-packages"))
        before = size_of(packages)
        subprocess.run([programs / "python", "-m", "pip", "install", "--quiet", wheel.resolve()], check=True)
        sys.stdout.write(f"installed: {size_of(packages) - before:.0f} MB\n")
        for command in ([programs / "python", "-c", CHECK], [programs / "unweave", "demo", "--rows", "300"]):
            subprocess.run(command, check=True, cwd=folder)


if __name__ == "__main__":
    main(sys.argv[1])
