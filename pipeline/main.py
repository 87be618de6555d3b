"""Entry point for spark-submit: the commands of `minutehand pipeline`."""

from runpy import run_module

run_module("minutehand_pipeline", run_name="__main__", alter_sys=True)
