"""Flows learn, resume with the same result, and the three objectives have the effects of Figures 1 and 2 of 000."""

import dataclasses

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("zuko")

from unweave import FileError  # noqa: E402
from unweave.neural.flows import (  # noqa: E402
    CouplingFlow,
    FlowObjective,
    FlowSettings,
    FlowTraining,
    loss_terms,
    mean_negative_log_likelihood,
    train,
)
from unweave.synthetic.known_decoders import LinearDecoder, Torus  # noqa: E402

SMALL = FlowSettings(n_blocks=1, hidden=8)


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)


def gaussian(n_rows=2000):
    return LinearDecoder(np.array([[2.0, 1.0], [0.0, 0.5]])).decode(
        np.random.default_rng(0).standard_normal((n_rows, 2))
    )


def weights_of(flow):
    return torch.cat([weight.detach().ravel() for weight in flow.parameters()])


@pytest.mark.parametrize("couplings", ["affine", "spline"])
def test_encoding_and_decoding_are_inverse_and_volumes_are_right(couplings):
    flow = CouplingFlow(4, FlowSettings(n_blocks=3, hidden=8, couplings=couplings)).double()
    data = torch.randn(6, 4, generator=torch.Generator().manual_seed(0)).double()
    flow.fit_scale(data)
    latents, log_volume = flow.encode_with_volume(data)
    assert torch.allclose(flow.decode(latents), data, atol=1e-9)
    jacobians = torch.stack(
        [torch.autograd.functional.jacobian(lambda x: flow.encode(x[None])[0], row) for row in data]
    )
    assert torch.allclose(torch.linalg.slogdet(jacobians)[1], log_volume, atol=1e-9)


def test_training_reaches_the_entropy_of_the_data():
    flow = CouplingFlow(2, SMALL)
    train(flow, gaussian(), settings=FlowTraining(n_steps=200, learning_rate=1e-2))
    entropy = 1 + np.log(2 * np.pi)  # a Gaussian with a determinant of 1
    assert mean_negative_log_likelihood(flow, gaussian()) == pytest.approx(entropy, abs=0.03)


def test_the_same_seed_gives_the_same_flow_and_another_another():
    flows = [CouplingFlow(2, dataclasses.replace(SMALL, seed=seed)) for seed in (0, 0, 1)]
    for flow, seed in zip(flows, (0, 0, 1), strict=True):
        train(flow, gaussian(), settings=FlowTraining(n_steps=5, seed=seed))
    assert torch.equal(weights_of(flows[0]), weights_of(flows[1]))
    assert not torch.equal(weights_of(flows[0]), weights_of(flows[2]))


