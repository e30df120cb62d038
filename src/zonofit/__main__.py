"""``python -m zonofit`` is the command ``zonofit``."""

import sys

from zonofit.cli import main

if __name__ == "__main__":
    sys.exit(main())
