"""The pipeline without the command line's other verbs: `python -m minutehand_pipeline`, and what spark-submit runs."""

import sys

from minutehand.cli.ends import ended
from minutehand_pipeline.cli import pipeline

if __name__ == "__main__":
    sys.exit(ended(lambda: pipeline.main(prog_name="minutehand pipeline", standalone_mode=False)))
