r"""The trained thing: f(x) = Σⱼ vⱼ max(0, wⱼ·(x, 1)) + c, what it predicts and what it is made of.

It is continuous and affine on each piece of the input space that the hyperplanes of its units cut out. On one
feature the pieces are intervals, and `ShallowReLU.pieces` lists all of them; with more features
`ShallowReLU.affine_at` says which piece a point is on.

`ShallowReLU.simplify` leaves the function what it is. Units whose hyperplanes coincide, in either orientation, make one
kink together: with z = w·(x, 1) and u = max(0, z),

    a max(0, z) + b max(0, -z) = (a + b) u - b z = (a + b) max(0, -z) + a z,

so such a group is one unit and an affine remainder. All remainders of a network add up to one, which takes two
units, r = max(0, r) - max(0, -r), one on a box on which it is bounded, or none if it is constant.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from zonofit.errors import InputError
from zonofit.geometry.arrangement import as_points
from zonofit.tolerances import DEFAULT_TOLERANCES

FORMAT, VERSION = "zonofit network", 1
_MOST_TRIED = 12  # hyperplanes whose orientations are all tried


@dataclass(frozen=True)
class Piece:
    """f(x) = slope x + intercept where left <= x <= right, on one feature."""

    left: float
    right: float
    slope: float
    intercept: float


@dataclass(frozen=True, eq=False, repr=False)
class ShallowReLU:
    """A network with one hidden layer of ReLU units, f(x) = Σⱼ vⱼ max(0, wⱼ·(x, 1)) + c.

    Parameters
    ----------
    W : array_like (m, d + 1)
        Weights, one row a unit; the last column is the bias. There may be no units at all.
    v : array_like (m,)
        Output weights.
    c : float
        Output bias.
    features : sequence of str, optional
        Names of the d features.
    target : str, optional
        Name of what is predicted.
    classes : pair, optional
        Labels of two classes: the second is predicted where f(x) > 0. Without it f(x) is the prediction.
    """

    W: np.ndarray
    v: np.ndarray
    c: float
    features: tuple[str, ...] | None = None
    target: str | None = None
    classes: tuple[Any, Any] | None = None

    def __post_init__(self) -> None:
        """Refuse what is no network; keep arrays of its own, which cannot be changed."""
        W, v = _finite(self.W, "W"), _finite(self.v, "v")
        if W.ndim != 2 or W.shape[1] < 2:
            raise InputError(f"W: expected one row a unit, of a weight a feature and a bias, got shape {W.shape}.")
        if v.shape != W.shape[:1]:
            raise InputError(f"v: expected {len(W)} numbers, one a unit, got shape {v.shape}.")
        c = _finite(self.c, "c")
        if c.shape != ():
            raise InputError(f"c: expected one number, got shape {c.shape}.")
        for array in (W, v):
            array.setflags(write=False)
        object.__setattr__(self, "W", W)
        object.__setattr__(self, "v", v)
        object.__setattr__(self, "c", float(c))
        if self.features is not None:
            features = tuple(map(str, self.features))
            if len(features) != W.shape[1] - 1:
                raise InputError(f"features: {len(features)} names for {W.shape[1] - 1} features; pass one a feature.")
            object.__setattr__(self, "features", features)
        if self.classes is not None:
            classes = tuple(k.item() if isinstance(k, np.generic) else k for k in self.classes)
            if len(classes) != 2:
                raise InputError(f"classes: {len(classes)} labels; a network has one output, which tells two apart.")
            object.__setattr__(self, "classes", classes)

    def __repr__(self) -> str:
        up = int(np.sum(self.v > 0))
        text = f"{self.n_features} feature{'s' * (self.n_features != 1)}, {self.width} unit{'s' * (self.width != 1)}"
        text += f" ({up} up, {self.width - up} down), {self.n_parameters} parameters"
        if self.n_features == 1:
            pieces = len(self.breakpoints) + 1
            text += f", {pieces} linear piece{'s' * (pieces != 1)}"
        if self.classes is not None:
            text += f", {self.classes[0]!r} or {self.classes[1]!r}"
        return f"ShallowReLU({text})"

    @property
    def width(self) -> int:
        """Number of units m."""
        return len(self.W)

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return self.W.shape[1] - 1

    @property
    def n_parameters(self) -> int:
        """Number of weights and biases, m (d + 2) + 1."""
        return self.W.size + self.width + 1

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features; x1, x2, ... where they have none."""
        return self.features or tuple(f"x{k + 1}" for k in range(self.n_features))

    def predict(self, X) -> np.ndarray:
        """f(x) of each example (N, d)."""
        return np.maximum(self.preactivations(X), 0.0) @ self.v + self.c

    def preactivations(self, X) -> np.ndarray:
        """wⱼ·(xᵢ, 1) of each example (N, d) and unit, of shape (N, m)."""
        X = self._examples(X)
        return X @ self.W[:, :-1].T + self.W[:, -1]

    def patterns(self, X) -> np.ndarray:
        """Examples (N, d) on which each unit is active, booleans (m, N)."""
        return self.preactivations(X).T > 0

    def affine_at(self, X) -> tuple[np.ndarray, np.ndarray]:
        """Slopes (N, d) and intercepts (N,) of the pieces that the examples (N, d) are on.

        On a hyperplane it is the piece on which the unit is not active.
        """
        rows = (self.patterns(X) * self.v[:, None]).T @ self.W
        return rows[:, :-1], rows[:, -1] + self.c

    @cached_property
    def breakpoints(self) -> np.ndarray:
        """Where the slope of a network on one feature changes, sorted."""
        return np.array([piece.right for piece in self.pieces[:-1]])

    @cached_property
    def pieces(self) -> list[Piece]:
        """The linear pieces of a network on one feature, from left to right; neighbours differ in slope."""
        if self.n_features != 1:
            raise InputError(f"pieces: {self.n_features} features have no list of intervals; use affine_at.")
        w, b = self.W.T
        bent = np.flatnonzero((w != 0) & (self.v != 0))
        flat = float(self.v[w == 0] @ np.maximum(b[w == 0], 0.0)) + self.c
        with np.errstate(over="ignore"):
            at = -b[bent] / w[bent] + 0.0  # no -0
        bent, at = bent[np.isfinite(at)], at[np.isfinite(at)]
        order = np.argsort(at, kind="stable")
        bent, at = bent[order], at[order]
        # kinks at the same place up to rounding are one
        reach = DEFAULT_TOLERANCES.parallel * np.maximum(np.abs(at), np.max(np.abs(at), initial=0.0) * 1e-6)
        new = np.append(True, np.diff(at) > reach[1:])[: len(at)]
        starts = np.flatnonzero(new)
        size = float(np.sum(np.abs(self.v * w)))
        found: list[Piece] = []
        left = -np.inf
        for k in range(len(starts) + 1):
            right = at[starts[k]] if k < len(starts) else np.inf
            middle = _between(left, right)
            on = w * middle + b > 0
            slope, intercept = float((self.v * w)[on & (w != 0)].sum()), flat + float((self.v * b)[on & (w != 0)].sum())
            if found and abs(slope - found[-1].slope) <= DEFAULT_TOLERANCES.parallel * size:
                found[-1] = replace(found[-1], right=float(right))  # two units whose kinks cancel
            else:
                found.append(Piece(float(left), float(right), slope, intercept))
            left = float(right)
        return found

    def prune(self, X) -> ShallowReLU:
        """Without the units that are active on none of the examples (N, d), on which the predictions do not change."""
        return self._with(np.any(self.patterns(X), axis=1) & (self.v != 0))

    def simplify(self, lower=None, upper=None) -> ShallowReLU:
        """The same function with as few units as their hyperplanes allow.

        Parameters
        ----------
        lower, upper : float or array_like (d,), optional
            A box; if it is given the function need be the same only there, so that a unit that is active on all of the
            box counts as affine, and one that is active nowhere on it is dropped.

        Returns
        -------
        ShallowReLU
            Predictions differ by rounding only.
        """
        d = self.n_features
        units, affine, c = [], np.zeros(d + 1), self.c
        low, high = self.ranges(lower, upper)
        groups: list[tuple[np.ndarray, list[float]]] = []
        for w, v, least, most in zip(self.W, self.v, low, high, strict=True):
            length = float(np.linalg.norm(w))
            if v == 0 or length == 0 or most <= 0:
                continue
            if not w[:-1].any():
                c += v * w[-1]
            elif least >= 0:
                affine += v * w
            else:
                _join(groups, w / length, v * length)
        for direction, sides in groups:
            units.append((direction, sides[0], sides[1]))
        chosen, remainder = _orient(units, affine)
        turned = [(w * abs(v), float(np.sign(v))) for w, v in chosen]
        extra, shift = self._as_units(remainder, lower, upper)
        # a unit and its mirror image may be cheaper than one unit and the remainder that it leaves
        mirrored = [(s * w * abs(v), float(np.sign(v))) for w, a, b in units for s, v in ((1, a), (-1, b)) if v != 0]
        plain, plain_shift = self._as_units(affine, lower, upper)
        if len(mirrored) + len(plain) <= len(turned) + len(extra):
            turned, extra, shift = mirrored, plain, plain_shift
        rows, signs = [row for row, _ in turned + extra], [sign for _, sign in turned + extra]
        c += shift
        return replace(self, W=np.reshape(rows, (len(rows), d + 1)), v=np.array(signs), c=c)

    def ranges(self, lower=None, upper=None) -> tuple[np.ndarray, np.ndarray]:
        """Least and largest preactivation (m,) of each unit on a box; no units of the box are left out.

        Infinite where the box is. They are attained, each at a corner.
        """
        low = _side(lower, -np.inf, self.n_features, "lower")
        high = _side(upper, np.inf, self.n_features, "upper")
        if np.any(low > high):
            raise InputError(f"lower: is above upper at feature {int(np.argmax(low > high))}; exchange them.")
        slopes = self.W[:, :-1]
        with np.errstate(invalid="ignore"):  # 0 times infinity: such a feature does not matter
            at_low, at_high = (np.where(slopes == 0, 0.0, slopes * side) for side in (low, high))
        bias = self.W[:, -1]
        return np.minimum(at_low, at_high).sum(axis=1) + bias, np.maximum(at_low, at_high).sum(axis=1) + bias

    def to_dict(self) -> dict[str, Any]:
        """What JSON knows; `zonofit.export` publishes the schema."""
        fields: dict[str, Any] = {"format": FORMAT, "version": VERSION}
        if self.features is not None:
            fields["features"] = list(self.features)
        if self.target is not None:
            fields["target"] = self.target
        if self.classes is not None:
            fields["classes"] = list(self.classes)
        return (
            fields
            | {"W": self.W.tolist(), "c": self.c, "output_weights": self.v.tolist()}
            | ({} if self.width else {"n_features": self.n_features})
        )

    @classmethod
    def from_dict(cls, fields) -> ShallowReLU:
        """The network that `to_dict` wrote, or an `InputError` that says what is missing."""
        if not isinstance(fields, dict) or fields.get("format") != FORMAT:
            raise InputError(f'fields: this is no network, which has "format": "{FORMAT}"; pass what to_dict made.')
        if fields.get("version") != VERSION:
            raise InputError(
                f"fields: a network of version {fields.get('version')!r}, and this zonofit reads version {VERSION}; "
                "install a later zonofit."
            )
        for name in ("W", "c", "output_weights"):
            if name not in fields:
                raise InputError(f"fields: {name} is missing; pass what to_dict made.")
        W = fields["W"]
        if W == []:
            W = np.zeros((0, int(fields.get("n_features", len(fields.get("features") or [0]))) + 1))
        return cls(
            W, fields["output_weights"], fields["c"], fields.get("features"), fields.get("target"),
            fields.get("classes"),
        )  # fmt: skip

    def _examples(self, X) -> np.ndarray:
        X = as_points(X, "X")
        if X.shape[1] != self.n_features:
            raise InputError(f"X: expected {self.n_features} features, got {X.shape[1]}.")
        return X

    def _with(self, keep: np.ndarray) -> ShallowReLU:
        return replace(self, W=self.W[keep], v=self.v[keep])

    def _as_units(self, affine: np.ndarray, lower, upper) -> tuple[list[tuple[np.ndarray, float]], float]:
        """An affine function as units and a constant: one where it is bounded on the box, else two."""
        slope = affine[:-1]
        if not slope.any():
            return [], float(affine[-1])
        whole = ShallowReLU(np.append(slope, 0.0)[None], np.ones(1), 0.0)
        low, high = (float(side[0]) for side in whole.ranges(lower, upper))
        if np.isfinite(low):
            return [(np.append(slope, -low), 1.0)], float(affine[-1]) + low
        if np.isfinite(high):
            return [(np.append(-slope, high), -1.0)], float(affine[-1]) + high
        return [(np.append(slope, 0.0), 1.0), (np.append(-slope, 0.0), -1.0)], float(affine[-1])


