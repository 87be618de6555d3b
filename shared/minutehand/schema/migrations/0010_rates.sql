-- A rate that replaces another starts again, whichever statement replaces it.

create trigger renew_rate before update on minutehand.controls
    for each row when ((old.rate, old.period, old.burst) is distinct from (new.rate, new.period, new.burst))
    execute function minutehand.renew_rate();
