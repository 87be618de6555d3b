-- Returns and forgets the wake-ups that watch over offered and running jobs, if there are no such jobs any more. In one
-- snapshot: a wake-up is noted after its jobs were offered, so that one that is visible here has none left.
delete from minutehand.watches
 where not exists (select
                     from minutehand.jobs_live
                    where coalesce(offered, claimed) is not null and coalesce(claimed, offered) >= (select busy_since from minutehand.dispatcher)
                      and visible > clock_timestamp())
returning name, at
