"""Random numbers come from one place, where every purpose has a stream of its own that no user's seed gives."""

import ast
import functools
import random
from pathlib import Path

import numpy as np
import pytest

import unweave
from unweave.randomness import random_seed, random_stream

PACKAGE = Path(unweave.__file__).parent
CREATE = ("default_rng", "RandomState", "SeedSequence", "PCG64", "MT19937", "manual_seed", "random_state")
OF_MODELS = (
    "normal",
    "uniform",
    "whole_numbers",
    "orders",
)  # draws of models.randomness, which name their purpose first
SEEDS = range(100)
N = 40


@functools.cache
def calls():
    """Every call in the package with the path of its file; docstrings are the user's code."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        found += [(path.relative_to(PACKAGE), node) for node in nodes if isinstance(node, ast.Call)]
    return found


def called(node):
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def text_of(node):
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


@functools.cache
def purposes():
    found = set()
    for path, node in calls():
        if called(node) in ("random_stream", "random_seed"):
            found.add(text_of(node.args[1]))
        elif path.parts[0] == "models" and called(node) in OF_MODELS and node.args:
            found.add(text_of(node.args[0]))
    return sorted(found - {None})


def user_draws(draw_of):
    """What people draw with the seeds 0 to 99: orders of N rows, and the first three of N normal numbers."""
    orders, normals = set(), set()
    for seed in SEEDS:
        order, shuffled, normal = draw_of(seed)
        for found in (order, shuffled):
            orders |= {tuple(map(int, found)), tuple(np.argsort(found).tolist())}  # the second undoes a shuffle
        normals.add(tuple(np.round(np.asarray(normal, dtype=float)[:3], 4).tolist()))
    return orders, normals


def of_numpy(create):
    def draw(seed):
        shuffled = np.arange(N)
        create(seed).shuffle(shuffled)
        return create(seed).permutation(N), shuffled, create(seed).normal(size=N)

    return draw


def of_python(seed):
    shuffled, rng = list(range(N)), random.Random(seed)
    random.Random(seed).shuffle(shuffled)
    return random.Random(seed).sample(range(N), N), shuffled, [rng.gauss(0, 1) for _ in range(3)]


def of_torch(seed):
    torch = pytest.importorskip("torch")
    order = torch.randperm(N, generator=torch.Generator().manual_seed(seed)).tolist()
    return order, order, torch.randn(N, generator=torch.Generator().manual_seed(seed)).tolist()


USERS = {
    "default_rng": of_numpy(np.random.default_rng),
    "RandomState": of_numpy(np.random.RandomState),
    "random": of_python,
    "torch": of_torch,
}


@pytest.fixture(scope="module")
def our_draws():
    """The same draws from every stream of the package, and from its seeds for other libraries."""
    orders, normals = {}, {}
    for purpose in purposes():
        for seed in SEEDS:
            number = seed % 3
            orders[tuple(random_stream(seed, purpose, number).permutation(N).tolist())] = purpose
            normal = random_stream(seed, purpose, number).normal(size=3)
            normals[tuple(np.round(normal, 4).tolist())] = purpose
    return orders, normals


@pytest.mark.parametrize("user", USERS)
def test_no_draw_of_a_user_is_one_of_ours(user, our_draws):
    for theirs, ours in zip(user_draws(USERS[user]), our_draws, strict=True):
        assert len(theirs) >= len(SEEDS)
        assert {ours[draw] for draw in theirs & set(ours)} == set()


def test_a_stream_is_found_where_it_is_the_users(our_draws):
    """The comparison notices coincidence: the streams that the package had before were the user's."""
    orders, _ = user_draws(USERS["default_rng"])
    assert tuple(np.random.default_rng([0, 0]).permutation(N).tolist()) in orders
    assert len(our_draws[0]) == len(purposes()) * len(SEEDS)


def state(generator):
    return tuple(generator.bit_generator.state["state"].values())


def test_no_two_purposes_seeds_or_numbers_share_a_stream():
    numbers = [(), (1,), (1, 0), (1, 1), (0, 0), (2, 0, 0), (2, 0)]
    ours = [
        state(random_stream(seed, purpose, *each)) for purpose in purposes() for seed in range(10) for each in numbers
    ]
    assert len(set(ours)) == len(ours)
    theirs = {state(np.random.default_rng(entropy)) for entropy in [*SEEDS, *np.ndindex(20, 20), *np.ndindex(5, 5, 5)]}
    theirs |= {state(np.random.default_rng(child)) for seed in SEEDS for child in np.random.SeedSequence(seed).spawn(5)}
    assert not theirs & set(ours)


def test_seeds_for_other_libraries_are_no_seeds_that_people_choose():
    ours = [random_seed(seed, purpose) for purpose in purposes() for seed in SEEDS]
    assert len(set(ours)) == len(ours)
    assert min(ours) > 10_000
    assert max(ours) < 2**32  # the largest seed of scikit-learn


def test_streams_are_created_in_one_place():
    elsewhere = []
    for path, node in calls():
        if path == Path("randomness.py"):
            continue
        seeded = [keyword.value for keyword in node.keywords if keyword.arg in CREATE]
        if called(node) in CREATE:
            seeded.append(node.args[0] if node.args else node)
        of_global = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "np.random"
        if any(not (isinstance(one, ast.Call) and called(one) == "random_seed") for one in seeded) or of_global:
            elsewhere.append(f"{path}:{node.lineno}: {ast.unparse(node)[:80]}")
    assert elsewhere == []


def test_nothing_uses_the_random_module():
    texts = {path.name: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    users = [name for name, text in texts.items() if "import random\n" in text or "from random import" in text]
    assert users == ["randomness.py"]  # which only restores its state


def test_the_purposes_are_found():
    assert len(purposes()) > 50
    assert {"folds", "null draws", "world", "encoder", "permuted rows", "encoded images"} <= set(purposes())
