"""A decoder without factors has an answer of its own: the spectrum in nats with its knee, pairs, and traversals."""

import json
import re

import numpy as np
import pytest

import unweave
from unweave.estimators.geometry import random_pair_information
from unweave.metrics.manifolds import standardised
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
    traversals = found.data.traversals["decoder"]
    assert [row.latent for row in traversals] == [f"latent {i}" for i in range(4)]
    decoded = np.array([[2.0 * step * Linear().map[:, i] for step in (-1, -0.5, 0, 0.5, 1)] for i in range(4)])
    low, high = decoded.min(axis=(1, 2), keepdims=True), decoded.max(axis=(1, 2), keepdims=True)
    scaled = (decoded - low) / (high - low)  # in every row, or small effects could not be seen
    assert np.array([row.pictures for row in traversals]).reshape(4, 5, 16) == pytest.approx(scaled, abs=0.006)


def test_traversals_of_vectors_are_changes_from_the_outputs_at_zero():
    class Shifted(Linear):
        """Outputs whose size hides what latents do."""

        def decode(self, latents):
            return super().decode(latents) + 1000 * np.arange(16)

    shown = [unweave.evaluate(decoder=each).data.traversals["decoder"] for each in (Linear(), Shifted())]
    assert shown[0] == shown[1]


DIRECTIONS = np.linalg.qr(np.random.default_rng(1).normal(size=(8, 8)))[0]


@pytest.mark.parametrize(
    ("jacobian", "rotated", "random"),
    [
        (DIRECTIONS * np.geomspace(9, 0.1, 8), "less", "less"),
        (DIRECTIONS, "as much", "less"),  # every rotation of it is orthogonal too
        (np.random.default_rng(0).normal(size=(8, 8)) * np.geomspace(99, 0.1, 8), "less", "as much"),
        (DIRECTIONS * np.geomspace(9, 0.1, 8) @ DIRECTIONS, "as much", "more"),
        (np.eye(8) + 9, "more", "more"),
    ],
)
def test_the_total_correlation_is_read_beside_rotated_latents_and_random_directions(jacobian, rotated, random):
    evaluation = unweave.evaluate(decoder=jacobian)
    answer, total = answer_of(evaluation), evaluation["manifold_total_correlation"]
    found = answer.spectrum
    assert (found.rotated.decoder_has, found.random.decoder_has) == (rotated, random)
    better = {"less": "better than", "as much": "no better than", "more": "worse than"}[rotated]
    more = {"less": "more", "as much": "no more", "more": "less"}[random]
    joined = "but" if (rotated == "less") != (random == "less") else "and"
    assert f"{better} an arbitrary basis of the same map, {joined} the directions are {more} orth" in answer.headline
    for said in (answer.identified, answer.report):
        for part in ("rotated_latents", "random_decoder"):
            assert f" share {total.parts[part][0]:.2f} (" in said


def test_pairs_are_those_above_chance_in_as_many_outputs():
    pairs = np.eye(8)
    pairs[:2, 1] = [0.8, 0.6]  # 0.51 nats
    pairs[2:4, 3] = [0.6, 0.8]  # 0.22 nats: above 0.1 and below 0.29, what 5 % of random pairs exceed
    answer = answer_of(unweave.evaluate(decoder=pairs))
    assert answer.spectrum.least_shared == pytest.approx(random_pair_information(8)) == pytest.approx(0.2936, abs=1e-4)
    assert [pair[:2] for pair in answer.spectrum.pairs] == [("latent 0", "latent 1")]
    assert answer.spectrum.alone == [f"latent {i}" for i in range(2, 8)]
    assert "Pairs that share more than 0.29 nats, which 5 % of pairs of random directions exceed" in answer.identified
    assert "latent 2, latent 3," in answer.identified
    assert answer.identified.endswith("no more than that with any other single latent.")
    many = answer_of(unweave.evaluate(decoder=np.vstack([pairs, np.zeros((4000, 8))])))
    assert [pair[:2] for pair in many.spectrum.pairs] == [("latent 0", "latent 1"), ("latent 2", "latent 3")]
    assert "Pairs that share more than 0.10 nats: " in many.identified
    assert "nearly orthogonal anyway with so many outputs" in many.identified


