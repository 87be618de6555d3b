"""The pipeline without the command line's other verbs: `python -m minutehand_pipeline`, and what spark-submit runs."""

import sys

from minutehand.cli.exits import run_to_exit_code
from minutehand_pipeline.cli import pipeline

if __name__ == "__main__":
    sys.exit(run_to_exit_code(lambda: pipeline.main(prog_name="minutehand pipeline", standalone_mode=False)))
