"""Context: the trace and the correlation id of the current request or attempt.

Formats: W3C Trace Context (https://www.w3.org/TR/trace-context/) and Baggage (https://www.w3.org/TR/baggage/).
"""

import os
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from minutehand.settings.kinds import STORED, stored_name

if TYPE_CHECKING:
    from minutehand.model.new_job import NewJob

CORRELATION = "correlation-id"
LONGEST_CORRELATION = 128
# The specifications' limits are higher, but all headers of a job share 8 KiB.
LONGEST_STATE = 512
LONGEST_BAGGAGE = 2048
MAX_HEADER_BYTES = 8192

_PARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_VARIABLE = stored_name("_X_AMZN_TRACE_ID")
_TEXT = re.compile(r"[\x20-\x7e]*")
_XRAY = re.compile(
    r"Root=1-(?P<time>[0-9a-f]{8})-(?P<unique>[0-9a-f]{24});Parent=(?P<parent>[0-9a-f]{16})(?:;Sampled=(?P<sampled>[01]))?"
)


@dataclass(frozen=True)
class TraceContext:
    """A position in a trace, and the id that all log lines of one piece of work share."""

    parent: str = ""
    state: str = ""
    baggage: str = ""
    correlation: str = ""

    @classmethod
    def read(cls, headers: Mapping[str, str]) -> "TraceContext":
        """Read the headers of a request or a job. Values that are invalid or too long count as missing."""
        if not headers:
            return _EMPTY
        found = {name.lower(): value for name, value in headers.items()}
        parent = _matching(_PARENT, found.get("traceparent", ""), 55)
        return cls(
            parent,
            _matching(_TEXT, found.get("tracestate", ""), LONGEST_STATE) if parent else "",
            _matching(_TEXT, found.get("baggage", ""), LONGEST_BAGGAGE),
            _matching(_TEXT, found.get(CORRELATION, ""), LONGEST_CORRELATION),
        )

    def position(self) -> dict[str, str]:
        """Return the headers for receivers elsewhere: without the baggage, which may be private."""
        return replace(self, baggage="", correlation="").headers()

    def headers(self) -> dict[str, str]:
        """Return the headers that carry this context; empty values are left out."""
        named = {
            "traceparent": self.parent,
            "tracestate": self.state,
            "baggage": self.baggage,
            CORRELATION: self.correlation,
        }
        return {name: value for name, value in named.items() if value}


# Of a process outside of any request, attempt or traced invocation.
_EMPTY = TraceContext()
# A context, or what makes it: most attempts never need theirs.
Given = TraceContext | Callable[[], TraceContext]
_current: ContextVar[Given | None] = ContextVar("minutehand_trace", default=None)


def current() -> TraceContext:
    """Return the context of this request or attempt; outside of both, that of the Lambda invocation."""
    return _known() or of_invocation()


def _known() -> TraceContext | None:
    given = _current.get()
    return given() if callable(given) else given


def of_invocation() -> TraceContext:
    """Return the context of the Lambda invocation."""
    if _VARIABLE not in STORED:
        return _EMPTY
    parent = xray_parent(os.environ.get("_X_AMZN_TRACE_ID", ""))
    return TraceContext(parent) if parent else _EMPTY


# Makes a context the current one for the rest of a copy of the context variables.
make_current = _current.set


def use(context: Given) -> AbstractContextManager[None]:
    """Make this the context of all jobs that are enqueued inside the block."""
    return _Use(context)


class _Use:
    # Faster than a generator, and entered for every attempt.
    def __init__(self, context: Given) -> None:
        self._context = context

    def __enter__(self) -> None:
        self._token = _current.set(self._context)

    def __exit__(self, *error: object) -> None:
        _current.reset(self._token)


def inject(job: "NewJob", invocation: TraceContext | None = None) -> "NewJob":
    """Add the current context to a job's headers; those that the caller set take precedence.

    `invocation` is that of `of_invocation`, which a bulk reads once. Nothing is added if the headers would become too
    large, because a trace must not make an enqueue fail.
    """
    context = _known() or invocation or of_invocation()
    # Usually the same object, whose comparison takes longer.
    if context is _EMPTY or context == _EMPTY:
        return job
    given = job.headers or {}
    if not isinstance(given, Mapping):
        # The check of the headers reports it.
        return job
    names = {str(name).lower() for name in given}
    if "traceparent" in names:
        context = replace(context, parent="", state="")
    added = {name: value for name, value in context.headers().items() if name not in names}
    if not added or _size(given) + _size(added) > MAX_HEADER_BYTES:
        return job
    return replace(job, headers={**given, **added})


def xray_parent(header: str) -> str:
    """Return X-Ray's trace header as a traceparent, or an empty text if it names no segment."""
    found = _XRAY.search(header)
    if found is None:
        return ""
    sampled = "01" if found["sampled"] == "1" else "00"
    return f"00-{found['time']}{found['unique']}-{found['parent']}-{sampled}"


def _matching(pattern: re.Pattern[str], value: str, longest: int) -> str:
    return value if len(value) <= longest and pattern.fullmatch(value) else ""


def _size(headers: Mapping[str, str]) -> int:
    # Each entry is stored as `"name": "value", `. Escapes in a value can double it.
    return sum(_bytes(name) + 2 * _bytes(value) + 8 for name, value in headers.items())


def _bytes(text: object) -> int:
    # The check of the headers reports a lone surrogate, which UTF-8 cannot represent.
    return len(str(text).encode("utf-8", "surrogatepass"))
