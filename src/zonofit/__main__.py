"""``python -m zonofit`` is the command ``zonofit``."""

from zonofit.cli import main

if __name__ == "__main__":
    main()
