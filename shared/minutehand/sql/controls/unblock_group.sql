-- Unblocks a group that dead jobs block; returns these.
select job from minutehand.unblock(%(queue)s, %(tenant)s, %(group)s) job
