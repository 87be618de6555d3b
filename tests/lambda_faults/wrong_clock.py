"""A machine whose clock is an hour behind: a library that is loaded before libc shifts what programs read."""

import subprocess
from pathlib import Path
from shutil import which

from tests import servers

SECONDS = 3600
SHIFT = f"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *at) {{
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *)) dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(clock, at);
    if (!failed && clock == CLOCK_REALTIME) at->tv_sec -= {SECONDS};
    return failed;
}}
"""


def hour_behind(folder: Path) -> dict[str, str]:
    """Return the environment in which programs have the wrong clock."""
    if which("cc") is None:
        servers.missing("cc", "no C compiler is installed")
    library = folder / "hour_behind.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-x", "c", "-o", library, "-", "-ldl"],
        input=SHIFT,
        text=True,
        check=True,
    )
    return {"LD_PRELOAD": str(library)}
