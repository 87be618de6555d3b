"""Jobs in the admin, to read only. No page reads the whole table for a count or a list of choices."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.core.paginator import Paginator
from django.utils.functional import cached_property

from minutehand.integrations.django.models import Job
from minutehand.model.display import error_line, safe, when

PAGE, LISTED = 50, 1000
OUTCOMES = {
    "unfinished": {"deleted__isnull": True},
    "done": {"deleted__isnull": False, "failed": False},
    "failed": {"deleted__isnull": False, "failed": True},
}


class NewestJobs(Paginator):
    """The newest jobs. It counts no further than it lists."""

    @cached_property
    def count(self) -> int:
        """Return the number of listed jobs."""
        return int(self.object_list.order_by()[:LISTED].count())


class NameFilter(admin.SimpleListFilter):
    """The names among the newest jobs; the address may contain others."""

    def lookups(self, request: Any, model_admin: Any) -> list[tuple[str, str]]:
        """Return the names to choose from."""
        newest = model_admin.get_queryset(request).values_list(self.parameter_name, flat=True)[:LISTED]
        return [(name, name) for name in sorted(set(newest))]

    def queryset(self, request: Any, queryset: Any) -> Any:
        """Return the jobs that have the name."""
        name = self.value()
        if name is None:
            return queryset
        # Postgres refuses a text with NUL.
        return queryset.none() if "\0" in name else queryset.filter(**{self.parameter_name: name})


class QueueFilter(NameFilter):
    """By queue."""

    title = parameter_name = "queue"


class KindFilter(NameFilter):
    """By kind."""

    title = parameter_name = "kind"


class OutcomeFilter(admin.SimpleListFilter):
    """By outcome; dead, expired and cancelled jobs have failed."""

    title = parameter_name = "outcome"

    def lookups(self, request: Any, model_admin: Any) -> list[tuple[str, str]]:
        """Return the outcomes to choose from."""
        return [(name, name.title()) for name in OUTCOMES]

    def queryset(self, request: Any, queryset: Any) -> Any:
        """Return the jobs that have the outcome."""
        return queryset.filter(**OUTCOMES.get(self.value(), {}))


@admin.register(Job)
class JobAdmin(admin.ModelAdmin):
    """Jobs, newest first. Users need the permission `minutehand.view_job`."""

    list_display = ("state", "kind", "queue", "key_text", "attempts_text", "moment", "error_text")
    list_display_links = ("state", "kind")
    list_filter = (OutcomeFilter, QueueFilter, KindFilter)
    list_per_page = PAGE
    list_max_show_all = 0
    show_full_result_count = False
    paginator = NewestJobs
    sortable_by = actions = ()
    search_fields = ("id", "key")
    search_help_text = f"An id or a key, in full. Lists and counts end after {LISTED} jobs."
    fields = readonly_fields = (
        *("id", "state", "kind", "queue", "key_text", "tenant", "priority", "attempts_text"),
        *("enqueued", "run_at", "visible", "offered", "claimed", "deleted"),
        *("schedule_text", "version_text", "error_text"),
    )

    @admin.display
    def state(self, job: Any) -> str:
        """Return the state."""
        return str(job.state)

    @admin.display(description="key")
    def key_text(self, job: Any) -> str | None:
        """Return the key without control characters, such as those that reverse a text."""
        return job.key and safe(job.key)

    @admin.display(description="schedule")
    def schedule_text(self, job: Any) -> str | None:
        """Return the schedule without control characters."""
        return job.schedule and safe(job.schedule)

    @admin.display(description="version")
    def version_text(self, job: Any) -> str | None:
        """Return the version without control characters."""
        return job.version and safe(job.version)

    @admin.display(description="attempts")
    def attempts_text(self, job: Any) -> str:
        """Return how many attempts have started, and the limit."""
        return f"{job.attempts} of {job.max_attempts}"

    @admin.display(description="when")
    def moment(self, job: Any) -> datetime:
        """Return when the job finished, started, was offered, or may run."""
        return when(job)

    @admin.display(description="error")
    def error_text(self, job: Any) -> str:
        """Return the type and the first line of the error."""
        return error_line(job.error) if isinstance(job.error, dict) else ""

    def get_search_results(self, request: Any, queryset: Any, search_term: str) -> tuple[Any, bool]:
        """Find a job by its id, otherwise jobs by their key."""
        if not search_term:
            return queryset, False
        by_id = queryset.filter(id=found) if (found := _uuid(search_term)) else queryset.none()
        return by_id if by_id.exists() else queryset.filter(key=search_term), False

    def lookup_allowed(self, lookup: str, value: Any, request: Any = None) -> bool:
        """Return whether an address may filter by this parameter: only by those of the filters."""
        return lookup in {each.parameter_name for each in self.list_filter}

    def has_add_permission(self, *_request: Any) -> bool:
        """Return False."""
        return False

    has_change_permission = has_delete_permission = has_add_permission


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