def _finite(values, name: str) -> np.ndarray:
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name}: not an array of numbers; pass the weights of a network.") from None
    if not np.isfinite(array).all():
        raise InputError(f"{name}: holds NaN or infinity; pass finite weights.")
    return array


def _side(values, default: float, d: int, name: str) -> np.ndarray:
    side = np.asarray(default if values is None else values, float)
    if side.shape not in ((), (d,)) or np.isnan(side).any():
        raise InputError(f"{name}: expected one number, or {d} of them, one a feature, got shape {side.shape}.")
    return np.broadcast_to(side, (d,))


def _between(left: float, right: float) -> float:
    if np.isinf(left) and np.isinf(right):
        return 0.0
    if np.isinf(left):
        return right - 1.0 - abs(right)
    return left + 1.0 + abs(left) if np.isinf(right) else left + (right - left) / 2.0


def _join(groups: list[tuple[np.ndarray, list[float]]], direction: np.ndarray, v: float) -> None:
    """Add a unit to those with the same hyperplane, on its side of it."""
    for other, sides in groups:
        for k, sign in ((0, 1.0), (1, -1.0)):
            if np.linalg.norm(direction - sign * other) <= DEFAULT_TOLERANCES.parallel:
                sides[k] += v
                return
    groups.append((direction, [v, 0.0]))


def _orient(units, remainder: np.ndarray) -> tuple[list[tuple[np.ndarray, float]], np.ndarray]:
    """One unit for each hyperplane, turned so that no affine remainder is left, if there is such a way."""
    size = np.linalg.norm(remainder) + sum(abs(a) + abs(b) for _, a, b in units)

    def turned(ways):
        chosen, rest = [], remainder.copy()
        for (w, a, b), way in zip(units, ways, strict=True):
            kink = a + b
            rest = rest + (a * w if way else -b * w)
            if abs(kink) > DEFAULT_TOLERANCES.parallel * (abs(a) + abs(b)):
                chosen.append((-w if way else w, kink))
        if np.linalg.norm(rest[:-1]) <= DEFAULT_TOLERANCES.parallel * size:
            rest[:-1] = 0.0
        return chosen, rest

    ways = [b != 0 and a == 0 for _, a, b in units]
    best = turned(ways)
    pairs = [k for k, (_, a, b) in enumerate(units) if a != 0 and b != 0]
    if best[1][:-1].any() and len(units) <= _MOST_TRIED and pairs:
        for code in range(2 ** len(units)):
            trial = turned([bool(code >> k & 1) for k in range(len(units))])
            if not trial[1][:-1].any():
                return trial
    return best
