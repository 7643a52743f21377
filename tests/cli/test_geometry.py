"""`unweave geometry`, and geometry inside `evaluate`."""

import json
import re
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import unweave
from unweave.cli import main
from unweave.estimators.geometry import random_total_correlation
from unweave.synthetic.known_decoders import Torus

TORUS = "unweave.synthetic.known_decoders:Torus"


def run(*arguments):
    return CliRunner().invoke(main, ["geometry", *arguments])


def test_a_decoder_by_its_path():
    result = run(TORUS, "--samples", "50", "--keep", "1", "--reference", TORUS)
    assert result.exit_code == 0, result.output
    assert "20 outputs, 20 latents" in result.output
    assert "The first 2 latents keep 1 nat." in result.output
    assert "manifold cross mutual information   inf" in result.output
    printed = " ".join(result.output.split())
    by_chance = random_total_correlation(20, 20)
    assert re.search(rf"with randomly rotated latents 1\d\.\d{{3}} with random directions {by_chance:.3f} ", printed)
    assert "depend on the units of the outputs" in printed
    assert "Kept so far is the joint entropy" in printed
    assert "not whether the latents are true factors" in printed


@pytest.mark.parametrize("name", ["j.npy", "j.npz"])
def test_saved_jacobians(tmp_path, name):
    path = tmp_path / name
    jacobians = np.random.default_rng(0).normal(size=(30, 5, 3))
    np.save(path, jacobians) if name.endswith("npy") else np.savez(path, jacobians=jacobians)
    result = run(str(path), "--json")
    assert result.exit_code == 0, result.output
    rows = {row["metric"]: row["score"]["raw"] for row in json.loads(result.output)["rows"]}
    assert rows["total_entropy"] == pytest.approx(unweave.metrics.total_entropy(jacobians).raw)


@pytest.mark.parametrize("samples", ["1000", "50"])
def test_json_has_what_the_text_has_and_nothing_else(samples):
    result = run(TORUS, "--samples", samples, "--keep", "1", "--json")
    content = json.loads(result.output)
    assert unweave.Evaluation.from_json(result.output).labels
    found, facts = unweave.spectrum(Torus(), n_samples=int(samples)), content["geometry"]
    assert facts["schema"] == "unweave.geometry/1"
    assert facts["latents"] == [found.names[i] for i in found.order]
    assert (facts["keep"], facts["n_kept"]) == (1.0, found.n_for(1.0))
    assert (facts["n_before_drop"], facts["largest_drop"]) == found.largest_drop
    assert facts["random_total_correlation"] == pytest.approx(random_total_correlation(20, 20))
    for name in ("total_correlation", "rotated_total_correlation", "effective_dimension"):
        assert facts[name] == pytest.approx(getattr(found, name))
    assert content["answer"]["spectrum"]["drop"] == found.largest_drop[1]
    assert "quick" not in str(content["answer"])
    assert "do not report" not in result.output
    assert json.loads(run(TORUS, "--samples", "5", "--keep", "99", "--json").output)["geometry"]["n_kept"] is None


