"""Scores in the format of model cards on the Hugging Face Hub."""

from __future__ import annotations

from typing import Any

from unweave import __version__
from unweave.errors import InputError, OptionError
from unweave.evaluation import Evaluation
from unweave.evaluation.results import frame_columns
from unweave.options import checks_options

TASK = "feature-extraction"


@checks_options
def model_index(
    evaluation: Evaluation,
    model_name: str,
    dataset_type: str,
    *,
    dataset_name: str | None = None,
    split: str | None = None,
    representation: str | None = None,
) -> dict[str, Any]:
    """The scores as the ``model-index`` of a model card: plain data for JSON or YAML.

    Parameters
    ----------
    evaluation : Evaluation
        The evaluation whose scores are listed. Undefined scores are left out.
    model_name : str
        Name of the model.
    dataset_type, dataset_name, split : str
        Identifier of the data on the Hub, its name for a reader, and which part of it was scored.
    representation : str, optional
        Name of the representation, if the evaluation compares several.

    Returns
    -------
    dict
        A dictionary with the key ``model-index``. The ``args`` of a score have its noise floor, interval and verdict.

    Examples
    --------
    >>> from unweave import evaluate
    >>> z = [[float(i % 7), float(i % 5)] for i in range(60)]
    >>> card = model_index(evaluate(z, z, metrics=["mcc"], quick=True), "mine", "dsprites")
    >>> card["model-index"][0]["results"][0]["metrics"][0]["type"]
    'unweave/mcc'
    """
    names = evaluation.representations
    if representation is None and len(names) > 1:
        raise InputError(f"There are {len(names)} representations: name one, such as {names[0]!r}.")
    columns = frame_columns(evaluation.rows)
    lines = [dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)]
    chosen = names[0] if representation is None else representation
    if chosen not in names:
        raise OptionError(f"There is no representation {chosen!r}: use {', '.join(map(repr, names))}.")
    metrics = [_metric(line) for line in lines if line["representation"] == chosen and line["value"] == line["value"]]
    dataset = {"type": dataset_type, "name": dataset_name or dataset_type} | ({"split": split} if split else {})
    result = {
        "task": {"type": TASK, "name": "Representation learning"},
        "dataset": dataset,
        "metrics": metrics,
        "source": {"name": f"unweave {__version__}", "url": "https://pypi.org/project/unweave"},
    }
    return {"model-index": [{"name": model_name, "results": [result]}]}


@checks_options
def eval_results(evaluation: Evaluation, model_name: str, dataset_type: str, **options: Any) -> list[Any]:
    """The scores of `model_index` as ``EvalResult`` objects, for huggingface_hub's ``ModelCardData(eval_results=...)``.

    Examples
    --------
    >>> from unweave import evaluate
    >>> z = [[float(i % 7), float(i % 5)] for i in range(60)]
    >>> found = eval_results(evaluate(z, z, metrics=["mcc"], quick=True), "mine", "dsprites")
    >>> found[0].metric_type, round(found[0].metric_value, 3)
    ('unweave/mcc', 1.0)
    """
    try:
        from huggingface_hub.repocard_data import model_index_to_eval_results
    except ImportError:
        raise ImportError("This needs huggingface_hub: pip install 'unweave[huggingface]'.") from None
    _, results = model_index_to_eval_results(
        model_index(evaluation, model_name, dataset_type, **options)["model-index"]
    )
    return list(results)


def _metric(line: dict[str, Any]) -> dict[str, Any]:
    beside = ("floor", "lower", "upper", "calibrated", "p_value", "verdict", "seed")
    known = {name: line[name] for name in beside if line[name] is not None and line[name] == line[name]}
    name = line["metric"]
    metric = {"type": f"unweave/{name}", "value": line["value"], "name": name}
    return metric | ({"args": known} if known else {})
