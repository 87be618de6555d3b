"""`minutehand pipeline`: the Spark pipeline, which the library must not import."""

from importlib import import_module

import click

pipeline: click.Command = import_module("minutehand_pipeline.cli").pipeline
