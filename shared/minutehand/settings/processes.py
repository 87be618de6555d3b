"""The processes that read settings."""

API, DISPATCHER, MIGRATE, WORKER = "api", "dispatcher", "migrate", "worker"
# `library` is any other process that uses the library.
LIBRARY, CLI, TESTS = "library", "cli", "tests"
EVERYWHERE = (API, DISPATCHER, MIGRATE, WORKER, LIBRARY)
# The processes that invoke workers: in the mode `prompt`, also those that enqueue.
WAKING = (API, DISPATCHER, WORKER, LIBRARY, CLI)
# The processes that may import the team's handlers.
HANDLING = (DISPATCHER, WORKER, LIBRARY, CLI)
