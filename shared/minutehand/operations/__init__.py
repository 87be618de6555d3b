"""Changes by people: to jobs, queues and settings. Each writes the audit trail."""
