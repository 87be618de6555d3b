-- Whether a worker runs a job of a queue now.
select exists (select from minutehand.jobs_live j
                where j.queue = %(queue)s and coalesce(j.offered, j.claimed) is not null and j.claimed is not null
                  and j.visible > now()) as running
