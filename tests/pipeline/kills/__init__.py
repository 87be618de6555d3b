"""Kill the pipeline's commands at random moments, repeat them, and compare all rows with DuckDB.

    python -m tests.pipeline.kills archive load --kills 200 --seed 1 --journal kills.jsonl

The rows that are expected come from SQL of this package, and the lake's rows from DuckDB, without the pipeline's code.
Each command is a process of its own that is killed with SIGKILL. To make that cheap, the processes fork from a server
that has imported everything, and use a Spark that is already running. So the tasks of a killed driver often continue
during the next run. Some kills also end all tasks, and some end Java.
"""
