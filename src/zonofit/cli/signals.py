"""SIGTERM as an interrupt, for commands that keep what they have when they are stopped."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

INTERRUPTED, TERMINATED = 130, 143


class Terminated(KeyboardInterrupt):
    """SIGTERM, as from a batch system whose time is up."""


class Stopped:
    """How a command was stopped, if it was: the exit status of Ctrl-C or of SIGTERM."""

    def __init__(self) -> None:
        self.status = INTERRUPTED


@contextmanager
def sigterm_interrupts() -> Iterator[Stopped]:
    """Let SIGTERM raise `Terminated` inside the block; what is yielded holds the exit status of a stop."""
    stopped = Stopped()

    def interrupt(*_):
        stopped.status = TERMINATED
        raise Terminated

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # not the main thread
        yield stopped
        return
    try:
        yield stopped
    except KeyboardInterrupt as error:
        # whoever caught the first one may have raised another
        raise (Terminated if stopped.status == TERMINATED else KeyboardInterrupt) from error
    finally:
        signal.signal(signal.SIGTERM, before)
