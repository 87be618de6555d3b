"""Report on finished jobs: tables and an HTML page."""
