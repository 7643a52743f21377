"""Sentences of the short answer, on both sides of every condition."""

import pytest

from unweave.words import answers
from unweave.words.answers import best_by, found_factors, most_found, obstacle, reported_score, separate


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (obstacle("mixed"), "mixed with other factors"),
        (obstacle("implied"), "follows from other factors, so no code is needed"),
        (obstacle("noisy"), "its code is noisy"),
        (found_factors(["x"], [], []), "The only factor has a code of its own."),
        (found_factors(["x", "y"], [], []), "Both factors have codes of their own."),
        (found_factors(["x", "y", "z"], [], []), "All 3 factors have codes of their own."),
        (found_factors([], [], ["x"]), "The only factor has no code of its own."),
        (found_factors([], [], ["x", "y"]), "None of the 2 factors has a code of its own."),
        (
            found_factors(["x"], ["y", "z"], []),
            "1 of 3 factors has a code of its own: x. Partly found: y and z.",
        ),
        (
            found_factors([], ["y"], ["x", "z"]),
            "None of the 3 factors has a code of its own. Partly found: y. Not found: x and z.",
        ),
        (
            found_factors(["x", "w"], [], ["z"]),
            "2 of 3 factors have codes of their own: x and w. Not found: z.",
        ),
        (reported_score("r2", 0.5, None, None, None, None), "r2 is 0.50"),
        (reported_score("r2", 0.5, 0.4, None, 0.95, 0.01), "r2 is 0.50 (random codes score 0.01)"),
        (reported_score("r2", 0.5, 0.4, 0.6, None, None), "r2 is 0.50 (interval 0.40 to 0.60)"),
        (
            answers.report_sentence(1, 2, [], "x was found."),
            "No metric that was computed can be trusted on these data, so there is no number to report alone.",
        ),
        (answers.report_sentence(1, 2, ["r2 is 0.50"], ""), "On 1 sample with 2 codes, r2 is 0.50."),
        (answers.report_sentence(30, 1, ["r2 is 0.50"], "So.", 4), "On 30 samples with 1 of 4 codes, r2 is 0.50. So."),
        (best_by("mcc", ["a"]), "a is best by mcc."),
        (best_by("mcc", ["a", "b"]), "a and b are best by mcc and do not differ significantly."),
        (
            most_found({"a": (0, 3), "b": (0, 2)}),
            "In none of the representations does a factor have a code of its own.",
        ),
        (most_found({"a": (1, 3), "b": (3, 3), "c": (2, 2)}), "b and c have every factor in a code of its own."),
        (
            most_found({"a": (1, 4), "b": (2, 4)}),
            "b has the most factors in codes of their own: 2 of 4.",
        ),
        (
            most_found({"a": (1, 4), "b": (1, 2), "c": (2, 4)}),
            "b and c have the most factors in codes of their own: 1 of 2.",
        ),
        (
            most_found({"a": (2, 4), "b": (1, 2)}),
            "All representations have the same share of factors in codes of their own: 2 of 4.",
        ),
    ],
)
def test_the_sentence_fits_the_counts(said, text):
    assert said == text


def test_without_a_table_no_representation_is_named():
    assert most_found({}) == answers.no_factor_table()


@pytest.mark.parametrize(("readable", "reads"), [(None, False), (0.79, False), (0.8, True), (0.9, True)])
def test_factors_are_read_out_from_an_r2_of_four_fifths(readable, reads):
    said = separate(["size"], [], readable)
    assert said.startswith("size is mixed with other factors.")
    assert ("a rotation of the codes may separate them" in said) == reads
    assert ("Look at what the codes do to the data" in said) == (not reads)


def test_codes_are_named_if_they_are_known():
    assert answers.reduce_noise(["size"], []).startswith("Much of the variance of the codes is not explained by size")
    assert answers.unfold(["hue"], []).startswith("Different values of hue give the same value of a code.")
    assert answers.unfold(["hue"], ["c 1", "c 2"]).startswith(
        "Different values of hue give the same value of c 1 and c 2."
    )