def test_a_small_drop_is_borderline():
    clear, borderline = (
        answer_of(unweave.evaluate(decoder=np.diag(np.exp([drop, 0.0])))).headline for drop in (1.6, 1.1)
    )
    assert "1 of 2 latents does most of the work" in clear
    assert "borderline" in borderline
    assert "does most of the work" not in borderline


def test_the_page_has_the_pairs_the_caveats_and_how_to_compare_a_pair(found):
    page, text = found.to_html(), " ".join(str(found).split())
    assert page.split("Pairs of latents")[1].split("</figure>")[0].count("0.22") == 2
    assert "manifold_mutual_information(decoder).parts" in page
    assert "Every row has a scale of its own" in page
    for said in (text, " ".join(page.split())):
        assert "depend on the units of the outputs" in said
        assert "not whether the latents are true factors" in said
        assert "unweave.metrics.manifolds.traversals(decoder, (0, 1))" in said


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
    assert "at least 1 nat. latent 0 and latent 3 do not change the data. All of this" in answer.headline
    section = evaluation.to_html().split('id="answer"')[1].split("</section>")[0]
    assert "no effect" in section
    assert not re.search(r"\binf\b", section)
    assert "no effect" in str(evaluation)


def test_a_decoder_that_cannot_be_traversed_keeps_its_scores():
    class Shy(Linear):
        """A decoder that decodes its own latents only."""

        def decode(self, latents):
            raise RuntimeError("not these")

    assert unweave.evaluate(decoder=Shy())["manifold_entropy"].value == pytest.approx(
        unweave.evaluate(decoder=Linear())["manifold_entropy"].value
    )


SENSORS = np.array([100.0, 1.0, 0.01, 1.0])  # units of four outputs
MIXED = np.array([[1.0, 0.2, 0.1], [0.0, 3.0, 0.0], [0.0, 0.0, 0.4], [0.5, 0.0, 2.0]])


def total_correlation(jacobian):
    """I = sum_i log |J_i| - 1/2 log det J'J (000, eq. 9)."""
    return np.log(np.linalg.norm(jacobian, axis=0)).sum() - 0.5 * np.linalg.slogdet(jacobian.T @ jacobian)[1]


def test_statements_are_compared_with_outputs_of_unit_variance_in_closed_form():
    jacobian = MIXED * SENSORS[:, None]
    scaled = jacobian / np.linalg.norm(jacobian, axis=1, keepdims=True)
    evaluation = unweave.evaluate(decoder=jacobian)
    found, described = answer_of(evaluation).spectrum, evaluation.data.decoders["decoder"]
    assert described.deviations == pytest.approx(np.linalg.norm(jacobian, axis=1).tolist())
    assert evaluation["manifold_total_correlation"].value == pytest.approx(total_correlation(jacobian))
    assert described.standardised["manifold_total_correlation"].value == pytest.approx(total_correlation(scaled))
    entropies = 0.5 * np.log(2 * np.pi * np.e) + np.log(np.linalg.norm(scaled, axis=0))
    assert list(described.standardised["manifold_entropy"].per_code.values()) == pytest.approx(entropies.tolist())
    rows = {row.about: row for row in found.units.statements}
    for each, shown in ((jacobian, "as_given"), (scaled, "unit_variance")):
        order = np.argsort(-np.linalg.norm(each, axis=0)).tolist()
        assert getattr(rows["the order of the latents"], shown) == ", ".join(map(str, order))
    assert not rows["the order of the latents"].holds
    for text in (str(evaluation), evaluation.to_markdown(), evaluation.to_html(), evaluation._repr_html_()):
        assert "unit variance" in text
        for shown in ("as_given", "unit_variance"):
            assert getattr(rows["the order of the latents"], shown) in text
    assert "the values depend on the units of the outputs" in answer_of(evaluation).headline
    assert "standardised(decoder)" in answer_of(evaluation).next_steps[0]


