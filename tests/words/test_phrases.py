"""Numbers and names in words, on both sides of every limit."""

import pytest

from unweave.words import answers
from unweave.words.phrases import MINUS, NOTHING, brief, counted, fixed, listed, number, p_value, percent, verb


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (fixed(999_999.4, 1), "999999.4"),
        (fixed(1e6), "1e+06"),
        (fixed(-0.0001), "0.000"),
        (fixed(-0.001), f"{MINUS}0.001"),
        (fixed(None), NOTHING),
        (brief(999.6), "1e+03"),
        (brief(1000.4), "1,000"),
        (brief(0.0005), "0.0005"),
        (brief(0.000499), "0.0005"),
        (brief(0.0004444), "0.00044"),
        (brief(0.0005444), "0.000544"),
        (brief(-2.0), f"{MINUS}2"),
        (counted(0, "row"), "0 rows"),
        (counted(1, "row"), "1 row"),
        (counted(2000, "row"), "2,000 rows"),
        (p_value(0.01, 0.01), "≤ 0.010"),
        (p_value(0.011, 0.01), "0.011"),
        (p_value(0.01, None), "0.010"),
        (p_value(None, 0.01), NOTHING),
        (listed([]), ""),
        (listed(["a"]), "a"),
        (listed(["a", "b"]), "a and b"),
        (listed(list("abcdef")), "a, b, c, d, e and f"),
        (listed(list("abcdefg")), "a, b, c, d, e, f and 1 more"),
        (verb([], "is", "are"), "are"),
        (number(0.0999), "0.1"),
        (number(0.1), "0.1"),
        (number(0.0123), "0.012"),
        (number(0.126), "0.13"),
        (number(1200.5), "1,200.5"),
        (percent(0.0001), "0.01 %"),
        (percent(0.00015), "0.015 %"),
        (percent(0.00009), "less than .01 %"),
        (percent(1.0), "1e+02 %"),
    ],
)
def test_numbers_and_names(said, text):
    assert said == text


def test_what_to_do_names_the_codes_if_there_are_any():
    for say in (answers.reduce_noise, answers.find_absent):
        assert "size" in say(["size"], ["code 3"])
    assert "code 3" in answers.reduce_noise(["size"], ["code 3"])
    assert "code 3 and code 4" in answers.reduce_noise(["size"], ["code 3", "code 4"])
    assert "code" in answers.reduce_noise(["size"], [])
    assert "code 3" in answers.separate(["size"], ["code 3"], None)
    assert "R2 0.95" in answers.separate(["size", "hue"], ["code 3"], 0.95)
    assert "R2" not in answers.separate(["size", "hue"], ["code 3"], 0.1)
