r"""The network inside an optimisation: a mixed-integer linear program over a box of inputs.

With h = max(0, z), z = w·x + b and low <= z <= high on the box,

    h >= 0,  h >= z,  h <= z - low (1 - s),  h <= high s,  s ∈ {0, 1}.

The ranges low and high of a unit on a box are attained, so for one hidden layer no bounds are tighter unit by unit.
Units that are active on all of the box, or nowhere on it, need no binary. Variables are x, then h and s of the other
units, then y = f(x).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zonofit.errors import InputError
from zonofit.export.model import as_network
from zonofit.network import ShallowReLU

if TYPE_CHECKING:
    from pyomo.environ import ConcreteModel

_GAP = 1e-9  # relative, where HiGHS would stop at 1e-4


@dataclass(frozen=True, eq=False)
class MIP:
    """Rows ``least <= A t <= most`` and bounds ``lower <= t <= upper`` of t = (x, h, s, y).

    Attributes
    ----------
    network : ShallowReLU
    A : ndarray (rows, variables)
    least, most : ndarray (rows,)
    lower, upper : ndarray (variables,)
    integral : ndarray (variables,) of bool
    names : tuple of str
        Of the variables: x[0], ..., h[j], s[j], ..., y, where j counts the network's units.
    """

    network: ShallowReLU
    A: np.ndarray
    least: np.ndarray
    most: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    integral: np.ndarray
    names: tuple[str, ...]

    def __repr__(self) -> str:
        rows, columns = self.A.shape
        return f"MIP({columns} variables, {int(self.integral.sum())} binary, {rows} rows)"

    def minimise(self, costs=None, *, maximise: bool = False) -> tuple[np.ndarray, float]:
        """The input of the box with the least (or largest) y + costs·x, by HiGHS as scipy has it.

        Parameters
        ----------
        costs : array_like (d,), optional
            What the features cost; 0 by default.
        maximise : bool

        Returns
        -------
        x : ndarray (d,)
        value : float
            f(x) + costs·x there, computed by the network.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp

        d = self.network.n_features
        c = np.zeros(len(self.names))
        c[-1] = 1.0
        if costs is not None:
            given = np.asarray(costs, float)
            if given.shape != (d,) or not np.isfinite(given).all():
                raise InputError(f"costs: expected {d} finite numbers, one a feature, got shape {given.shape}.")
            c[:d] = given
        found = milp(
            -c if maximise else c, integrality=self.integral.astype(int), bounds=Bounds(self.lower, self.upper),
            constraints=LinearConstraint(self.A, self.least, self.most), options={"mip_rel_gap": _GAP},
        )  # fmt: skip
        if found.x is None:
            raise RuntimeError(f"HiGHS found no input: {found.message}")
        x = np.clip(found.x[:d], self.lower[:d], self.upper[:d])
        return x, float(self.network.predict(x[None])[0] + c[:d] @ x)

    def to_pyomo(self) -> ConcreteModel:
        """The same as a Pyomo model with variables ``x[k]``, ``h[j]``, ``s[j]`` and ``y``, and without an objective."""
        try:
            from pyomo import environ as pyomo
        except ImportError:
            raise InputError("to_pyomo: needs Pyomo; install pyomo, or call minimise.") from None
        model = pyomo.ConcreteModel("zonofit")
        d, k = self.network.n_features, (len(self.names) - 1 - self.network.n_features) // 2
        units = [int(name[2:-1]) for name in self.names[d : d + k]]
        bounds = dict(zip(self.names, zip(self.lower.tolist(), self.upper.tolist(), strict=True), strict=True))
        model.x = pyomo.Var(range(d), bounds=lambda _, i: bounds[f"x[{i}]"])
        model.h = pyomo.Var(units, bounds=lambda _, j: bounds[f"h[{j}]"])
        model.s = pyomo.Var(units, domain=pyomo.Binary)
        model.y = pyomo.Var(bounds=bounds["y"])
        order: list[Any] = [*model.x.values(), *model.h.values(), *model.s.values(), model.y]
        model.rows = pyomo.ConstraintList()
        for row, least, most in zip(self.A, self.least.tolist(), self.most.tolist(), strict=True):
            body = sum(float(row[j]) * order[j] for j in np.flatnonzero(row))
            model.rows.add((None if least == -np.inf else least, body, None if most == np.inf else most))
        return model


def to_mip(model, lower, upper) -> MIP:
    """The network as a mixed-integer linear program over a box.

    Parameters
    ----------
    model : ShallowReLU or fitted estimator
    lower, upper : float or array_like (d,)
        The box, in the features' units; finite.

    Returns
    -------
    MIP
    """
    network = as_network(model)
    d = network.n_features
    low, high = network.ranges(lower, upper)
    box = [np.array(np.broadcast_to(np.asarray(side, float), (d,))) for side in (lower, upper)]
    if not all(np.isfinite(side).all() for side in box):
        raise InputError("lower, upper: the box has to be finite, or no bound on a unit holds; pass numbers.")
    bent = np.flatnonzero((low < 0) & (high > 0) & (network.v != 0))
    whole = np.flatnonzero((low >= 0) & (network.v != 0))
    k = len(bent)
    names = (*(f"x[{i}]" for i in range(d)), *(f"{t}[{j}]" for t in "hs" for j in bent), "y")
    n = len(names)
    rows, least, most = [], [], []
    for i, j in enumerate(bent):
        w, b = network.W[j, :-1], network.W[j, -1]
        h, s = d + i, d + k + i
        above, below, off = np.zeros(n), np.zeros(n), np.zeros(n)
        above[:d], above[h] = -w, 1.0  # h - w·x >= b
        below[:d], below[h], below[s] = -w, 1.0, -low[j]  # h - w·x - low s <= b - low
        off[h], off[s] = 1.0, -high[j]  # h - high s <= 0
        rows += [above, below, off]
        least += [b, -np.inf, -np.inf]
        most += [np.inf, b - low[j], 0.0]
    affine = network.v[whole] @ network.W[whole]
    output = np.zeros(n)
    output[:d], output[d : d + k], output[-1] = -affine[:-1], -network.v[bent], 1.0
    constant = float(affine[-1] + network.c)
    rows.append(output)
    least.append(constant)
    most.append(constant)
    y_low, y_high = _output_range(network, affine, constant, bent, high, *box)
    lows = np.r_[box[0], np.zeros(2 * k), y_low]
    highs = np.r_[box[1], high[bent], np.ones(k), y_high]
    integral = np.r_[np.zeros(d + k, bool), np.ones(k, bool), False]
    return MIP(network, np.array(rows), np.array(least), np.array(most), lows, highs, integral, names)


def _output_range(network, affine, constant, bent, high, lower, upper) -> tuple[float, float]:
    """Bounds on y from those of its parts."""
    part = ShallowReLU(np.append(affine[:-1], 0.0)[None], np.ones(1), 0.0)
    low, up = (float(side[0]) for side in part.ranges(lower, upper))
    reach = network.v[bent] * high[bent]
    return constant + low + float(np.minimum(reach, 0.0).sum()), constant + up + float(np.maximum(reach, 0.0).sum())
