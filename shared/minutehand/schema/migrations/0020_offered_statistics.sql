-- How few jobs are offered or running. Without it, the planner assumes that nearly all are, so that with many scheduled jobs it reads
-- these instead of the index of offered and running jobs.
create statistics minutehand.jobs_live_offered on (coalesce(offered, claimed)) from minutehand.jobs_live;
