-- Declared limits: the code that declares a limit, and a hash of the declaration; null for limits that people set.

alter table minutehand.controls
    add source minutehand.source,
    add hash   minutehand.label;
