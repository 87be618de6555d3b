"""What goes wrong inside Spark, told as the one sentence at the root of it."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from minutehand import errors as library_errors
from minutehand.errors import MinutehandError
from minutehand_pipeline import errors as pipeline_errors
from minutehand_pipeline.errors import MissingError, PipelineError

# What the extras bring, by the name under which Python misses it.
EXTRAS = {
    "adbc_driver_manager": "pipeline",
    "adbc_driver_postgresql": "pipeline",
    "deltalake": "pipeline",
    "numpy": "pipeline",
    "pandas": "pipeline",
    "pgpq": "pipeline",
    "pyarrow": "pipeline",
    "py4j": "pipeline,spark",
    "pyspark": "pipeline,spark",
}

TRACE = "Traceback (most recent call last):"
JAVAS = re.compile(r"\n\s*at [\w.$]+|\n\s*JVM stacktrace:|\n\s*Driver stacktrace:")
LAST_LINE = re.compile(r"^([A-Za-z_][\w.]*)(?:: (.*))?$", re.MULTILINE)
MEMORY = "Spark's Java ran out of memory: give it more, such as SPARK_DRIVER_MEMORY=4g, or ask for fewer days at once"


@contextmanager
def in_a_sentence() -> Iterator[None]:
    """Raise what goes wrong within as a MinutehandError where its sentence is known; the rest goes on as it is."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise _missing(error) or error from error
    except MinutehandError:
        raise
    except Exception as error:
        if _spark_has_gone():
            raise PipelineError(
                "Spark's Java ended in the middle of it: killed, or out of memory (SPARK_DRIVER_MEMORY=4g "
                "gives it more); run the same command again"
            ) from error
        if not _is_spark_s(error):
            raise
        raise told(str(error)) from error


def told(text: str) -> MinutehandError:
    """Return what Spark said as an error of ours: of the same kind where a task of ours raised it."""
    if "java.lang.OutOfMemoryError" in text:
        return PipelineError(MEMORY)
    if TRACE in text:
        return _raised_in_python(text.split(TRACE, 1)[1])
    line = next(
        (line.strip(": ") for line in text.splitlines() if _says_something(line)), "it gave no reason"
    )
    return PipelineError(f"Spark: {re.sub(r' SQLSTATE: .*', '', line)}")


def _raised_in_python(trace: str) -> MinutehandError:
    found = LAST_LINE.findall(JAVAS.split(trace, maxsplit=1)[0])
    if not found:
        return PipelineError("Spark: a task failed (--debug shows where)")
    kind, sentence = found[-1]
    module, _, name = kind.rpartition(".")
    ours = {library_errors.__name__: library_errors, pipeline_errors.__name__: pipeline_errors}.get(module)
    known = getattr(ours, name, None)
    if known is not None and known.__init__ is Exception.__init__:
        error: MinutehandError = known(sentence)
        return error
    return PipelineError(sentence if ours else f"Spark: a task failed with {name}: {sentence}")


def _says_something(line: str) -> bool:
    said = line.strip(": ")
    return bool(said) and not said.startswith("An error occurred while calling")


def _missing(error: ModuleNotFoundError) -> MissingError | None:
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        return None
    return MissingError(f"{package} is an extra; run: pip install 'minutehand[{EXTRAS[package]}]'")


def _is_spark_s(error: Exception) -> bool:
    return type(error).__module__.partition(".")[0] in ("pyspark", "py4j")


def _spark_has_gone() -> bool:
    """Whether this process had started a Java for Spark, and it ended by itself."""
    if "pyspark" not in sys.modules:
        return False
    from pyspark import SparkContext

    java = getattr(SparkContext._gateway, "proc", None)
    return java is not None and java.poll() is not None
