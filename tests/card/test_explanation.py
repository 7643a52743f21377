"""The score of random codes in words."""

from types import SimpleNamespace

import pytest

from unweave.card.explanation import chance_in_words


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
