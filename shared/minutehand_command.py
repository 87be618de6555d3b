"""The entry point of the command `minutehand`.

It is outside of the package, whose import takes a fifth of a second: Ctrl-C meanwhile ends the command like any other.
"""

import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line."""
    try:
        from minutehand.cli import main
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    main()


if __name__ == "__main__":
    main()