def test_the_latent_size_of_a_module_with_decode(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    (tmp_path / "flow_without_size.py").write_text(FLOW)
    monkeypatch.chdir(tmp_path)
    found = run("flow_without_size:load")
    assert found.exit_code == 2
    assert "or --latent-size N in the command" in found.output
    outputs = [run(f"flow_without_size:{name}", "--latent-size", "2").output for name in ("load", "model.decode")]
    assert "3 outputs, 2 latents" in outputs[0]
    assert outputs[0] == outputs[1]


FLOW = """
import torch


class Flow(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor([3.0, 1.0]))

    def decode(self, z):
        z = z * self.scale
        return torch.stack([z[:, 0], z[:, 1], z[:, 0] + z[:, 1]], dim=1)


def load():
    return Flow()


model = Flow()
"""


def test_outputs_of_unit_variance(tmp_path):
    np.save(tmp_path / "j.npy", np.array([[[100.0, 20.0], [0.0, 3.0], [0.0, 0.05]]]))
    raw, scaled = run(str(tmp_path / "j.npy")), run(str(tmp_path / "j.npy"), "--standardise", "--json")
    flat = " ".join(raw.output.split())
    assert "the order of the latents 0, 1 1, 0 no" in flat
    assert "the values depend on the units of the outputs" in flat
    content = json.loads(scaled.output)
    assert content["geometry"]["latents"] == ["latent 1", "latent 0"]
    assert content["data"]["decoders"]["decoder"]["is_standardised"]
    assert "Every output was scaled to unit variance" in content["answer"]["headline"]


COUPLING = """
import torch


class Flow(torch.nn.Module):
    def __init__(self, size=4):
        super().__init__()
        self.half = size // 2
        self.net = torch.nn.Linear(self.half, size - self.half)
        self.scale = torch.nn.Parameter(torch.ones(size))

    def forward(self, z):
        a, b = z[:, : self.half], z[:, self.half :]
        return torch.cat([a, b * self.net(a).exp()], dim=1) * self.scale


def load(path="weights.pt", strict=True):
    model = Flow()
    model.load_state_dict(torch.load(path), strict=strict)
    return model


def empty(size=2):
    Flow(size)


def pair(size=2):
    return Flow(size)


def broken(z):
    return z.no_such_method()


class Plain:
    latent_size = 2

    def jacobian_blocks(self, latents):
        raise KeyError("no weights here")
"""


@pytest.fixture
def coupling(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    (tmp_path / "coupling_flow.py").write_text(COUPLING)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "coupling_flow", raising=False)
    return torch


def test_a_loader_whose_arguments_have_defaults_and_the_size_of_a_coupling_flow(coupling):
    failed = run("coupling_flow:load")
    assert failed.exit_code == 2
    assert "called without arguments to make the decoder and failed (FileNotFoundError" in failed.output
    states = {"net.weight": coupling.ones(2, 2), "net.bias": coupling.zeros(2), "scale": coupling.arange(1.0, 5.0)}
    coupling.save(states, "weights.pt")
    found = run("coupling_flow:load")  # the first linear layer has 2 inputs
    assert "4 outputs, 4 latents" in found.output
    assert found.output == run("coupling_flow:load", "--latent-size", "4").output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["coupling_flow:Flow", "--latent-size", "4"], "new, untrained weights: name a trained Flow, or a function"),
        (["coupling_flow:Flow"], "such as coupling_flow:load"),
        (["coupling_flow:empty"], "coupling_flow:empty returns nothing"),
        (["coupling_flow:pair"], "because it takes 1 and 2 latents"),
        (["coupling_flow:broken", "--latent-size", "2"], "or --latent-size N on the command line"),
        (["coupling_flow:Plain"], "(KeyError: 'no weights here')"),
        (["coupling_flow:broken", "--latent-size", "2", "--standardise"], "The decoder fails (AttributeError"),
    ],
)
def test_a_mistake_in_ones_own_code_is_one_sentence(coupling, words, sentence):
    result = run(*words)
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)
    assert result.output.startswith("Error: ")
    assert sentence in " ".join(result.output.split())


def test_names_of_outputs(tmp_path):
    np.save(tmp_path / "j.npy", np.array([[[0.5, 0.0], [-2.0, 0.25]]]))
    flat = " ".join(run(str(tmp_path / "j.npy"), "--output-names", "flow,heat").output.split())
    assert "change by flow heat" in flat
    assert "latent 0 +0.5 (0.5) \N{MINUS SIGN}2 (2)" in flat


def test_without_a_knee_all_latents_count_everywhere(tmp_path):
    np.save(tmp_path / "j.npy", np.diag([1.0, 0.9, 0.8])[None])
    text = " ".join(run(str(tmp_path / "j.npy")).output.split())
    assert "Each of the 3 latents changes the outputs: their entropies fall by at most 0.12 nats" in text
    assert "largest drop 0.118 after 2 latents, which is no knee (at least 1 nat)" in text
    assert "effective dimension" not in text
    np.save(tmp_path / "steps.npy", np.diag(np.exp(-0.9 * np.arange(5)))[None])
    assert "fall by 3.60 nats gradually, by at most 0.90" in " ".join(run(str(tmp_path / "steps.npy")).output.split())


