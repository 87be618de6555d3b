"""Translate errors from Spark into single messages."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from minutehand import errors as library_errors
from minutehand.errors import MinutehandError
from minutehand_pipeline import errors as pipeline_errors
from minutehand_pipeline.errors import MissingError, PipelineError

# The distribution that installs each module.
DISTRIBUTIONS = {
    "adbc_driver_manager": "minutehand-pipeline",
    "adbc_driver_postgresql": "minutehand-pipeline",
    "deltalake": "minutehand-pipeline",
    "numpy": "minutehand-pipeline",
    "pandas": "minutehand-pipeline",
    "pyarrow": "minutehand-pipeline",
    "py4j": "minutehand-pipeline[spark]",
    "pyspark": "minutehand-pipeline[spark]",
}

TRACE = "Traceback (most recent call last):"
JAVA_TRACE = re.compile(r"\n\s*at [\w.$]+|\n\s*JVM stacktrace:|\n\s*Driver stacktrace:")
LAST_LINE = re.compile(r"^([A-Za-z_][\w.]*)(?:: (.*))?$", re.MULTILINE)
OUT_OF_MEMORY = (
    "Spark's Java ran out of memory: set SPARK_DRIVER_MEMORY=4g or more, or process fewer days at once"
)
JAVA_EXITED = (
    "Spark's Java exited: it was killed or ran out of memory (set SPARK_DRIVER_MEMORY=4g or more); "
    "run the same command again"
)


@contextmanager
def translated_errors() -> Iterator[None]:
    """Raise known errors as a MinutehandError, and other errors unchanged."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise _missing(error) or error from error
    except MinutehandError:
        raise
    except Exception as error:
        if _java_exited():
            raise PipelineError(JAVA_EXITED) from error
        if not _is_from_spark(error):
            raise
        raise translate(str(error)) from error


def translate(text: str) -> MinutehandError:
    """Translate the text of a Spark error. An error of minutehand that a task raised keeps its class."""
    if "java.lang.OutOfMemoryError" in text:
        return PipelineError(OUT_OF_MEMORY)
    if TRACE in text:
        return _from_python(text.split(TRACE, 1)[1])
    line = next((line.strip(": ") for line in text.splitlines() if _has_content(line)), "no reason given")
    return PipelineError(f"Spark: {re.sub(r' SQLSTATE: .*', '', line)}")


def _from_python(trace: str) -> MinutehandError:
    found = LAST_LINE.findall(JAVA_TRACE.split(trace, maxsplit=1)[0])
    if not found:
        return PipelineError("Spark: a task failed (--debug shows where)")
    kind, message = found[-1]
    module, _, name = kind.rpartition(".")
    ours = {library_errors.__name__: library_errors, pipeline_errors.__name__: pipeline_errors}.get(module)
    known = getattr(ours, name, None)
    if known is not None and known.__init__ is Exception.__init__:
        error: MinutehandError = known(message)
        return error
    return PipelineError(message if ours else f"Spark: a task failed with {name}: {message}")


def _has_content(line: str) -> bool:
    content = line.strip(": ")
    return bool(content) and not content.startswith("An error occurred while calling")


def _missing(error: ModuleNotFoundError) -> MissingError | None:
    package = (error.name or "").partition(".")[0]
    if package not in DISTRIBUTIONS:
        return None
    return MissingError(f"{package} is not installed; run: pip install '{DISTRIBUTIONS[package]}'")


def _is_from_spark(error: Exception) -> bool:
    return type(error).__module__.partition(".")[0] in ("pyspark", "py4j")


def _java_exited() -> bool:
    """Whether this process started a Java for Spark that has exited."""
    if "pyspark" not in sys.modules:
        return False
    from pyspark import SparkContext

    java = getattr(SparkContext._gateway, "proc", None)
    return java is not None and java.poll() is not None
