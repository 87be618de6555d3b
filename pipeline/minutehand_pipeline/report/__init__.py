"""Report: how the queue did and what it cost, from the lake to tables and one page."""
