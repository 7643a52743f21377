"""What people try first, and inputs that are probably not meant so."""

import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import unweave
from unweave import Evidence, InputError, OptionError
from unweave.cli import main

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(300, 3))
C = Z @ RNG.normal(size=(3, 3))
ONE_HOT = np.eye(4)[RNG.integers(0, 4, 300)]


def asked(factors, codes):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        Evidence(factors, codes)
    return [str(entry.message) for entry in found]


def test_scores_are_formatted_as_numbers():
    score = unweave.metrics.mcc(Z, Z)
    assert f"{score:.3f}" == "1.000"
    assert f"{score}" == "Score(mcc = 1)"


def test_representations_are_one_short_line():
    one = unweave.evaluate(Z, C, metrics=["mcc", "r2"], quick=True)
    two = unweave.compare(Z, [C, Z], metrics=["mcc"], quick=True)
    posterior = unweave.Posterior(C, np.ones_like(C))
    shown = [*map(repr, (one, two, one.rows[0], one.data, posterior, unweave.unlabelled({"a": C, "b": Z})))]
    assert max(map(len, shown)) < 120
    assert not any("\n" in line for line in shown)
    assert shown[0].startswith("Evaluation(300 rows, 3 factors: mcc = 0.")


def test_a_figure_without_matplotlib_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "unweave.report.figures.scores", None)
    monkeypatch.delitem(sys.modules, "unweave.report.figures.scores")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    with pytest.raises(OptionError, match=r"install unweave\[report\]"):
        unweave.evaluate(Z, C, metrics="mcc", quick=True).plot()


def test_names_that_people_expect_say_what_to_use():
    with pytest.raises(OptionError, match=r"write unweave\.evaluate\(factors, codes\)"):
        unweave.score(Z, C)
    for name, instead in {"geometry": "spectrum", "mcc": "unweave.metrics.mcc", "train": "models.train"}.items():
        with pytest.raises(AttributeError, match=instead):
            getattr(unweave, name)
    with pytest.raises(AttributeError, match=r"has no attribute 'nonsense'$"):
        unweave.nonsense  # noqa: B018


@pytest.mark.parametrize("metrics", ["mcc,r2", "MCC, R2", ["MCC", "r2"], " mcc ,r2,"])
def test_metric_names_in_any_case_and_in_one_text(metrics):
    assert unweave.evaluate(Z, C, metrics=metrics, quick=True).labels == ("mcc", "r2")


def test_groups_in_any_case():
    assert len(unweave.evaluate(Z, C, metrics="DCI", quick=True).labels) == 5


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"representations": [C, Z], "names": ["a", "b"]}, ("a", "b")),
        ({"representations": [("a", C), ("b", Z)]}, ("a", "b")),
        ({"representations": [C, Z]}, ("codes 0", "codes 1")),
    ],
)
def test_compare_takes_a_list(given, names):
    assert unweave.compare(Z, metrics=["mcc"], quick=True, **given).representations == names


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"representations": [C, Z], "names": ["a"]}, "does not name 2 representations: pass one name for each"),
        ({"representations": {"a": C}, "names": ["a"]}, "have names already"),
        ({"representations": []}, "nothing to compare"),
        ({"representations": C}, "nothing to compare: pass a mapping from names to codes, or a list with names="),
    ],
)
def test_lists_that_cannot_be_compared(given, message):
    with pytest.raises(unweave.UnweaveError, match=message):
        unweave.compare(Z, **given)


def test_a_mean_and_a_log_variance_are_answered_with_posterior():
    with pytest.raises(InputError, match=r"pass unweave\.Posterior\(mean, log_variance=log_variance\)"):
        unweave.evaluate(Z, (C, np.zeros_like(C)))


@pytest.mark.parametrize(
    ("factors", "codes", "question"),
    [
        (Z.T, C.T, "There are 3 rows and 300 factors: pass factors.T and codes.T"),
        (RNG.normal(size=(300, 64)), Z, "The 64 factors look like codes"),
        (Z, RNG.integers(0, 4, (300, 2)), "look like codes, and the 2 codes like factors"),
        (ONE_HOT, C, "one-hot columns"),
        (np.column_stack([Z[:, 0], ONE_HOT]), C, "'factor 1', 'factor 2', 'factor 3', 'factor 4' are 0 or 1"),
        (pd.DataFrame({"Unnamed: 0": range(300), "a": Z[:, 0]}), C, "Factor 'Unnamed: 0' counts the rows"),
        (Z, np.column_stack([np.arange(1, 301), C]), "Code 'code 0' counts the rows"),
    ],
)
def test_what_is_probably_not_meant_so_is_asked_about(factors, codes, question):
    (sentence,) = asked(factors, codes)
    assert question in sentence


@pytest.mark.parametrize(
    ("factors", "codes"),
    [
        (Z, C),
        (RNG.integers(0, 2, (300, 4)), C),  # binary factors that are not exclusive
        (RNG.integers(0, 5, (300, 5)), RNG.normal(size=(300, 2))),
        (RNG.normal(size=(300, 5)), RNG.normal(size=(300, 2))),  # fewer codes than factors
        (RNG.permutation(300), RNG.normal(size=(300, 600))),  # more codes than rows
        (np.column_stack([ONE_HOT[:, 0], 1 - ONE_HOT[:, 0]]), C),
    ],
)
def test_nothing_is_asked_about_usual_data(factors, codes):
    assert asked(factors, codes) == []


