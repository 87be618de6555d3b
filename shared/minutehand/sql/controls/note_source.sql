-- Notes which source has installed a limit, and a hash of its declaration.
update minutehand.controls
   set source = %(source)s, hash = %(hash)s
 where (tenant, queue, kind, key, "group", per) = (%(tenant)s, %(queue)s, %(kind)s, %(key)s, %(group)s, %(per)s)
