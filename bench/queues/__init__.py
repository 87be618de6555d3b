"""The throughput of job queues on one server, in interleaved rounds."""