@pytest.mark.parametrize("turned", ["factors", "codes"])
def test_one_transposed_table(turned):
    factors, codes = (Z.T, C) if turned == "factors" else (Z, C.T)
    with pytest.raises(InputError, match=rf"pass {turned}\.T if the samples are in the columns"):
        Evidence(factors, codes)


def test_questions_are_notes_on_the_command_line(tmp_path):
    np.savez(tmp_path / "a.npz", factors=ONE_HOT, codes=C)
    result = CliRunner().invoke(main, ["score", str(tmp_path / "a.npz"), "--quick", "--metrics", "mcc", "--json"])
    assert result.exit_code == 0
    assert result.stderr.count("Note: The factors 'factor 0', 'factor 1'") == 1
    assert "UserWarning" not in result.output


def test_a_question_is_read_once_on_the_terminal(tmp_path):
    shape = np.where(np.arange(len(C)) % 3, "Wood", "wood")
    table = {"shape": shape, **{f"code {k}": column for k, column in enumerate(C.T)}}
    pd.DataFrame(table).to_csv(tmp_path / "a.csv", index=False)
    result = CliRunner().invoke(
        main, ["score", str(tmp_path / "a.csv"), "--factors", "shape", "--metrics", "mcc", "--quick"]
    )
    text = " ".join(result.output.split())
    assert result.exit_code == 0, text
    assert text.count("count as two classes: write them alike in the table if they are one") == 1
    assert "such as with table['shape'].str.strip().str.lower() in pandas" in text
    assert result.stderr.startswith("Note: The codes are the other columns of")  # what the report does not state
    failing = CliRunner().invoke(main, ["score", str(tmp_path / "a.csv"), "--factors", "shape", "--metrics", "mcd"])
    assert failing.stderr.startswith("Note: The codes are the other columns of")
    assert failing.stderr.splitlines()[-1].startswith("Error: ")


class TestEncodingOwnImages:
    IMAGES = RNG.random((60, 1, 4, 4)).astype(np.float32)
    FACTORS = IMAGES.reshape(60, -1)[:, :2]

    @staticmethod
    def model(images):
        return np.asarray(images).reshape(len(images), -1)[:, :3]

    def test_arrays(self, tmp_path):
        found = unweave.encode(self.model, self.IMAGES, self.FACTORS, batch_size=7, out=tmp_path / "codes.npz")
        np.testing.assert_array_equal(found.means, self.model(self.IMAGES))
        assert unweave.evaluate(found.evidence(), metrics="mcc", quick=True)["mcc"].value == pytest.approx(1.0)
        assert (tmp_path / "codes.npz").is_file()

    def test_tensors_loaders_and_pairs(self):
        torch = pytest.importorskip("torch")
        images, factors = torch.from_numpy(self.IMAGES), torch.from_numpy(self.FACTORS)
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(images, factors), batch_size=16)
        network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(16, 3))
        one, two = unweave.encode(network, images, factors), unweave.encode(network, loader)
        np.testing.assert_allclose(one.means, two.means, rtol=1e-5)
        np.testing.assert_allclose(two.factors, self.FACTORS)

    def test_mean_and_log_variance(self):
        found = unweave.encode(lambda x: (self.model(x), -self.model(x)), self.IMAGES, self.FACTORS)
        np.testing.assert_allclose(found.codes.std, np.exp(-self.model(self.IMAGES) / 2), rtol=1e-6)

    def test_it_is_shown_in_one_line(self):
        assert repr(unweave.encode(self.model, self.IMAGES, self.FACTORS)) == "Encoded(60 rows, 3 codes, 2 factors)"

    def test_codes_without_factors(self):
        assert unweave.encode(self.model, self.IMAGES).evidence().n_factors == 0

    @pytest.mark.parametrize(
        ("images", "factors", "message"),
        [
            ((IMAGES * 255).astype(np.uint8), FACTORS, r"type uint8: pass them as the model was trained"),
            (IMAGES, FACTORS[:5], "The rows do not pair up: factors have 5 rows, codes have 60 rows"),
            (IMAGES[:, 0, 0, 0], FACTORS, "one image in each row"),
            ("dsprites", None, "str has no images: pass an array, a tensor, a DataLoader"),
            (3, None, "int has no images"),
            ([], None, "There are no images"),
            ([{"image": IMAGES}], None, "neither images nor a pair"),
        ],
    )
    def test_images_that_cannot_be_encoded(self, images, factors, message):
        with pytest.raises(InputError, match=message):
            unweave.encode(self.model, images, factors)


class TestTorchmetrics:
    def test_a_group_is_refused_and_a_plot_is_drawn(self):
        torch = pytest.importorskip("torch")
        pytest.importorskip("torchmetrics")
        from unweave.integrations.torchmetrics import RepresentationScore

        with pytest.raises(OptionError, match=r"'dci' stands for dci_disentanglement, .*: name one of them"):
            RepresentationScore("dci")
        score = RepresentationScore("mcc")
        score.update(torch.from_numpy(Z), torch.from_numpy(C))
        figure, _ = score.plot()
        assert figure.axes
