"""Events: what happens to jobs, delivered to hooks and sinks."""