def test_the_page_of_a_decoder_is_that_of_python(tmp_path):
    page = tmp_path / "flow.html"
    assert run(TORUS, "--samples", "50", "--html", str(page)).exit_code == 0
    assert "What each latent does to the outputs" in page.read_text()
    assert "there is no folder" in run(TORUS, "--html", str(tmp_path / "none" / "flow.html")).output


def test_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    assert run(TORUS, "--samples", "20", "--picture", str(tmp_path / "s.png")).exit_code == 0
    assert (tmp_path / "s.png").exists()


def test_a_page_of_pictures(tmp_path):
    pytest.importorskip("matplotlib")
    page = tmp_path / "page.html"
    result = run(TORUS, "--samples", "20", "--pictures", str(page), "--image-shape", "1,4,5")
    assert result.exit_code == 0, result.output
    text = page.read_text()
    assert text.count("data:image/png;base64,") == 4
    for heading in ("changes the image", "mean effect", "Traversals of", "same effect"):
        assert heading in text
    assert "after 10 of 20 latents" in text


def test_jacobians_alone_have_no_traversals(tmp_path):
    pytest.importorskip("matplotlib")
    np.save(tmp_path / "j.npy", np.random.default_rng(0).normal(size=(10, 48, 3)))  # 3 x 4 x 4
    result = run(str(tmp_path / "j.npy"), "--pictures", str(tmp_path / "page.html"))
    assert result.exit_code == 0, result.output
    text = (tmp_path / "page.html").read_text()
    assert text.count("data:image/png;base64,") == 3
    assert "pass the decoder itself" in text


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--pictures", "page.html"), "state their shape with --image-shape"),
        (("--pictures", "page.html", "--image-shape", "1,5,5"), "have 25 numbers, and this decoder returns 20"),
        (("--pictures", "page.html", "--image-shape", "5,5"), "not three whole numbers"),
        (("--pictures", "page.html", "--image-shape", "2,2,5"), "cannot be drawn"),
        (("--pictures", "page.png"), "does not end in .html"),
        (("--pictures", "nowhere/page.html"), "there is no folder"),
    ],
)
def test_pages_that_cannot_be_made_are_refused(tmp_path, monkeypatch, options, sentence):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    result = run(TORUS, "--samples", "5", *options)
    assert result.exit_code == 2
    assert sentence in " ".join(result.output.replace("│", " ").split())


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("nothing.npy", "no file"),
        ("decoder", "module:name"),
        ("no_such_module:net", "cannot be imported"),
        ("unweave.synthetic.known_decoders:Nothing", "has no 'Nothing'"),
        ("unweave.synthetic.known_decoders:ROWS_PER_BLOCK", "cannot be differentiated here"),
    ],
)
def test_bad_sources_end_with_one_sentence(source, sentence):
    result = run(source)
    assert result.exit_code == 2
    assert sentence in result.output
    assert "Traceback" not in result.output


def test_evaluate_adds_geometry_when_a_decoder_is_passed():
    factors = np.random.default_rng(0).normal(size=(200, 2))
    plain = unweave.evaluate(factors, factors, missing="refuse", quick=True)
    assert "total_entropy" not in plain.labels  # not a failed row either
    both = unweave.evaluate(factors, factors, decoder=np.eye(2), quick=True)
    assert both["manifold_total_correlation"].raw == 0.0
    assert "manifold_cross_mutual_information" not in both.labels
    assert both.labels[: len(plain.labels)] == plain.labels
    asked = unweave.evaluate(factors, factors, metrics=["total_entropy"])
    assert "pass decoder=" in str(asked.rows[0].problem)
    alone = unweave.evaluate(decoder=np.eye(2))
    assert str(alone).startswith("A decoder alone")


def test_unknown_reproductions_are_refused():
    for arguments in (["000", "fig9"], ["999", "fig1"]):
        result = CliRunner().invoke(main, ["reproduce", *arguments])
        assert result.exit_code == 2
        assert "Error" in result.output
