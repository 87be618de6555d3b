-- Takes one step of retention.
select home, day, outcome, jobs from minutehand.retain_now()
