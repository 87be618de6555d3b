-- A rate that replaces another starts again, whichever statement replaces it.

create trigger forget_rate after update on minutehand.controls
    for each row when ((old.rate, old.period, old.burst) is distinct from (new.rate, new.period, new.burst))
    execute function minutehand.forget_rate();