@pytest.mark.parametrize("decoder", [np.eye(4), DIRECTIONS])
def test_outputs_of_one_unit_change_no_statement(decoder):
    """The deviations are equal, so that both are the same up to one factor."""
    evaluation = unweave.evaluate(decoder=decoder)
    assert answer_of(evaluation).spectrum.units.changed == []
    assert "All of this also holds with every output scaled to unit variance." in answer_of(evaluation).headline


def test_units_are_not_asked_of_images_and_not_known_from_jacobians_that_vary():
    image = unweave.evaluate(decoder=np.linalg.qr(np.random.default_rng(0).normal(size=(64, 3)))[0])
    assert answer_of(image).spectrum.units is None
    assert "unit variance" not in str(image)
    varying = unweave.evaluate(decoder=np.random.default_rng(0).normal(size=(20, 5, 3)))
    assert "Jacobians alone do not say how much each output varies" in answer_of(varying).headline
    assert unweave.Evaluation.from_json(varying.to_json()) == varying


def test_a_latent_that_shares_little_with_each_may_share_much_with_all_others():
    n_others = 6
    jacobian = np.eye(8)[:, : n_others + 1]
    jacobian[:, n_others] = [0.4] * n_others + [0.2, 0.0]  # 1 - R^2 = .04, and its cosine with each other one is .4
    shared = {"one": -0.5 * np.log(1 - 0.16), "all": -0.5 * np.log(0.04)}
    evaluation = unweave.evaluate(decoder=jacobian)
    found = answer_of(evaluation).spectrum
    last = next(row for row in found.latents if row.latent == "latent 6")
    assert (last.shared, last.with_all) == pytest.approx((shared["one"], shared["all"]))
    assert found.pairs == ()
    assert (found.sum_of_pairs, found.total_correlation) == pytest.approx((n_others * shared["one"], shared["all"]))
    for text in (str(evaluation), evaluation.to_markdown(), evaluation.to_html(), evaluation._repr_html_()):
        flat = " ".join(text.split())
        assert "1.61" in flat
        assert "with all others together, each shares" in flat
        assert "The 21 pairs add up to 0.52 of the 1.61 nats; the rest shows only when more than two" in flat


SIGNED = np.array([[0.5, 0.0], [-2.0, 0.25], [0.0, -4.0]])
SENSOR_NAMES = ["flow", "heat", "level"]


def test_what_each_latent_does_to_each_output_is_the_matrix_of_a_linear_decoder():
    evaluation = unweave.evaluate(decoder=SIGNED, output_names=SENSOR_NAMES)
    assert "in brackets its root mean square" in answer_of(evaluation).reading[0]
    effects, described = answer_of(evaluation).spectrum.effects, evaluation.data.decoders["decoder"]
    assert described.outputs == effects.outputs == tuple(SENSOR_NAMES)
    assert described.mean_effects == ((0.5, -2.0, 0.0), (0.0, 0.25, -4.0))
    assert effects.latents == ("latent 1", "latent 0")
    assert effects.mean == ((0.0, 0.25, -4.0), (0.5, -2.0, 0.0))
    assert effects.size == ((0.0, 0.25, 4.0), (0.5, 2.0, 0.0))
    for text in (str(evaluation), evaluation.to_markdown(), evaluation.to_html(), evaluation._repr_html_()):
        assert all(name in text for name in SENSOR_NAMES)
        flat = re.sub("<[^>]*>|[|]", " ", text)
        assert "+0.25 (0.25) \N{MINUS SIGN}4 (4)" in " ".join(flat.split())
    assert json.loads(evaluation.to_json())["answer"]["spectrum"]["effects"]["mean"][0] == [0.0, 0.25, -4.0]


