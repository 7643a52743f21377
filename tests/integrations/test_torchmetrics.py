"""torchmetrics: batches, collections, and two processes with the same result as one."""

import math
import pickle

import numpy as np
import pytest
import torch
from torch import distributed, multiprocessing

import unweave

pytest.importorskip("torchmetrics", reason="torchmetrics is not installed: pip install 'unweave[torchmetrics]'")

from torchmetrics import MetricCollection

from unweave.integrations.torchmetrics import RepresentationScore, RepresentationScores

GENERATOR = torch.Generator().manual_seed(0)
FACTORS = torch.rand(300, 3, generator=GENERATOR, dtype=torch.float64)
CODES = FACTORS @ torch.tensor([[1.0, 0.3, 0.0], [0.0, 1.0, 0.4], [0.2, 0.0, 1.0]], dtype=torch.float64)
METRICS = ["mcc", "r2", "mig"]


def one_process():
    return {name: unweave.evaluate(FACTORS, CODES, metrics=METRICS, quick=True)[name].value for name in METRICS}


def test_batches_give_what_all_rows_give():
    scores = RepresentationScores(METRICS)
    for factors, codes in zip(FACTORS.split(64), CODES.split(64), strict=True):
        scores.update(factors, codes)
    assert {name: float(value) for name, value in scores.compute().items()} == pytest.approx(one_process(), abs=1e-7)
    scores.reset()
    scores.update(FACTORS, FACTORS)
    assert float(scores.compute()["mcc"]) == pytest.approx(1)


def test_a_collection_shares_its_rows():
    both = MetricCollection({name: RepresentationScore(name) for name in METRICS})
    for factors, codes in zip(FACTORS.split(100), CODES.split(100), strict=True):
        both.update(factors, codes)
    assert {name: float(value) for name, value in both.compute().items()} == pytest.approx(one_process(), abs=1e-7)
    assert len(both.compute_groups) == 1  # the rows are kept once


def test_forward_gives_the_batch_and_keeps_the_rest():
    metric = RepresentationScore("mcc")
    batch = metric(FACTORS[:100], CODES[:100])
    assert float(batch) == pytest.approx(unweave.metrics.mcc(FACTORS[:100], CODES[:100]).value)
    metric(FACTORS[100:], CODES[100:])
    assert float(metric.compute()) == pytest.approx(one_process()["mcc"])


def test_posteriors_directions_and_copies():
    metric = RepresentationScore("jemmig")
    assert metric.higher_is_better is False
    assert RepresentationScore("mcc").higher_is_better is True
    metric.update(FACTORS, CODES, torch.full_like(CODES, 0.1))
    expected = unweave.metrics.jemmig(FACTORS, unweave.Posterior(CODES, np.full(CODES.shape, 0.1))).value
    assert float(metric.compute()) == pytest.approx(expected)
    assert float(pickle.loads(pickle.dumps(metric)).compute()) == pytest.approx(expected)
    assert float(metric.clone().compute()) == pytest.approx(expected)


def test_failures_are_nan_with_a_warning():
    metric = RepresentationScore("mcc")
    metric.update(FACTORS, CODES * math.nan)
    with pytest.warns(UserWarning, match="missing|finite|nan") as warned:
        assert math.isnan(metric.compute())
    assert warned[0].filename == __file__
    metric = RepresentationScore("wsepin")
    metric.update(FACTORS, CODES)
    with pytest.warns(UserWarning, match="posterior") as warned:
        assert math.isnan(metric.compute())
    assert warned[0].filename == __file__
    with pytest.warns(UserWarning, match="before the ``update`` method"):
        assert math.isnan(RepresentationScore("mcc").compute())
    with pytest.raises(unweave.OptionError, match="no metric called"):
        RepresentationScore("mc")


def test_rows_are_kept_in_double_precision_so_that_any_precision_can_be_scored():
    metric, halves = RepresentationScore("mcc"), CODES.bfloat16()  # which numpy does not have
    metric.update(FACTORS, halves, rows=torch.arange(300))
    assert [part.dtype for part in (*metric.codes, *metric.rows)] == [torch.float64, torch.int64]
    assert float(metric.compute()) == pytest.approx(unweave.metrics.mcc(FACTORS, halves.double()).value)


def test_scores_are_quick_and_show_no_bar(monkeypatch):
    from unweave.integrations import torchmetrics as metric_module

    asked = []
    evaluate = metric_module.evaluate
    monkeypatch.setattr(metric_module, "evaluate", lambda *given, **o: asked.append(o) or evaluate(*given, **o))
    metric = RepresentationScore("mcc", factor_names=["a", "b", "c"])
    metric.update(FACTORS, CODES)
    metric.compute()
    (options,) = asked
    del options["metrics"]
    assert options == {"quick": True, "progress": False, "factor_names": ["a", "b", "c"]}


def _worker(rank, address, results):
    distributed.init_process_group("gloo", init_method=address, rank=rank, world_size=2)
    plain, numbered = RepresentationScores(METRICS), RepresentationScores(METRICS)
    rows = torch.arange(rank, 301, 2) % 300  # as DistributedSampler: every other row, and one repeated at the end
    for part in rows.split(40):
        numbered.update(FACTORS[part], CODES[part], rows=part)
    half = slice(0, 150) if rank == 0 else slice(150, 300)
    plain.update(FACTORS[half], CODES[half])
    for name, metric in (("plain", plain), ("numbered", numbered)):
        results[rank, name] = {label: float(value) for label, value in metric.compute().items()}
    distributed.destroy_process_group()


def test_two_processes_equal_one(tmp_path):
    """State merged over gloo, for two halves of the rows, and for a distributed sampler that repeats a row."""
    if torch.get_num_threads() > 1:
        pytest.skip("a fork waits for ever for the threads of torch: set OMP_NUM_THREADS=1")
    context = multiprocessing.get_context("fork")  # as fast as possible
    with context.Manager() as manager:
        results = manager.dict()
        address = f"file://{tmp_path}/meeting"
        workers = [context.Process(target=_worker, args=(rank, address, results)) for rank in (0, 1)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(60)
            worker.kill()  # one that waits for the other would outlive the tests
        found = dict(results)
    assert set(found) == {(rank, name) for rank in (0, 1) for name in ("plain", "numbered")}
    for scores in found.values():
        assert scores == pytest.approx(one_process(), abs=1e-7)


def test_rows_in_another_order_are_put_in_order():
    metric, order = RepresentationScore("r2"), np.random.default_rng(0).permutation(300)
    metric.update(FACTORS[order], CODES[order], rows=torch.from_numpy(order))
    assert float(metric.compute()) == pytest.approx(one_process()["r2"], abs=1e-7)


@pytest.mark.parametrize("part", ["codes", "std", "rows"])
def test_parts_of_a_batch_with_other_lengths_are_refused_at_once(part):
    batch = {"codes": CODES[:50], "std": torch.ones_like(CODES[:50]), "rows": torch.arange(50)}
    batch[part] = batch[part][:40]
    metric = RepresentationScore("mcc")
    with pytest.raises(unweave.InputError, match=f"40 rows of {part}.*: pass the same samples"):
        metric.update(FACTORS[:50], **batch)
    assert not metric.factors
