"""The metadata of a model card can be read by huggingface_hub."""

import json

import numpy as np
import pytest

import unweave
from unweave.integrations.huggingface import eval_results, model_index

FACTORS = np.random.default_rng(0).uniform(size=(150, 2))


@pytest.fixture(scope="module")
def evaluation():
    return unweave.evaluate(FACTORS, FACTORS, metrics=["mcc", "wsepin"], budget=2)


def test_it_is_json_and_leaves_undefined_scores_out(evaluation):
    card = json.loads(json.dumps(model_index(evaluation, "mine", "dsprites", split="test"), allow_nan=False))
    (result,) = card["model-index"][0]["results"]
    (metric,) = result["metrics"]
    row = evaluation.row("mcc", "codes")
    assert (metric["value"], metric["args"]["floor"]) == (row.score.value, row.noise_floor.floor)
    assert metric["args"]["verdict"] == row.verdict.level
    assert result["dataset"] == {"type": "dsprites", "name": "dsprites", "split": "test"}


def test_the_args_of_a_score_are_what_is_known_beside_it(evaluation):
    quick = unweave.evaluate(FACTORS, FACTORS, metrics=["mcc"], quick=True)
    (metric,) = model_index(quick, "mine", "dsprites")["model-index"][0]["results"][0]["metrics"]
    assert metric == {
        "type": "unweave/mcc",
        "value": quick["mcc"].value,
        "name": "mcc",
        "args": {"verdict": "not checked", "seed": 0},
    }
    (metric,) = model_index(evaluation, "mine", "dsprites")["model-index"][0]["results"][0]["metrics"]
    assert set(metric["args"]) == {"floor", "lower", "upper", "calibrated", "p_value", "verdict", "seed"}


def test_the_hub_reads_it(evaluation, tmp_path):
    hub = pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
    results = eval_results(evaluation, "mine", "dsprites", dataset_name="dSprites")
    card = hub.ModelCard.from_template(
        hub.ModelCardData(model_name="mine", eval_results=results), template_str="---\n{{ card_data }}\n---\n\n# mine\n"
    )
    card.save(tmp_path / "README.md")
    (read,) = hub.ModelCard.load(tmp_path / "README.md").data.eval_results
    assert (read.metric_type, read.dataset_name) == ("unweave/mcc", "dSprites")
    assert read.metric_value == pytest.approx(evaluation["mcc"].value)
    assert read.metric_args["verdict"] == evaluation.row("mcc", "codes").verdict.level


def test_evaluate_keeps_it(evaluation, tmp_path):
    library = pytest.importorskip("evaluate", reason="evaluate is not installed: pip install evaluate")
    path = library.save(tmp_path / "results.json", **model_index(evaluation, "mine", "dsprites"))
    assert json.loads(path.read_text())["model-index"][0]["name"] == "mine"


def test_one_of_several_is_named(evaluation):
    both = unweave.compare(FACTORS, {"a": FACTORS, "b": FACTORS[::-1]}, metrics=["mcc"], quick=True)
    with pytest.raises(unweave.InputError, match="name one"):
        model_index(both, "mine", "dsprites")
    (metric,) = model_index(both, "mine", "x", representation="a")["model-index"][0]["results"][0]["metrics"]
    assert metric["value"] == pytest.approx(1)
    (other,) = model_index(both, "mine", "x", representation="b")["model-index"][0]["results"][0]["metrics"]
    assert other["value"] < 0.5
    with pytest.raises(unweave.OptionError, match="no representation 'c': use 'a', 'b'"):
        model_index(both, "mine", "x", representation="c")


def test_columns_of_a_dataset_are_factors_and_codes():
    datasets = pytest.importorskip("datasets", reason="datasets is not installed: pip install datasets")
    factors = np.random.default_rng(0).normal(size=(200, 2))
    rows = datasets.Dataset.from_dict(
        {"size": factors[:, 0], "x": factors[:, 1], "a": 2 * factors[:, 0], "b": -factors[:, 1], "embedding": factors}
    )
    given, codes = rows.select_columns(["size", "x"]), rows.select_columns(["a", "b"])
    evidence = unweave.Evidence(given, codes)
    assert (evidence.factor_names, evidence.code_names) == (("size", "x"), ("a", "b"))
    assert float(unweave.metrics.mcc(given, codes)) == pytest.approx(1)
    lists = unweave.Evidence(given, rows.select_columns(["embedding"]))
    assert lists.code_names == ("embedding 0", "embedding 1")
    np.testing.assert_allclose(lists.codes, factors)