def test_an_interrupted_training_goes_on_as_if_it_had_not_been(tmp_path, monkeypatch):
    settings = FlowTraining(n_steps=12, checkpoint_every=3)
    objective = FlowObjective(total_correlation=1.0, reconstruction=1.0, n_columns=1)
    whole = CouplingFlow(2, SMALL)
    records = train(whole, gaussian(), objective, settings)
    calls = []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 11:
            raise KeyboardInterrupt
        return loss_terms(*arguments)

    path = tmp_path / "new" / "folder" / "flow.pt"
    monkeypatch.setattr("unweave.neural.flows.loss_terms", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train(CouplingFlow(2, SMALL), gaussian(), objective, settings, checkpoint=path)
    monkeypatch.undo()
    resumed = CouplingFlow(2, SMALL)
    assert train(resumed, gaussian(), objective, settings, checkpoint=path, progress=True) == records
    assert torch.equal(weights_of(resumed), weights_of(whole))
    with pytest.raises(FileError, match="other settings"):
        train(CouplingFlow(2, SMALL), gaussian(), FlowObjective(), settings, checkpoint=path)
    content = path.read_bytes()
    for share in (0.0, 0.3, 0.9):
        path.write_bytes(content[: int(share * len(content))])
        with pytest.raises(FileError, match="is not a complete checkpoint: delete it, or name another one"):
            train(resumed, gaussian(), objective, settings, checkpoint=path)


def test_few_columns_estimate_the_term_without_bias():
    flow = CouplingFlow(6, FlowSettings(n_blocks=2, hidden=8))
    rows = torch.as_tensor(Torus(3).sample(4000, 0)).float()
    with torch.no_grad():
        every = loss_terms(flow, rows, FlowObjective(1.0, n_columns=6), np.random.default_rng(0))[1]
        few = loss_terms(flow, rows, FlowObjective(1.0, n_columns=2), np.random.default_rng(0))[1]
    assert float(few) == pytest.approx(float(every), abs=0.05)


def test_the_reconstruction_is_from_the_core_alone_and_the_scale_is_that_of_the_data():
    flow, rows = CouplingFlow(3, SMALL), torch.randn(50, 3, generator=torch.Generator().manual_seed(0)) * 3 + 1
    flow.fit_scale(rows)
    torch.testing.assert_close(flow.shift, rows.mean(dim=0))
    torch.testing.assert_close(flow.scale, (rows - rows.mean(dim=0)).std())
    objective = FlowObjective(reconstruction=1.0, core=(0, 2))
    cost, shared, error = loss_terms(flow, rows, objective, np.random.default_rng(0))
    latents = flow.encode(rows)
    latents[:, 1] = 0.0
    expected = 0.5 * (rows - flow.decode(latents)).square().sum() / 50
    assert error.item() == pytest.approx(expected.item(), rel=1e-5)
    assert shared.item() == 0.0
    assert cost.item() == pytest.approx(mean_negative_log_likelihood(flow, rows.numpy()), rel=1e-6)


def test_a_flow_needs_two_features():
    with pytest.raises(ValueError, match="at least 2 features"):
        CouplingFlow(1)


def test_a_diverging_training_says_so():
    with pytest.raises(FloatingPointError, match="lower the learning rate"):
        train(CouplingFlow(2, SMALL), np.array([[np.inf, 0.0]]), settings=FlowTraining(n_steps=2))


def test_without_a_checkpoint_there_is_none_to_go_on_from(monkeypatch):
    def spoilt(flow, rows, *others):
        spoilt.calls += 1
        return tuple(term * (1.0 if spoilt.calls < 3 else float("nan")) for term in loss_terms(flow, rows, *others))

    spoilt.calls = 0
    monkeypatch.setattr("unweave.neural.flows.loss_terms", spoilt)
    with pytest.raises(FloatingPointError, match=r"step 3: lower the learning rate\.$"):
        train(CouplingFlow(2, SMALL), gaussian(), settings=FlowTraining(n_steps=4, checkpoint_every=1))


@pytest.mark.slow
def test_figure_1_two_moons(tmp_path):
    """The three flows have equal likelihoods and use their latents in different ways (four minutes on one core)."""
    from unweave_papers.experiment import Options
    from unweave_papers.paper000.flows import two_moons

    flows = two_moons(Options(tmp_path))
    likelihood, correlation, reconstruction = flows.values()
    costs = [flow.negative_log_likelihood for flow in flows.values()]
    assert max(costs) - min(costs) < 0.05
    assert likelihood.total_correlation > 0.5
    assert correlation.total_correlation < 0.1
    gaps = [abs(np.subtract(*flow.spectrum.entropies)) for flow in flows.values()]
    assert gaps[2] > 1.5
    assert gaps[2] > gaps[1]
    assert reconstruction.spectrum.order[0] == 0  # the core latent


@pytest.mark.slow
def test_figure_2_torus(tmp_path):
    """About six minutes on one core."""
    from unweave_papers.experiment import Options
    from unweave_papers.paper000.flows import torus
    from unweave_papers.paper000.pictures import n_on_diagonal

    alone, with_term = torus(Options(tmp_path)).values()
    truth = Torus().true_entropies
    assert with_term.distance_from(truth) < 0.1
    assert with_term.total_correlation / 20 < 0.03
    assert n_on_diagonal(with_term.cross_information) == 20
    assert alone.distance_from(truth) > 0.5
    assert alone.total_correlation / 20 > 0.3
    assert n_on_diagonal(alone.cross_information) < 10


class Opened:
    """An object that would run code when a file is unpickled."""

    def __reduce__(self):
        return print, ("code of the file was run",)


def test_a_checkpoint_runs_nothing(tmp_path, capsys):
    path = tmp_path / "flow.pt"
    torch.save({"stated": Opened()}, path)
    with pytest.raises(FileError, match="not a complete checkpoint"):
        train(CouplingFlow(2, SMALL), gaussian(), settings=FlowTraining(n_steps=2), checkpoint=path)
    assert capsys.readouterr().out == ""
