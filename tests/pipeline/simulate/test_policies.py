"""Policies, grids, retry strategies, synthetic processes and the command line. These tests run without Spark."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from minutehand_pipeline.cli.simulate import simulate
from minutehand_pipeline.errors import InputError
from minutehand_pipeline.simulate.grid import (
    expand_grid,
    parse_retry,
    policy_from_dict,
    policy_to_dict,
    read_policies,
)
from minutehand_pipeline.simulate.policy import Limit, Policy
from minutehand_pipeline.simulate.result import PolicyResult, rank
from minutehand_pipeline.simulate.synthetic import parse_synthetic
from tests.pipeline.running import run


@pytest.mark.parametrize(
    "facts",
    [
        {"capacity": 0},
        {"capacity": True},
        {"capacity": 1e9},
        {"chunk": -1},
        {"interval": 0},
        {"interval": float("nan")},
        {"mode": "never"},
        {"architecture": "z80"},
        {"recovers": 1.5},
        {"max_attempts": 0},
        {"timeout": -1.0},
        {"latency": -0.1},
        {"worker_timeout": 1.0},
        {"limits": [{"limit": 1}]},
        {"limits": [{"limit": -1, "queue": "a"}]},
        {"limits": [{"queue": "a"}]},
        {"limits": 7},
        {"retry": "often"},
        {"retry": {"min": "x"}},
        {"retry": {"min": 9, "max": 1}},
        {"retry": {"factor": float("nan")}},
        {"retry": {"factor": 1001}},
        {"retry": {"max": 31_536_001}},
        {"retry": {"jitter": "no"}},
        {"retry": {"minimum": 5}},
        {"retry": []},
        {"retry": "fixed:1:2:3:4"},
        {"name": 5},
        {"architecture": []},
        {"limits": [{"limit": 1, "queue": 5}]},
        {"color": "red"},
        {"capacity": None},
        {"cold": "1"},
    ],
    ids=str,
)
def test_invalid_policy_is_rejected_with_one_line(facts: dict[str, Any]) -> None:
    with pytest.raises(InputError) as refused:
        policy_from_dict(facts)

    assert "\n" not in str(refused.value)


def test_policy_survives_a_round_trip_through_json(tmp_path: Path) -> None:
    policy = Policy(
        name="mine", retry=parse_retry("fixed:30"), limits=(Limit(queue="mail", limit=2),), max_attempts=3
    )
    path = tmp_path / "policies.json"
    path.write_text(json.dumps([policy_to_dict(policy), {"chunk": 5}]))

    first, second = read_policies(path)
    assert first == policy
    assert (second.name, second.chunk) == ("policies 2", 5)


@pytest.mark.parametrize("text", ["", "[]", "7", "[7]", '{"a', pytest.param("[" * 100_000, id="nested")])
def test_policy_file_without_policy_is_rejected(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.json").write_text(text)

    with pytest.raises(InputError, match=r"p\.json"):
        read_policies(tmp_path / "p.json")
    with pytest.raises(InputError, match="cannot read"):
        read_policies(tmp_path / "none.json")


def test_grid_has_and_names_every_combination() -> None:
    policies = expand_grid(
        [Policy(name="now")], ["chunk=1,5", "architecture=arm64,x86_64", "timeout=none,2.5"]
    )

    assert len(policies) == 8
    assert policies[1].name == "now chunk=1 architecture=arm64 timeout=2.5"
    assert (policies[-1].chunk, policies[-1].architecture, policies[-1].timeout) == (5, "x86_64", 2.5)


@pytest.mark.parametrize(
    "axis", ["chunk", "chunk=", "chunk=a", "chunk=0", "mode=never", "color=1", "limits=1", "name=a"]
)
def test_invalid_grid_axis_is_rejected(axis: str) -> None:
    with pytest.raises(InputError):
        expand_grid([Policy()], [axis])


def test_grid_with_two_axes_of_one_name_is_rejected() -> None:
    with pytest.raises(InputError, match="expected one --grid for chunk, got 2"):
        expand_grid([Policy()], ["chunk=1,5", "chunk=10"])


def test_grid_names_each_retry_strategy_differently() -> None:
    policies = expand_grid([Policy()], ["retry=fixed:30,fixed:60"])

    assert [policy.name for policy in policies] == ["retry=fixed:30:3600:3", "retry=fixed:60:3600:3"]


def test_grid_that_is_too_large_is_rejected() -> None:
    values = ",".join(map(str, range(1, 102)))

    with pytest.raises(InputError, match="10000"):
        expand_grid([Policy()], [f"chunk={values}", f"capacity={values}"])


@pytest.mark.parametrize(
    "text",
    [
        "rate=-1",
        "rate=1/2",
        "rate=x",
        "color=1",
        "days=0",
        "burst=25:00+1",
        "burst=1",
        "fails=1",
        "start=soon",
        "rate=1e9,days=3660",
        "memory_mb=1",
        "run=nan",
    ],
)
def test_invalid_synthetic_process_is_rejected(text: str) -> None:
    with pytest.raises(InputError):
        parse_synthetic(text)


def result(name: str, late: float, dollars: float, dead: int) -> PolicyResult:
    return PolicyResult(
        policy=name,
        jobs=1,
        done=1,
        dead=dead,
        cancelled=0,
        attempts=1,
        invocations=1,
        gb_seconds=1.0,
        late={"p99": late},
        late_mean=None,
        late_max=None,
        dollars=dollars,
    )


def test_rank_marks_results_that_no_other_beats() -> None:
    results = [
        result("late", 60, 1, 0),
        result("dear", 1, 9, 0),
        result("worse", 60, 2, 0),
        result("deadly", 1, 1, 5),
    ]

    assert [(each.policy, each.pareto) for each in rank(results)] == [
        ("deadly", True),
        ("dear", True),
        ("late", True),
        ("worse", False),
    ]
    assert [each.policy for each in rank(results, "dead")][-1] == "deadly"


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["lake", "--synthetic", "rate=1"],
        ["--synthetic", "rate=x"],
        ["--synthetic", "rate=1", "--grid", "mode=never"],
        ["lake", "--capacity", "0"],
        ["lake", "--grid", "chunk=zero"],
        ["lake", "--policy", "none.json"],
        ["lake", "--retry", "never"],
        ["lake", "--since", "2026-02-02", "--until", "2026-02-01"],
        ["lake", "--since", "0001-01-05"],
        ["lake", "--until", "0001-01-05"],
    ],
    ids=str,
)
def test_simulate_command_rejects_invalid_options(words: list[str]) -> None:
    with pytest.raises(InputError):
        CliRunner().invoke(simulate, words, catch_exceptions=False)


@pytest.mark.parametrize("command", ["simulate", "report"])
def test_missing_lake_is_rejected_before_spark_starts(tmp_path: Path, command: str) -> None:
    out = tmp_path / "out"
    # Spark cannot start: there is no Java in this folder.
    done = run(
        "-m",
        "minutehand",
        "pipeline",
        command,
        f"{tmp_path}/nolake",
        "--out",
        str(out),
        JAVA_HOME=str(tmp_path),
    )

    assert done.returncode == 1
    assert f"there is no lake {tmp_path}/nolake" in done.stderr
    assert not out.exists()
