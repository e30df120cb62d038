"""Every numerical threshold of zonofit, named once.

A threshold is always relative to something; the field's comment says to what. Pass another instance where
your data need one: ``Arrangement(X, tolerances=Tolerances(parallel=1e-8))``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tolerances:
    """Named thresholds.

    Parameters
    ----------
    rank : float
        A singular value of the equilibrated generators counts as zero below ``rank`` times the largest.
    parallel : float
        Two unit generators (in whitened coordinates) are parallel when they differ by at most this length.
    sign : float
        ``g·w`` counts as zero when ``|g·w| <= sign * |g| * |w|``.
    dependent : float
        Unit generators are linearly dependent when the volume they span is at most this.
    roundoff : float
        Multiple of the running rounding-error bound below which a pivoted quantity counts as zero.
    data : float
        The same multiple of the rounding error that the data came with: half a unit in the last place of every entry
        that is neither an integer nor a short decimal, as the whitened coordinates show it.
    inside : float
        A point counts as inside a zonotope up to this distance, in widths of the zonotope.
    level : float
        A loss counts as t γ² / N, and a preactivation of a set's example as 0, up to this part of γ² / N and of γ
        (appendix E).
    affine : float
        Labels of examples count as those of an affine function when it misses them by at most this part of the largest.
    fit : float
        An interpolating network that misses a label by more than this part of the largest comes with a warning.
    """

    rank: float = 1e-11
    parallel: float = 1e-10
    sign: float = 1e-12
    dependent: float = 1e-11
    roundoff: float = 256.0
    data: float = 16.0
    inside: float = 1e-9
    level: float = 1e-6
    affine: float = 1e-10
    fit: float = 1e-8


DEFAULT_TOLERANCES = Tolerances()
