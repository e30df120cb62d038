"""How long a search may go on."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from zonofit.errors import InputError


@dataclass(frozen=True)
class Budget:
    """Limits of a search; it stops at the first that is reached, and says which.

    Every limit but `seconds` is counted, so that with the others alone a search ends in the same place on any machine.

    Parameters
    ----------
    seconds : float
        Wall clock, all walkers together.
    programs : float
        Convex programs solved to the end, vertex programs and descents alike, by each walker.
    moves : float
        Moves of each walker: what one is, the search says (a vertex of GLS, a hop).
    target : float
        Objective that is good enough.
    """

    seconds: float = np.inf
    programs: float = np.inf
    moves: float = np.inf
    target: float = -np.inf

    def __post_init__(self) -> None:
        """Refuse what is no limit."""
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, (int, float, np.integer, np.floating)) or np.isnan(value):
                raise InputError(f"{field.name}: {value!r} is not a number; leave it out for no limit.")
            if field.name != "target" and value < 0:
                raise InputError(f"{field.name}: a limit cannot be negative, got {value!r}; leave it out for no limit.")
