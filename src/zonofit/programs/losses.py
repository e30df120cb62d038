r"""Losses: one small class each, and that is all a new one needs.

A loss is convex in the prediction u = ŷ and bounded below by 0. It says its value, its slope ℓ', its curvature ℓ''
(of some quadratic model; 0 is allowed) and its conjugate ℓ*(ν) = max_u (ν u - ℓ(u)), from which duality gaps are made.

Laws, which `tests/programs/test_losses.py` checks for every class in `LOSSES`:

* ``slope`` is the derivative of ``value`` and never falls as u grows;
* Fenchel and Young: ``value(u, y) + conjugate(s, y) >= s * u``, with equality at ``s = slope(u, y)``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from zonofit.errors import InputError


class Loss(ABC):
    """Loss of a prediction u for a label y, elementwise on arrays.

    Attributes
    ----------
    quadratic : bool
        Whether the curvature is constant, so that one Newton step is exact.
    smooth : bool
        Whether the slope is continuous; if not, programs go to a linear-programming solver.
    translates : bool
        Whether the loss depends on u - y only, so that labels may be centred and rescaled.
    attained : bool
        Whether some prediction has the least loss of each label; the logistic loss only comes near.
    """

    quadratic: ClassVar[bool] = False
    smooth: ClassVar[bool] = True
    translates: ClassVar[bool] = False
    attained: ClassVar[bool] = True

    @abstractmethod
    def value(self, u: np.ndarray, y: np.ndarray) -> np.ndarray:
        """ℓ(u, y)."""

    @abstractmethod
    def slope(self, u: np.ndarray, y: np.ndarray) -> np.ndarray:
        """∂ℓ/∂u."""

    @abstractmethod
    def curvature(self, u: np.ndarray, y: np.ndarray) -> np.ndarray:
        """∂²ℓ/∂u², or what a Newton method should use in its place."""

    @abstractmethod
    def conjugate(self, s: np.ndarray, y: np.ndarray) -> np.ndarray:
        """ℓ*(s) = max over u of s u - ℓ(u, y); infinite where there is no maximum."""

    def labels(self, y: np.ndarray) -> np.ndarray:
        """Labels as the loss wants them, or an `InputError` that says what is wrong with them."""
        return y

    def best_constant(self, y: np.ndarray, weights: np.ndarray) -> float:
        """A good constant prediction, where a search without a start begins."""
        return float(weights @ y)

    def measured_in(self, unit: float) -> Loss:
        """The loss for labels divided by `unit`, up to the factor unit² of its values."""
        return self

    @property
    def label_power(self) -> int:
        """Values grow by ``unit ** label_power`` when labels and predictions do by `unit`."""
        return 2


def spread(y: np.ndarray, weights: np.ndarray, centre: float) -> float:
    """The unit that labels are measured in: their standard deviation about `centre`; 0 where they are all alike."""
    unit = float(np.max(np.abs(y[weights > 0] - centre), initial=0.0))
    if unit <= 8 * np.finfo(float).eps * max(float(np.max(np.abs(y))), abs(centre)) or unit < 1e-150:
        return 0.0
    with np.errstate(under="ignore"):
        return unit * float(np.sqrt(weights @ ((y - centre) / unit) ** 2))


@dataclass(frozen=True)
class Squared(Loss):
    """(u - y)²."""

    quadratic: ClassVar[bool] = True
    translates: ClassVar[bool] = True

    def value(self, u, y):
        """(u - y)²."""
        return (u - y) ** 2

    def slope(self, u, y):
        """2 (u - y)."""
        return 2.0 * (u - y)

    def curvature(self, u, y):
        """2."""
        return np.full(np.shape(u), 2.0)

    def conjugate(self, s, y):
        """s²/4 + s y."""
        return s * s / 4.0 + s * y


@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + exp(u)) - y u for labels 0 or 1; labels -1 or 1 are accepted.

    The paper prints the sigmoid where the logarithm stands; only the latter is convex and fits its gradient.
    """

    attained: ClassVar[bool] = False

    def labels(self, y):
        """0/1 from 0/1 or -1/1."""
        found = np.unique(y)
        if np.isin(found, (0.0, 1.0)).all():
            return y
        if np.isin(found, (-1.0, 1.0)).all():
            return (y + 1.0) / 2.0
        others = found[~np.isin(found, (0.0, 1.0))]
        raise InputError(
            f"y: the logistic loss wants labels 0 and 1 (or -1 and 1), and found {others[0]:g}; "
            "map your two classes to 0 and 1, or choose loss='squared'."
        )

    def value(self, u, y):
        """log(1 + e^u) - y u, without cancellation where the loss is small."""
        # softplus(-z) with z = +u for y = 1 and -u for y = 0 when labels are 0 and 1
        return y * np.logaddexp(0.0, -u) + (1.0 - y) * np.logaddexp(0.0, u)

    def slope(self, u, y):
        """σ(u) - y, accurate in both tails."""
        return (1.0 - y) * _sigmoid(u) - y * _sigmoid(-u)

    def curvature(self, u, y):
        """σ(u) σ(-u)."""
        return _sigmoid(u) * _sigmoid(-u)

    def conjugate(self, s, y):
        """Negative entropy of π = y + s for 0 <= π <= 1."""
        p = y + s
        q = (1.0 - y) - s
        inside = (p >= 0) & (q >= 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            entropy = np.where(p > 0, p * np.log(p), 0.0) + np.where(q > 0, q * np.log(q), 0.0)
        return np.where(inside, entropy, np.inf)

    def best_constant(self, y, weights):
        """Log-odds of the mean, kept finite."""
        p = min(max(float(weights @ y), 1e-3), 1 - 1e-3)
        return float(np.log(p / (1 - p)))


@dataclass(frozen=True)
class Huber(Loss):
    """(u - y)² where |u - y| <= delta, and 2 delta |u - y| - delta² beyond.

    Parameters
    ----------
    delta : float
        Residual at which squares give way to absolute values, in units of the labels.
    """

    translates: ClassVar[bool] = True
    delta: float = 1.0

    def __post_init__(self) -> None:
        """Refuse a delta that is no length."""
        if not (np.isfinite(self.delta) and self.delta > 0):
            raise InputError(f"delta: Huber's loss wants a positive number, not {self.delta!r}; 1.35 σ is customary.")

    def value(self, u, y):
        """(u - y)² near 0, linear beyond."""
        e = np.abs(u - y)
        return np.where(e <= self.delta, e * e, self.delta * (2.0 * e - self.delta))

    def slope(self, u, y):
        """2 (u - y), clipped to ±2 delta."""
        return 2.0 * np.clip(u - y, -self.delta, self.delta)

    def curvature(self, u, y):
        """2 near 0, 0 beyond."""
        return np.where(np.abs(u - y) <= self.delta, 2.0, 0.0)

    def conjugate(self, s, y):
        """s²/4 + s y for |s| <= 2 delta."""
        return np.where(np.abs(s) <= 2.0 * self.delta * (1 + 1e-15), s * s / 4.0 + s * y, np.inf)

    def measured_in(self, unit):
        """Residuals and delta are divided alike."""
        return Huber(self.delta / unit)


@dataclass(frozen=True)
class Absolute(Loss):
    """|u - y|; its programs are linear and go to HiGHS."""

    smooth: ClassVar[bool] = False
    translates: ClassVar[bool] = True

    def value(self, u, y):
        """|u - y|."""
        return np.abs(u - y)

    def slope(self, u, y):
        """Sign of u - y."""
        return np.sign(u - y)

    def curvature(self, u, y):
        """0."""
        return np.zeros(np.shape(u))

    def conjugate(self, s, y):
        """Product s y for |s| <= 1."""
        return np.where(np.abs(s) <= 1.0 + 1e-12, s * y, np.inf)

    @property
    def label_power(self):
        """Values grow as the labels do."""
        return 1

    def best_constant(self, y, weights):
        """Weighted median."""
        order = np.argsort(y)
        return float(y[order[np.searchsorted(np.cumsum(weights[order]), 0.5)]])


LOSSES: dict[str, type[Loss]] = {"squared": Squared, "logistic": Logistic, "huber": Huber, "absolute": Absolute}


def as_loss(loss: str | Loss) -> Loss:
    """The loss of that name, or the loss itself."""
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str) and loss in LOSSES:
        return LOSSES[loss]()
    raise InputError(f"loss: {loss!r} is not a loss; choose one of {', '.join(LOSSES)}, or pass an instance of Loss.")


def _sigmoid(u: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(-u))
