"""Pieces of the pages at their limits: places on an axis, frames, images and what a page has room for."""

import base64
import math
import struct
import zlib
from dataclasses import replace

import numpy as np
import pytest

import unweave
from unweave import InputError, Spectrum
from unweave.evaluation.results import setting_of
from unweave.evidence import Evidence
from unweave.report import geometry as geometry_page
from unweave.report import html, notebook
from unweave.report import html as block_pictures
from unweave.report import html as code_pictures
from unweave.report import notebook as notebook_parts
from unweave.report.answer import (
    MOST_FACTORS,
    Answer,
    ComparedAnswer,
    ComparedQuestion,
    FactorRow,
    FactorState,
    QuestionLine,
    Ranked,
)
from unweave.report.geometry import image_shape
from unweave.report.html import LIGHT
from unweave.score import Score
from unweave.trust.verdict_record import Level

pytest.importorskip("matplotlib")
from unweave.report.figures import geometry


def chunks_of(content):
    """The chunks of a PNG by kind; their lengths and checksums have to be right."""
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    found, place = {}, 8
    while place < len(content):
        (length,) = struct.unpack(">I", content[place : place + 4])
        kind, data = content[place + 4 : place + 8], content[place + 8 : place + 8 + length]
        assert struct.unpack(">I", content[place + 8 + length : place + 12 + length]) == (zlib.crc32(kind + data),)
        found[kind] = data
        place += 12 + length
    assert list(found)[-1] == b"IEND"
    return found


@pytest.mark.parametrize(("channels", "colour_type"), [(1, 0), (3, 2)])
def test_images_of_codes_are_png_files_by_the_standard(channels, colour_type):
    pixels = np.arange(2 * 5 * channels, dtype=np.uint8).reshape(2, 5, channels)
    found = chunks_of(code_pictures._png(pixels))
    assert struct.unpack(">IIBBBBB", found[b"IHDR"]) == (5, 2, 8, colour_type, 0, 0, 0)
    lines = np.frombuffer(zlib.decompress(found[b"IDAT"]), dtype=np.uint8).reshape(2, -1)
    assert (lines[:, 0] == 0).all()
    assert np.array_equal(lines[:, 1:], pixels.reshape(2, -1))


def test_a_matrix_is_a_png_file_with_a_palette():
    found = chunks_of(block_pictures.png([[0.0, 0.5, None], [2.0, -1.0, 0.24]], (0.0, 1.0), LIGHT))
    assert struct.unpack(">IIBBBBB", found[b"IHDR"]) == (3, 2, 8, 3, 0, 0, 0)
    assert found[b"PLTE"] == bytes(part for colour in [*LIGHT, block_pictures.UNDEFINED] for part in colour)
    assert list(zlib.decompress(found[b"IDAT"])) == [0, 0, 10, 21, 0, 20, 20, 5]


def strip_size(uri):
    return struct.unpack(">II", base64.b64decode(uri.split(",")[1])[16:24])


@pytest.mark.parametrize(("side", "width"), [(64, 66), (65, 35), (128, 66), (129, 45)])
def test_large_images_are_thinned_out(side, width):
    assert strip_size(code_pictures._picture(np.zeros((3, 1, side, side)))) == (3 * width, width)
    assert strip_size(code_pictures._picture(*np.zeros((2, 3, 1, side, side)))) == (3 * width, 2 * width)


@pytest.mark.parametrize(
    ("shape", "fits"),
    [((9, 1, 4, 5), True), ((9, 3, 4, 5), True), ((9, 2, 4, 5), False), ((8, 1, 4, 5), False), ((9, 4, 5), False)],
)
def test_a_decoder_returns_an_image_with_one_or_three_channels_for_each_code(shape, fits):
    decode, codes = lambda _: np.zeros(shape), np.zeros((9, 2), dtype=np.float32)
    if fits:
        assert code_pictures._decoded(decode, codes).shape == shape
    else:
        with pytest.raises(InputError, match="has to return images"):
            code_pictures._decoded(decode, codes)


