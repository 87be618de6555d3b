"""Other job queues in Postgres, in their pinned versions, measured by the same harness."""
