"""The score of random codes in words."""

from types import SimpleNamespace

import pytest

from unweave.card.explain import _facts, chance_in_words


@pytest.mark.parametrize(
    ("chance", "words"),
    [
        (0.25, "0.25"),
        ("by permutation", "has to be measured by permuting the rows"),
        ("no pairing", "none, because the metric does not relate factors to codes"),
        (lambda n, m, d: 1 / m, "0.1 for 10 codes, and different for other sizes"),
        (lambda n, m, d: 1 / d, "0.2 for 5 factors, and different for other sizes"),
        (lambda n, m, d: 1 / n, "0.001 for 1,000 rows, and different for other sizes"),
        (lambda n, m, d: d / n, "0.005 for 5 factors and 1,000 rows, and different for other sizes"),
        (lambda n, m, d: m * d / n, "0.05 for 10 codes, 5 factors and 1,000 rows, and different for other sizes"),
    ],
)
def test_sizes_are_named_if_they_matter(chance, words):
    assert chance_in_words(SimpleNamespace(chance=chance)) == words


def test_sizes_are_changed_one_at_a_time():
    asked = []
    chance_in_words(SimpleNamespace(chance=lambda *sizes: asked.append(sizes) or len(asked)))
    base, *others = asked
    assert base == (1000, 10, 5)
    changed = [[new != old for new, old in zip(sizes, base, strict=True)] for sizes in others]
    assert changed == [[False, True, False], [False, False, True], [True, False, False]]


@pytest.mark.parametrize(("length", "n_lines"), [(5, 1), (6, 2)])
def test_facts_are_wrapped_after_a_hundred_letters(length, n_lines):
    first, *rest = _facts({"Name": f"{'a' * 80} {'b' * length}"}).splitlines()
    assert first == f"Name:{' ' * 9}{'a' * 80}" + (" bbbbb" if n_lines == 1 else "")
    assert rest == [" " * 14 + "bbbbbb"] * (n_lines - 1)
