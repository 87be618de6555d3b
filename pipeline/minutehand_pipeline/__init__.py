"""The Spark pipeline: archive finished jobs to a lake, report on them, simulate policies and load jobs from files."""
