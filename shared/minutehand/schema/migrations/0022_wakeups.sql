-- The one-off schedules of mode sleep are called wake-ups, as the alarms of CloudWatch are something else.
alter table minutehand.dispatcher rename column alarm_failed to wakeup_failed;
alter table minutehand.dispatcher rename column alarm_error to wakeup_error;
