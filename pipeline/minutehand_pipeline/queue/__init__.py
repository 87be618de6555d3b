"""The Spark data source `minutehand`: read finished rows from the queue, and write jobs to it."""
