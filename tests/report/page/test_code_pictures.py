"""Traversals on the page: the order of codes, their factors, the bytes of the images, and the command line."""

import base64

import numpy as np
import pytest
from click.testing import CliRunner

from unweave import InputError
from unweave.cli import main
from unweave.datasets import small_sprites
from unweave.encoding import encode
from unweave.evidence import Evidence, Posterior
from unweave.report.html import code_pictures, decoder_of

MODEL = """
import numpy as np
class Model:
    def encode(self, images):
        at = np.arange(16.0)
        lit = images.sum(axis=(1, 2, 3))
        x, y = images[:, 0].sum(axis=1) @ at / lit, images[:, 0].sum(axis=2) @ at / lit
        return np.stack([x, 0 * x, y], axis=1), np.stack([0 * x + 0.3, 0 * x + 1, 0 * x + 0.1], axis=1)
    def decode(self, codes):
        at = np.arange(16.0)
        x, y = codes[:, 0, None, None], codes[:, 2, None, None]
        far = np.square(at[None, None, :] - x) + np.square(at[None, :, None] - y)
        return np.exp(-far / 8)[:, None]
"""


def model():
    names = {}
    exec(MODEL, names)
    return names["Model"]()


def test_rows_are_sorted_and_matched():
    sprites = small_sprites()
    found = encode(model(), sprites, rows=800)
    pictures = code_pictures(found.evidence(), decoder_of(model()))
    assert [row.code for row in pictures.rows] == ["code 2", "code 0", "code 1"]
    assert [row.factor for row in pictures.rows[:2]] == ["y", "x"]
    assert pictures.rows[2].importance == pytest.approx(0, abs=1e-9)
    assert pictures.rows[0].share > 0.6


def test_a_strip_is_a_picture_of_the_decoded_images():
    image = pytest.importorskip("PIL.Image")
    from io import BytesIO

    codes = np.random.default_rng(0).normal(size=(200, 2))
    flat = lambda z: np.broadcast_to((0.5 + z[:, 0] / 8)[:, None, None, None], (len(z), 3, 8, 8))  # noqa: E731
    evidence = Evidence(codes, Posterior(codes, 0.1 + 0 * codes))
    row = code_pictures(evidence, flat).rows
    strip = next(entry.strip for entry in row if entry.code == "code 0")
    pixels = np.asarray(image.open(BytesIO(base64.b64decode(strip.split(",")[1]))))
    assert pixels.shape == (10, 90, 3)
    centres = pixels[5, 5::10, 0] / 255
    assert (np.diff(centres) > 0).all()
    assert centres[0] == pytest.approx(0.5 + np.quantile(codes[:, 0], 0.02) / 8, abs=0.01)


@pytest.mark.parametrize(
    ("decode", "message"),
    [
        (lambda z: z, "has to return images"),
        (lambda z: np.full((len(z), 1, 4, 4), np.nan), "nan or infinite"),
    ],
)
def test_bad_decoders(decode, message):
    codes = np.random.default_rng(0).normal(size=(100, 2))
    with pytest.raises(InputError, match=message):
        code_pictures(Evidence(codes, codes), decode)
    with pytest.raises(InputError, match="cannot decode"):
        decoder_of(3)


def test_the_page_has_the_pictures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "pictured_model.py").write_text(MODEL)
    encode(model(), small_sprites(), out="codes.npz", rows=300)
    command = ["score", "codes.npz", "--metrics", "mcc", "--quick", "--decoder", "pictured_model:Model"]
    done = CliRunner().invoke(main, [*command, "--images", "small_sprites", "--html", "page.html"])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("data:image/png;base64") == 4
    assert "What each code does" in page
    refused = CliRunner().invoke(main, command)
    assert refused.exit_code == 2
    assert "--html" in refused.output
    plain = CliRunner().invoke(main, ["score", "codes.npz", "--metrics", "mcc", "--quick", "--html", "plain.html"])
    assert plain.exit_code == 0, plain.output
    assert "What each code does" not in (tmp_path / "plain.html").read_text(encoding="utf-8")
