-- An index of the pauses and the limits of zero, which mode sleep reads to find the next time at which it needs a tick.
create index controls_stopping on minutehand.controls (until) where paused or max_running = 0;
