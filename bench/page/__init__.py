"""The page docs/performance.md and its plots, written from bench/results.json."""
