"""End jobs that no worker can end, because their worker died or they expired before they started."""
