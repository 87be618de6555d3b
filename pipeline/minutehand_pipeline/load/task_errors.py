"""The errors of a load's tasks."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from minutehand.errors import MinutehandError
from minutehand_pipeline.errors import LoadError

# The last line of a Python traceback, inside the text of a Spark error.
PYTHON_ERROR = re.compile(r"(?:minutehand[\w.]*\.)?\b([A-Z]\w+Error): (.+)")
SPARK_ERRORS = ("PySparkRuntimeError", "Py4JJavaError", "Py4JError")


@contextmanager
def translated_errors() -> Iterator[None]:
    """Translate a Spark error into the message that the failed task raised, if there is one."""
    try:
        yield
    except MinutehandError:
        raise
    # PySparkException or, without Spark Connect, the error of py4j.
    except Exception as error:
        found = [message for name, message in PYTHON_ERROR.findall(str(error)) if name not in SPARK_ERRORS]
        if not found:
            raise
        raise LoadError(found[-1].strip()) from error
