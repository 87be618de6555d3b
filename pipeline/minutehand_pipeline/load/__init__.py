"""Load files of jobs into the queue: read them, check each row, stage the jobs and enter them in one transaction."""
