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
    """Try wheels and source distributions of both packages, each pair in an environment of its own."""
    for ending in ("*.whl", "*.tar.gz"):
        files = sorted(path.resolve() for path in Path(dist).glob(ending))
        library, papers = (next(path for path in files if is_papers(path) == wanted) for wanted in (False, True))
        tried(library, papers)


def is_papers(path: Path) -> bool:
    """Whether a file is of the distribution with the papers' experiments."""
    return path.name.startswith("unweave_papers")


def tried(library: Path, papers: Path) -> None:
    """Install the library, import it, run the demo, say how much was installed; then install the papers' commands."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        programs, packages = Path(folder, "bin"), next(Path(folder, "lib").glob("python*/site-packages"))
        before = size_of(packages)
        install = [programs / "python", "-m", "pip", "install", "--quiet"]
        subprocess.run([*install, library], check=True)
        n_packages = len(list(packages.glob("*.dist-info"))) - 2  # pip and setuptools were there
        sys.stdout.write(f"{library.name}: {size_of(packages) - before:.0f} MB, {n_packages} packages\n")
        for command in ([programs / "python", "-c", CHECK], [programs / "unweave", "demo", "--rows", "300"]):
            subprocess.run(command, check=True, cwd=folder)
        subprocess.run([*install, papers], check=True)
        subprocess.run([programs / "unweave", "claims"], check=True, cwd=folder)


if __name__ == "__main__":
    main(sys.argv[1])
