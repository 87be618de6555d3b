"""Load: files of jobs, read, checked row by row, staged, and entered at once."""
