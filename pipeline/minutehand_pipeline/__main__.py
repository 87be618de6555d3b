"""Run the pipeline's commands without the rest of the CLI: `python -m minutehand_pipeline` and `spark-submit`."""

import sys

from minutehand.cli.exits import run_to_exit_code
from minutehand_pipeline.cli import pipeline

if __name__ == "__main__":
    sys.exit(run_to_exit_code(lambda: pipeline.main(prog_name="minutehand pipeline", standalone_mode=False)))
