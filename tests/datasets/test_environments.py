"""Images of environments that declare what varies."""

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
from gymnasium import spaces  # noqa: E402

from unweave import Evidence, InputError, OptionError, encode  # noqa: E402
from unweave.datasets import EnvironmentImages  # noqa: E402
from unweave.encoding import read_encoded  # noqa: E402
from unweave.metrics import irs  # noqa: E402


class Variation(spaces.Dict):
    """A Dict space with a rule that values have to keep, as in stable-worldmodel."""

    rule = None

    def constrain_fn(self, values):
        return self.rule is None or self.rule(values)


class Room(gymnasium.Env):
    """A dot of some brightness in a room of 12 x 12 pixels; actions move it by a pixel."""

    def __init__(self, rule=None):
        dot = Variation({"place": spaces.Box(0, 11, (2,), np.int64), "light": spaces.Box(0.2, 1.0, (), np.float64)})
        self.variation_space = Variation(
            {"dot": dot, "wall": spaces.Discrete(3, start=1), "hall": spaces.MultiBinary(2)}
        )
        self.variation_space.rule = rule
        self.action_space = spaces.Discrete(4)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        values = {"dot.place": np.array([5, 5]), "dot.light": 1.0, "wall": 1, "hall": np.array([0, 0])}
        values |= options["variation_values"]
        self.place, self.light, self.wall = values["dot.place"].copy(), values["dot.light"], values["wall"]
        self.hall = values["hall"]
        return {}, {}

    def step(self, action):
        moves = ((0, 1), (0, -1), (1, 0), (-1, 0))
        self.place = np.clip(self.place + moves[action], 0, 11)
        return {}, 0.0, False, False, {}

    def render(self):
        picture = np.full((12, 12, 3), 10 * self.wall, dtype=np.uint8)
        picture[*self.place] = round(255 * self.light)
        picture[0, 0, :2] = 40 * np.asarray(self.hall)
        return picture


def now(room):
    return {"x now": room.place[0], "y now": room.place[1]}


def test_factors_kinds_and_images_are_those_of_the_space():
    images = EnvironmentImages(Room(), 200)
    assert images.factor_names == ("dot.light", "dot.place 0", "dot.place 1", "hall 0", "hall 1", "wall")
    assert images.kinds == ("continuous",) * 3 + ("categorical",) * 3
    assert images.image_shape == (3, 12, 12)
    factors = images.factors()
    assert set(factors[:, 5]) == {1, 2, 3}
    assert set(factors[:, 1]) == set(range(12))
    assert 0.2 <= factors[:, 0].min() < 0.25 and factors[:, 0].max() <= 1  # noqa: PT018
    pictures = images.images([3, 7])
    for row, picture in zip(factors[[3, 7]], pictures, strict=True):
        assert picture[2, int(row[1]), int(row[2])] == pytest.approx(round(255 * row[0]) / 255)
    np.testing.assert_array_equal(images.images_of(factors[[3, 7]]), pictures)


def test_what_does_not_vary_keeps_the_value_of_a_reset_and_pixels_are_averaged():
    images = EnvironmentImages(Room(), 5, vary=["dot.light"], size=6)
    assert images.factor_names == ("dot.light",)
    assert images.image_shape == (3, 6, 6)
    expected = (round(255 * images.factors()[0, 0]) + 3 * 10) / 4 / 255  # the dot stays at (5, 5) before a wall of 10
    assert images.images([0])[0, 0, 2, 2] == pytest.approx(expected, rel=1e-5)


def test_same_seed_same_images_in_any_order():
    one, two, other = (EnvironmentImages(Room(), 6, steps=4, state=now, seed=seed) for seed in (3, 3, 4))
    order = np.array([20, 3, 3, 9])
    np.testing.assert_array_equal(one.images()[order], two.images(order))
    np.testing.assert_array_equal(one.factors()[order], two.factors(order))
    assert one.fingerprint == two.fingerprint != other.fingerprint


