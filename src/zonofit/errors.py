"""What zonofit raises: one sentence that names the argument, what was wrong, and what to do."""

from __future__ import annotations


class InputError(ValueError):
    """An argument or a file that cannot be used as it is."""


class BudgetError(RuntimeError):
    """The work asked for is larger than the budget given; the message says how large it would be."""


class AmbiguousPositionWarning(UserWarning):
    """Generators so close to a dependency that rounding, not the data, would decide on which side they are."""