def test_ten_images_are_reconstructed_in_the_shape_of_the_data():
    images = np.zeros((12, 1, 4, 5))
    made = code_pictures._reconstructed(lambda codes: np.zeros((len(codes), 1, 4, 5)), images, np.zeros((12, 2)))
    assert strip_size(made) == (10 * 7, 2 * 6)
    with pytest.raises(InputError, match=r"\(1, 4, 5\), but the data set has \(1, 4, 6\)"):
        code_pictures._reconstructed(lambda codes: images[: len(codes)], np.zeros((12, 1, 4, 6)), np.zeros((12, 2)))


def test_the_twenty_most_important_codes_are_traversed():
    codes = np.random.default_rng(0).normal(size=(60, 21)) * np.arange(1.0, 22.0)
    found = code_pictures.code_pictures(Evidence(codes[:, :1], codes), lambda asked: np.zeros((len(asked), 1, 2, 2)))
    assert len(found.rows) == 20
    assert found.rows[0].importance == 1.0
    shares = [row.importance for row in found.rows]
    assert shares == sorted(shares, reverse=True)
    assert found.reconstructions == ""


@pytest.mark.parametrize(
    ("value", "domain", "place"),
    [(0.25, [0, 1], "25.0%"), (-1.0, [0, 1], "0.0%"), (7.0, [0, 1], "100.0%"), (3.0, [2, 6], "25.0%")],
)
def test_places_on_an_axis(value, domain, place):
    assert html._place(value, domain) == place


def test_bars_reach_from_the_smaller_value_to_the_larger():
    assert html._span(5.0, 3.0, [2, 6]) == html._span(3.0, 5.0, [2, 6]) == "left:25.0%;width:50.0%"
    assert html._span(-1.0, 3.0, [2, 6]) == "left:0.0%;width:25.0%"


def test_the_matched_code_is_framed_or_the_strongest_or_none():
    matrix = {
        "representation": "vae",
        "column_names": ["matched", "strongest", "undefined", "zero", "elsewhere"],
        "row_names": ["c0", "c1"],
        "values": [[0.9, -0.8, None, 0.0, None], [0.1, 0.3, None, 0.0, 0.2]],
    }
    pairs = {"vae": [{"factor": "matched", "code": "c1"}, {"factor": "elsewhere", "code": "c7"}]}
    assert html._best_rows(matrix, pairs) == [1, 0, -1, -1, 1]
    assert html._best_rows(matrix, {})[0] == 0


EMPTY = {"verdict": None, "floor": None, "chance": None, "interval": None, "calibrated": None, "groups": [],
         "problem": None, "per_factor": {}}  # fmt: skip


@pytest.mark.parametrize(
    ("cell", "there"),
    [
        ({}, set()),
        ({"verdict": {"reasons": []}}, {"verdict"}),
        ({"verdict": {"reasons": ["one"]}}, {"verdict", "why"}),
        ({"problem": "It failed."}, {"why"}),
        ({"floor": {"p_value": None}}, {"floor"}),
        ({"floor": {"p_value": 0.1}, "chance": 0.0}, {"floor", "p_value"}),
        ({"chance": 0.0}, {"chance"}),
        ({"interval": {"low": 0.1}}, {"interval"}),
        ({"calibrated": 0.0}, {"calibrated"}),
        ({"groups": [0]}, {"ties"}),
        ({"per_factor": {"size": 0.5}}, {"factors"}),
    ],
)
def test_a_page_has_the_columns_that_any_cell_fills(cell, there):
    metric = {"cells": [EMPTY, EMPTY | cell], "domain": [0.0, 1.0], "bounds": [0.0, 1.0]}
    summary = {"metrics": [metric], "data": {"representations": ["a"], "n_rows": 9}}
    found = html._what_there_is(summary)
    assert {name for name, has in found.items() if has and name not in ("one_axis", "several")} == there
    assert (found["one_axis"], found["several"]) == ((0.0, 1.0), False)
    two = {"metrics": [metric, metric | {"domain": [0.0, 2.0]}], "data": {"representations": ["a", "b"], "n_rows": 9}}
    found = html._what_there_is(two)
    assert (found["one_axis"], found["several"]) == (None, True)


