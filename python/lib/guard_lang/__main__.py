"""The `guard` command."""

from __future__ import annotations

import signal
import sys

from ._guard import run


def main() -> int:
    """Run the command with the arguments of the process."""
    # As in the program without Python: an interrupt ends it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run(["guard", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