def test_rows_of_an_episode_are_groups_and_states_are_factors(tmp_path):
    images = EnvironmentImages(Room(), 30, vary=["dot"], steps=3, state=now, circular={"x now": 12})
    assert images.kinds[-2:] == ("circular:12", "continuous")
    factors = images.factors().reshape(30, 3, -1)
    np.testing.assert_array_equal(factors[:, 0, 1:3], factors[:, 0, 3:])  # before the first action
    assert (np.abs(np.diff(factors[:, :, 3:], axis=1)).sum(axis=2) <= 1).all()
    assert np.ptp(factors[:, :, 3], axis=1).any()
    encoded = encode(
        lambda batch: batch.mean(axis=1).reshape(len(batch), -1)[:, :5], images, out=tmp_path / "codes.npz"
    )
    np.testing.assert_array_equal(encoded.evidence().row_groups, np.repeat(np.arange(30), 3))
    np.testing.assert_array_equal(read_encoded(tmp_path / "codes.npz").rows(slice(2, 4)).row_groups, [0, 1])


def test_a_sampler_holds_factors_and_varies_the_rest():
    images = EnvironmentImages(Room(), 10, vary=["dot"])
    factors, codes = images.sampler(lambda batch: batch.reshape(len(batch), -1))(
        {"dot.light": 0.5}, 40, np.random.default_rng(0)
    )
    assert (factors[:, 0] == 0.5).all()
    assert np.ptp(factors[:, 1]) > 5
    assert codes.shape == (40, 432)
    # each code follows one factor alone: the brightness, and the row and column of the brightest pixel
    own = images.sampler(
        lambda batch: np.stack(
            [batch[:, 2].max(axis=(1, 2)), batch[:, 2].max(2).argmax(1), batch[:, 2].max(1).argmax(1)], axis=1
        )
    )
    rows, codes = own({}, 200, np.random.default_rng(1))
    evidence = Evidence(rows, codes, factor_names=images.factor_names, sampler=own)
    assert irs(evidence).value > 0.95


def test_rules_of_the_space_are_kept():
    images = EnvironmentImages(Room(lambda values: values["dot"]["place"].sum() <= 8), 100)
    assert images.factors()[:, 1:3].sum(axis=1).max() <= 8
    with pytest.raises(InputError, match="vary fewer"):
        EnvironmentImages(Room(lambda values: False), 3)


@pytest.mark.parametrize(
    ("make", "error", "sentence"),
    [
        (lambda: EnvironmentImages(object(), 3), InputError, "has no variation_space"),
        (lambda: EnvironmentImages(Room(), 0), OptionError, "n_episodes=0 gives no images"),
        (lambda: EnvironmentImages(Room(), 3, vary=["dott"]), OptionError, "Nothing that varies is called 'dott'"),
        (lambda: EnvironmentImages(Room(), 3, circular={"wal": 3}), OptionError, "no factor 'wal' to be circular"),
        (lambda: EnvironmentImages(Room(), 3, size=5), OptionError, "size=5 does not divide"),
        (lambda: EnvironmentImages(Room(), 3).images_of([[1.0]]), InputError, "pass n x 6"),
        (
            lambda: EnvironmentImages(Room(), 3).sampler(len)({"sky": 1}, 3, np.random.default_rng(0)),
            InputError,
            "cannot hold 'sky'",
        ),
    ],
)
def test_bad_input(make, error, sentence):
    with pytest.raises(error, match=sentence):
        make()


@pytest.mark.parametrize(
    ("space", "sentence"),
    [(spaces.Text(3), "is a Text, which has no range"), (spaces.Box(-np.inf, np.inf, ()), "no finite ends")],
)
def test_spaces_without_a_range(space, sentence):
    room = Room()
    room.variation_space = spaces.Dict({"a": space})
    with pytest.raises(InputError, match=sentence):
        EnvironmentImages(room, 3)


def test_an_environment_without_pictures():
    room = Room()
    room.render = lambda: None
    with pytest.raises(InputError, match="render_mode"):
        EnvironmentImages(room, 3)
