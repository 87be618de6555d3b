"""The table of jobs as a read-only model, without payloads, headers and results, which may be private."""

from typing import Any, NoReturn

from django.db import models
from django.db.models.expressions import RawSQL

from minutehand.model.row import Row


def refuse(*_arguments: Any, **_options: Any) -> NoReturn:
    """Raise TypeError: jobs change through their own functions, which check states and record an audit trail."""
    raise TypeError(
        "this model is read-only; change jobs with minutehand.operations or `manage.py minutehand`"
    )


class JobQuerySet(models.QuerySet):
    """A query that cannot write."""

    bulk_create = delete = update = refuse


class JobManager(models.Manager):
    """Adds the state, which the database derives from the columns."""

    def get_queryset(self) -> Any:
        """Return all jobs with their states."""
        state = RawSQL("minutehand.state(jobs)", (), output_field=models.TextField())
        return JobQuerySet(self.model, using=self._db).annotate(state=state)


class Job(models.Model):
    """A job, with its `state` if a manager's query returned it."""

    id = models.UUIDField(primary_key=True)
    kind = models.TextField()
    queue = models.TextField()
    key = models.TextField(null=True)
    tenant = models.TextField()
    priority = models.IntegerField()
    attempts = models.IntegerField()
    max_attempts = models.IntegerField()
    enqueued = models.DateTimeField()
    run_at = models.DateTimeField()
    visible = models.DateTimeField()
    offered = models.DateTimeField(null=True)
    claimed = models.DateTimeField(null=True)
    deleted = models.DateTimeField(null=True)
    failed = models.BooleanField()
    cancelled = models.BooleanField()
    schedule = models.TextField(null=True)
    version = models.TextField(null=True)
    error = models.JSONField(null=True)

    objects = JobManager()
    save_base = delete = refuse
    waits = Row.waits

    class Meta:
        """The table, which Django neither creates nor changes."""

        app_label = "minutehand"
        managed = False
        db_table = '"minutehand"."jobs"'
        default_permissions = ("view",)
        ordering = ("-id",)

    def __str__(self) -> str:
        """Return the kind and the id."""
        return f"{self.kind} {self.id}"
