"""A decoder without factors has an answer of its own: the spectrum in nats with its knee, pairs, and traversals."""

import json
import re

import numpy as np
import pytest

import unweave
from unweave.report.answer import answer_of

SCALES = np.array([4.0, 3.0, 0.02, 0.01])


class Linear:
    """A linear decoder of 16 outputs; latents 0 and 1 have a cosine of .6, and all others are orthogonal."""

    latent_size = 4

    def __init__(self):
        basis = np.linalg.qr(np.random.default_rng(0).normal(size=(16, 4)))[0]
        basis[:, 1] = 0.6 * basis[:, 0] + 0.8 * basis[:, 1]
        self.map = basis * SCALES

    def decode(self, latents):
        return latents @ self.map.T

    def jacobian_blocks(self, latents):
        yield np.broadcast_to(self.map, (len(latents), 16, 4))


@pytest.fixture(scope="module")
def found():
    return unweave.evaluate(decoder=Linear())


def test_the_spectrum_is_the_closed_form(found):
    spectrum = answer_of(found).spectrum
    assert [row.latent for row in spectrum.latents] == [f"latent {i}" for i in range(4)]
    expected = 0.5 * np.log(2 * np.pi * np.e) + np.log(SCALES)  # entropy of a normal variable
    assert [row.entropy for row in spectrum.latents] == pytest.approx(expected.tolist())
    assert (spectrum.n_used, spectrum.drop) == (2, pytest.approx(np.log(3 / 0.02)))
    shared = -0.5 * np.log(1 - 0.36)
    assert spectrum.pairs == (("latent 0", "latent 1", pytest.approx(shared)),)
    assert spectrum.total_correlation == pytest.approx(shared)


def test_traversals_are_those_of_the_decoder(found):
    traversals = found.data.traversals["codes"]
    assert [row.latent for row in traversals] == [f"latent {i}" for i in range(4)]
    decoded = np.array([[2.0 * step * Linear().map[:, i] for step in (-1, -0.5, 0, 0.5, 1)] for i in range(4)])
    scaled = (decoded - decoded.min()) / np.ptp(decoded)
    assert np.array([row.pictures for row in traversals]).reshape(4, 5, 16) == pytest.approx(scaled, abs=0.006)


@pytest.mark.parametrize("given", ["decoder", "Jacobians"])
def test_every_output_has_the_answer_and_nothing_that_needs_factors(given):
    found = unweave.evaluate(decoder=Linear() if given == "decoder" else np.broadcast_to(Linear().map, (50, 16, 4)))
    answer = answer_of(found)
    page = found.to_html()
    for text in (str(found), found.to_markdown(), page, found._repr_html_()):
        flat = " ".join(text.split())
        for sentence in (answer.headline, answer.identified, answer.report, *answer.next_steps):
            assert sentence in flat
        body = flat.split("For your paper")[0]
        for forbidden in ("0 rows", "identification", "mcc", "noise floor", "not checked", "on an axis from"):
            assert forbidden not in re.sub(r"<(style|script).*?</\1>", "", body)
    assert (page.count("<img") > 0) == (given == "decoder")
    assert json.loads(found.to_json())["answer"]["spectrum"]["n_used"] == 2
    assert unweave.Evaluation.from_json(found.to_json()) == found


def test_an_even_spectrum_has_no_knee_and_one_latent_no_spectrum():
    even = answer_of(unweave.evaluate(decoder=np.eye(4)))
    assert "no knee" in even.headline
    assert "orthogonal" in even.identified
    assert "one latent" in answer_of(unweave.evaluate(decoder=np.ones((3, 1)))).headline


def test_latents_without_effect_are_named_and_drawn_without_a_bar():
    decoder = np.diag([1.0, 0.9, 0.0, 0.0])[:, [2, 0, 1, 3]]
    evaluation = unweave.evaluate(decoder=decoder)
    answer = answer_of(evaluation)
    assert [row.entropy is None for row in answer.spectrum.latents] == [False, False, True, True]
    assert answer.headline.endswith("do not change the data.")
    section = evaluation.to_html().split('id="answer"')[1].split("</section>")[0]
    assert "no effect" in section
    assert "inf" not in section
    assert "no effect" in str(evaluation)


def test_a_decoder_that_cannot_be_traversed_keeps_its_scores():
    class Shy(Linear):
        """A decoder that decodes its own latents only."""

        def decode(self, latents):
            raise RuntimeError("not these")

    assert unweave.evaluate(decoder=Shy())["manifold_entropy"].value == pytest.approx(
        unweave.evaluate(decoder=Linear())["manifold_entropy"].value
    )
