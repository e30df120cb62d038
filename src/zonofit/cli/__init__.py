"""The command line ``zonofit``: networks from tables and for other programs, proven optima, chambers and theorems.

Every command obeys one contract. Results go to standard output, everything else to standard error. With ``--json``
standard output holds one JSON object and nothing else, and its fields are listed in the command's help. The exit
status is 0 on success, 2 for input that cannot be used (one sentence says why; with ``--json`` also
``{"error": sentence}``), 1 when the machine failed (a full disk), 130 after Ctrl-C and 143 when terminated.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; by default those of the process.
    """
    from zonofit.cli.app import run

    return run(list(sys.argv[1:] if argv is None else argv))
