"""PyTorch: a `Sequential` of Linear, ReLU, Linear in double precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zonofit.errors import InputError
from zonofit.export.model import as_network

if TYPE_CHECKING:
    from torch.nn import Sequential


def to_torch(model) -> Sequential:
    """The network as ``Sequential(Linear, ReLU, Linear)``, double, which maps (N, d) to (N, 1).

    Parameters
    ----------
    model : ShallowReLU or fitted estimator
        For two classes the output is what is positive for the second.

    Returns
    -------
    torch.nn.Sequential
    """
    network = as_network(model)
    try:
        import torch
        from torch import nn
    except ImportError:
        raise InputError("to_torch: needs PyTorch; install torch, or use to_onnx.") from None
    if not network.width:
        raise InputError("model: has no units, so that there is no layer to make; its prediction is the constant c.")
    hidden, output = (
        nn.Linear(network.n_features, network.width, dtype=torch.float64),
        nn.Linear(network.width, 1, dtype=torch.float64),
    )
    with torch.no_grad():
        hidden.weight.copy_(torch.from_numpy(network.W[:, :-1].copy()))
        hidden.bias.copy_(torch.from_numpy(network.W[:, -1].copy()))
        output.weight.copy_(torch.from_numpy(network.v[None].copy()))
        output.bias.fill_(network.c)
    return nn.Sequential(hidden, nn.ReLU(), output)