def test_the_data_are_embedded_unless_they_are_too_large():
    room = html.MOST_BYTES_OF_DATA - len('{"a": ""}')
    assert html._embedded({"a": "<" + "x" * 10}) == '{"a": "\\u003cxxxxxxxxxx"}'
    assert len(html._embedded({"a": "x" * room})) == html.MOST_BYTES_OF_DATA
    assert html._embedded({"a": "x" * (room + 1)}) == ""


def test_only_names_that_end_with_a_seed_are_grouped():
    found = {name: setting for name in NAMES if (setting := setting_of(name)) != name}
    assert found == {"vae, seed 1": "vae", "vae_seed2": "vae", "vae (seed 3)": "vae", "beta 4/run 12": "beta 4"}


def test_seeds_before_the_setting_are_grouped_and_named_in_full():
    names = ["seed0_epoch80", "seed1_epoch80", "seed0_epoch10", "seed1_epoch10"]
    codes = np.random.default_rng(0).normal(size=(60, 2))
    found = unweave.compare(codes, dict.fromkeys(names, codes), metrics=["mcc"], quick=True)
    page = found.to_html()
    assert '<span class="hidden">epoch80 </span>seed0</th>' in page
    assert found.grouped().groups == ("epoch80", "epoch10")
    with pytest.raises(InputError, match="No two names differ by a seed alone"):
        unweave.compare(codes, {"a": codes, "b": codes}, metrics=["mcc"], quick=True).grouped()


NAMES = ("vae, seed 1", "vae_seed2", "vae (seed 3)", "beta 4/run 12", "layer 3", "seed 1", "reseed 2", "seedling")


def test_steps_and_reasons_are_said_once_for_all_representations_that_share_them():
    steps = ["a: Rotate.", "b: Rotate.", "More rows.", "c: Stop."]
    assert html._shared_steps(steps, ["a", "b", "c"]) == ["a and b: Rotate.", "More rows.", "c: Stop."]
    assert html._shared_names(["mcc of a", "mcc of b", "mcc of c", "r2 of a"]) == "mcc of 3 representations and r2 of a"


@pytest.mark.parametrize(("n", "shape"), [(4, (1, 2, 2)), (12, (3, 2, 2)), (9, (1, 3, 3)), (27, (3, 3, 3))])
def test_square_images_are_recognised(n, shape):
    assert image_shape(n) == image_shape(n, shape) == shape


@pytest.mark.parametrize(("n", "stated"), [(1, None), (3, None), (8, None), (12, (1, 3, 3))])
def test_other_images_are_refused(n, stated):
    with pytest.raises(InputError, match="state"):
        image_shape(n, stated)


def test_a_notebook_shows_forty_rows():
    line = QuestionLine("recovery", "Is it?", "Is?", "yes", "mcc", 0.876, low=0.812, high=0.914, level=Level.TRUST)
    lines = (
        line,
        replace(line, value=None, low=None, level=Level.NOISE),
        replace(line, noise=0.126, level=Level.CAUTION),
        replace(line, metric="", sentence="Some."),
    )
    rows = tuple(
        FactorRow(
            f"z{k}", "own codes", FactorState.OWN_CODES, "own codes", "a, b and c", recovery=k / 40, own_codes=k / 40
        )
        for k in range(41)
    )
    answer = Answer("a", "", "Identified.", "", None, rows, lines, "", (), ("", "Read it."))
    factors, said, questions, *reading = notebook._of_one(answer)
    assert factors.count("<tr>") - 1 == MOST_FACTORS
    shown = f"<td>z40</td><td>own codes</td><td>a, b and c</td>{'<td></td>' * 2}<td>1.00</td>"
    assert shown in factors
    assert said == f"<p>{answer.left_out} Identified.</p>"
    assert "41" in answer.left_out
    cells = [part.split("</td>")[:-1] for part in questions.replace("<td>", "").split("<tr>")[2:]]
    assert cells == [
        ["Is it?", "yes", "0.88 (0.81 to 0.91)", "", "mcc", "trust"],
        ["Is it?", "yes", "", "", "mcc", "noise level"],
        ["Is it?", "yes", "0.88 (0.81 to 0.91)", "0.13", "mcc", "caution"],
        ["Is it?", "yes", "88 %", "", "Some.", ""],
    ]
    assert reading == ["<p>Read it.</p>"]
    entry = Ranked("a", 0.5, None, None, Level.TRUST, "trust", best=True)
    question = ComparedQuestion("recovery", "Is it?", "Is?", "mcc", None, (entry,) * 41, tested=True)
    several = tuple(replace(answer, representation=f"r{k}") for k in range(41))
    names = tuple(one.representation for one in several)
    found, title, table = notebook._of_several(ComparedAnswer("", several, names, (), {}, (question,), "", ()))
    assert found.count("<tr>") - 1 == 40
    assert (title, table.count("<td>best</td>")) == ("<p>Is it? By mcc.</p>", 40)
    many = Score(0.5, metric="mcc", per_factor={f"z{k}": 0.5 for k in range(41)}, per_code={"c": math.nan})
    assert notebook_parts.score_view(many).count("<td>0.500</td>") == 40


