"""Speed, as ratios against a physical limit measured in the same run."""
