"""Run the pipeline's commands without the rest of the CLI: `python -m minutehand_pipeline` and `spark-submit`."""

import sys

from minutehand.cli.ends import ended
from minutehand_pipeline.cli import pipeline

if __name__ == "__main__":
    sys.exit(ended(lambda: pipeline.main(prog_name="minutehand pipeline", standalone_mode=False)))
