"""The places that rows come from and go to: the queue in Postgres, and the lake."""
