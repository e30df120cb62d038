"""Pictures of networks show the function, its breakpoints and its hyperplanes."""

import numpy as np
import pytest

from zonofit.errors import InputError
from zonofit.network import ShallowReLU
from zonofit.plots import network_figure

ONE = ShallowReLU([[1, 0], [-1, 2], [0, 1]], [1, -1, 2], 0.5, features=("speed",), target="drag")
TWO = ShallowReLU([[1, 1, 0], [1, -1, 0.5]], [1, -1], 0.1)


def test_one_feature_is_its_graph():
    axes = network_figure(ONE, [[-1], [4]], [0, 1]).axes[0]
    x, y = next(line for line in axes.lines if line.get_gid() == "network").get_data()
    assert y == pytest.approx(ONE.predict(np.reshape(x, (-1, 1))))
    assert set(ONE.breakpoints) <= set(x)
    assert axes.get_xlabel() == "speed" and axes.get_ylabel() == "drag"


def test_two_features_are_written(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    for network, y in ((TWO, X[:, 0]), (ShallowReLU(TWO.W, TWO.v, 0.1, classes=("a", "b")), np.repeat(["a", "b"], 15))):
        network_figure(network, X, y, path=tmp_path / "n.png")
        assert (tmp_path / "n.png").stat().st_size > 10_000
    network_figure(TWO)


def test_refusals():
    with pytest.raises(InputError, match="one or two features, this one has 3"):
        network_figure(ShallowReLU([[1, 1, 1, 0]], [1], 0))
    with pytest.raises(InputError, match="y: expected one label"):
        network_figure(ONE, [[1]], [1, 2])
