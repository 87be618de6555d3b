"""The Python that a published figure names."""

import platform
import sys
import sysconfig

import pytest

from bench.machine import python_build

RUNNING = f"Python {platform.python_version()}"


@pytest.mark.parametrize(
    ("options", "build"),
    [
        ("'--enable-shared' '--enable-optimizations'", ", built with optimizations"),
        ("'--enable-shared'", ", built without optimizations"),
        (None, " of an unknown build"),
    ],
)
def test_python_build_tells_whether_it_was_optimized(
    options: str | None, build: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "base_prefix", "/opt/python")
    monkeypatch.setattr(sysconfig, "get_config_var", lambda _: options)
    assert python_build() == RUNNING + build


def test_python_build_names_the_distribution_it_is_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"PRETTY_NAME": "Linux 1"})
    assert python_build() == f"{RUNNING} of Linux 1"


def test_python_build_names_the_system_without_a_release_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> dict[str, str]:
        raise FileNotFoundError

    monkeypatch.setattr(sys, "base_prefix", "/usr")
    monkeypatch.setattr(platform, "freedesktop_os_release", fail)
    assert python_build() == f"{RUNNING} of {platform.system()}"