def sections(monkeypatch, n_latents, traversed=None, shape=(3, 1, 2)):
    """Headings, descriptions and what the figures of a page of latents are drawn from."""
    monkeypatch.setattr(geometry_page, "_embedded", lambda figure: figure)
    for name in ("spectrum_figure", "tangent_figure", "information_figure", "traversal_figure"):
        monkeypatch.setattr(geometry, name, lambda *given, **options: (*given, options))
    tangents = np.arange(6.0 * n_latents).reshape(6, n_latents)
    names = tuple(f"l{k}" for k in range(n_latents))
    entropies, nothing = np.arange(float(n_latents)) ** 2, np.zeros(n_latents)
    found = Spectrum(names, entropies, nothing, nothing, 0.5, tangents)
    information = np.arange(float(n_latents**2)).reshape(n_latents, n_latents)
    return list(geometry_page._sections(found, information, shape, traversed)), found, information


def test_a_page_of_latents_shows_the_most_important_first(monkeypatch):
    traversed = np.arange(3 * 5 * 6.0).reshape(3, 5, 6)
    (spectrum, tangents, traversals, pairs), found, information = sections(monkeypatch, 3, traversed)
    assert spectrum.words.endswith("The largest drop is 3.00 nats, after 1 of 3 latents.")
    assert spectrum.picture == ({"sorted": found.entropies}, {"knee": 1})
    grey, shape, order, names, _ = tangents.picture
    assert np.array_equal(grey, found.tangents.reshape(3, 2, 3).mean(axis=0))
    assert (shape, order, names) == ((1, 2), [2, 1, 0], found.names)
    images, rows, values, _ = traversals.picture
    assert images.shape == (3, 5, 1, 2, 3)
    assert np.array_equal(images[1, 2, 0, 1], traversed[1, 2].reshape(3, 1, 2)[:, 0, 1])
    assert (rows, values) == (["l2", "l1", "l0"], ["-2", "-1", "0", "1", "2"])
    assert np.array_equal(pairs.picture[0][""], information[::-1, ::-1])
    assert "Only the first" not in pairs.words


def test_a_latent_alone_has_no_drop_and_no_pairs(monkeypatch):
    (spectrum, _, traversals, pairs), *_ = sections(monkeypatch, 1)
    assert "largest drop" not in spectrum.words
    assert spectrum.picture[1] == {"knee": None}
    assert (traversals.picture, pairs.picture) == (None, None)
    assert "latents cannot be decoded with Jacobians alone" in traversals.words


@pytest.mark.parametrize("n_latents", [128, 129])
def test_of_many_latents_twelve_tangents_and_128_rows_are_shown(monkeypatch, n_latents):
    (_, tangents, _, pairs), *_ = sections(monkeypatch, n_latents)
    assert len(tangents.picture[2]) == 12
    assert pairs.picture[0][""].shape == (128, 128)
    assert ("Only the first 128 latents are shown." in pairs.words) == (n_latents > 128)
