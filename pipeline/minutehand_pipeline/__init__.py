"""The pipeline: carry what is finished to a lake, learn from it, and enqueue from it; only this knows Spark."""