def test_effects_whose_signs_cancel_keep_their_size_and_many_outputs_have_none():
    both = np.stack([np.diag([2.0, 1.0]), np.diag([-2.0, 1.0])])
    effects = answer_of(unweave.evaluate(decoder=both)).spectrum.effects
    assert effects.outputs == ("output 0", "output 1")
    assert (effects.mean, effects.size) == (((0.0, 0.0), (0.0, 1.0)), ((2.0, 0.0), (0.0, 1.0)))
    assert unweave.spectrum(both).rms_tangents.tolist() == [[2.0, 0.0], [0.0, 1.0]]
    wide = np.random.default_rng(0).normal(size=(21, 2))
    assert answer_of(unweave.evaluate(decoder=wide)).spectrum.effects is None
    tables = answer_of(unweave.evaluate(decoder=wide[:18])).spectrum.effects.tables()
    assert [len(table.heads) - 1 for table in tables] == [4, 4, 4, 4, 2]
    assert tables[-1].heads == ("change by", "output 16", "output 17")
    assert "\N{HORIZONTAL ELLIPSIS}" not in str(unweave.evaluate(decoder=wide[:18] * 0.00123456))
    with pytest.raises(unweave.InputError, match="There are 3 output_names for 2 outputs"):
        unweave.evaluate(decoder=both, output_names=SENSOR_NAMES)


def test_a_decoder_of_which_nothing_can_be_computed_is_an_error():
    class Failing(Linear):
        """A decoder without derivatives."""

        def jacobian_blocks(self, latents):
            yield np.full((len(latents), 16, 4), np.nan)

    for call in (lambda: unweave.evaluate(decoder=Failing()), lambda: unweave.spectrum(Failing())):
        with pytest.raises(unweave.InputError, match="derivative with respect to latent 0 is nan"):
            call()
    answer = answer_of(unweave.evaluate(decoder=np.eye(2), metrics=["manifold_total_correlation"]))
    assert answer.headline.startswith("The manifold entropies were not computed")


def test_what_to_report_says_how_it_was_measured_and_what_was_found():
    evaluation = unweave.evaluate(decoder=Linear())
    answer = answer_of(evaluation)
    assert "4 latents are 2.81 to −3.19 nats, with the largest drop (5.01 nats) after 2, in the order 0, 1, 2, 3." in (  # noqa: RUF001
        answer.report
    )
    assert f"Pairs that share more than {random_pair_information(16):.2f} nats: 0 with 1." in answer.report
    drawn = "Values are means over 1,000 latents drawn from the standard normal prior; ± is the standard error of these"
    for text in (answer.report, answer.reading[0], " ".join(str(evaluation).split()), evaluation.to_html()):
        assert drawn in text
    given = unweave.evaluate(decoder=np.broadcast_to(Linear().map, (50, 16, 4)))
    assert "means over 50 given Jacobians; ± is the standard error of this sample alone" in str(answer_of(given).report)


def test_a_decoder_alone_is_not_called_codes_and_has_no_empty_columns():
    evaluation = unweave.evaluate(decoder=Linear())
    assert evaluation.representations == ("decoder",)
    assert evaluation.to_frame()["representation"].tolist() == ["decoder"] * len(evaluation.rows)
    assert repr(evaluation).startswith("Evaluation(a decoder alone: manifold_entropy = ")
    assert repr(unweave.Evidence(decoder=Linear())) == "Evidence(a decoder of 4 latents)"
    page = evaluation.to_html()
    section = page.split('id="verdicts"')[1].split("</section>")[0]
    for said in (str(evaluation), section):
        assert "no verdict" not in said
        assert "noise" not in said
    assert "by question, with score" in section


@pytest.mark.parametrize("n_outputs", [6, 30, 64])
@pytest.mark.parametrize("is_scaled", [False, True])
def test_every_decoder_has_a_page_with_or_without_the_tables(n_outputs, is_scaled):
    jacobian = np.random.default_rng(0).normal(size=(n_outputs, 3))
    evaluation = unweave.evaluate(decoder=standardised(jacobian) if is_scaled else jacobian)
    page = evaluation.to_html()
    assert ("What each latent does to the outputs" in page) == (n_outputs <= 20)
    assert ("Do the units of the outputs matter?" in page) == (not is_scaled and n_outputs != 64)
