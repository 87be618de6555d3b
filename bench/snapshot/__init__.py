"""The latency of claims while an old snapshot keeps vacuum from removing dead rows."""
