"""`python -m minutehand` is the command line."""

from minutehand.cli import main

main()
