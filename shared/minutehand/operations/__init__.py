"""Changes that people make to jobs, queues and settings."""
