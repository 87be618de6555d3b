"""What people say: policies, grids, strategies, arrival processes and the command line; nonsense gets one sentence."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from minutehand_pipeline.cli.report import report
from minutehand_pipeline.cli.simulate import simulate
from minutehand_pipeline.errors import InputError, LakeError
from minutehand_pipeline.simulate.grid import from_json, grid, read_policies, read_retry, to_json
from minutehand_pipeline.simulate.policy import Limit, Policy
from minutehand_pipeline.simulate.result import Played, ranked
from minutehand_pipeline.simulate.synthetic import read_synthetic


@pytest.mark.parametrize(
    "facts",
    [
        {"capacity": 0}, {"capacity": True}, {"capacity": 1e9}, {"chunk": -1}, {"interval": 0},
        {"interval": float("nan")},
        {"mode": "often"}, {"architecture": "z80"}, {"recovers": 1.5}, {"max_attempts": 0}, {"timeout": -1.0},
        {"latency": -0.1}, {"worker_timeout": 1.0}, {"limits": [{"most": 1}]}, {"limits": [{"most": -1, "queue": "a"}]},
        {"limits": [{"queue": "a"}]}, {"limits": 7}, {"retry": "often"}, {"retry": {"min": "x"}},
        {"retry": {"min": 9, "max": 1}},
        {"colour": "red"}, {"capacity": None}, {"cold": "1"},
    ],
    ids=str,
)  # fmt: skip
def test_a_policy_that_makes_no_sense_is_refused_in_one_sentence(facts: dict[str, Any]) -> None:
    with pytest.raises(InputError) as refused:
        from_json(facts)

    assert "\n" not in str(refused.value)


def test_a_policy_is_read_as_it_was_written(tmp_path: Path) -> None:
    policy = Policy(
        name="mine", retry=read_retry("fixed:30"), limits=(Limit(queue="mail", most=2),), max_attempts=3
    )
    path = tmp_path / "policies.json"
    path.write_text(json.dumps([to_json(policy), {"chunk": 5}]))

    first, second = read_policies(path)
    assert first == policy
    assert (second.name, second.chunk) == ("policies 2", 5)


@pytest.mark.parametrize("text", ["", "[]", "7", "[7]", '{"a'], ids=str)
def test_a_file_that_holds_no_policy_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.json").write_text(text)

    with pytest.raises(InputError, match=r"p\.json"):
        read_policies(tmp_path / "p.json")
    with pytest.raises(InputError, match="cannot be read"):
        read_policies(tmp_path / "none.json")


def test_a_grid_is_every_combination_and_names_each() -> None:
    policies = grid([Policy(name="now")], ["chunk=1,5", "mode=minute,sleep", "timeout=none,2.5"])

    assert len(policies) == 8
    assert policies[1].name == "now chunk=1 mode=minute timeout=2.5"
    assert (policies[-1].chunk, policies[-1].mode, policies[-1].timeout) == (5, "sleep", 2.5)


@pytest.mark.parametrize(
    "axis", ["chunk", "chunk=", "chunk=a", "chunk=0", "mode=x", "colour=1", "limits=1", "name=a"]
)
def test_an_axis_that_makes_no_sense_is_refused(axis: str) -> None:
    with pytest.raises(InputError):
        grid([Policy()], [axis])


def test_a_grid_that_is_too_large_is_refused() -> None:
    values = ",".join(map(str, range(1, 102)))

    with pytest.raises(InputError, match="10000"):
        grid([Policy()], [f"chunk={values}", f"capacity={values}"])


@pytest.mark.parametrize(
    "text",
    ["rate=-1", "rate=1/2", "rate=x", "colour=1", "days=0", "burst=25:00+1", "burst=1", "fails=1", "start=soon",
     "rate=1e9,days=3660", "memory_mb=1", "run=nan"],
)  # fmt: skip
def test_an_arrival_process_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_synthetic(text)


def played(name: str, late: float, dollars: float, dead: int) -> Played:
    return Played(
        policy=name, jobs=1, done=1, dead=dead, cancelled=0, attempts=1, invocations=1, gb_seconds=1.0,
        late={"p99": late}, late_mean=None, late_max=None, dollars=dollars,
    )  # fmt: skip


def test_the_best_comes_first_and_those_that_no_other_one_beats_are_marked() -> None:
    told = [
        played("late", 60, 1, 0),
        played("dear", 1, 9, 0),
        played("worse", 60, 2, 0),
        played("deadly", 1, 1, 5),
    ]

    assert [(each.policy, each.pareto) for each in ranked(told)] == [
        ("deadly", True), ("dear", True), ("late", True), ("worse", False),
    ]  # fmt: skip
    assert [each.policy for each in ranked(told, "dead")][-1] == "deadly"


@pytest.mark.parametrize(
    "words",
    [[], ["lake", "--synthetic", "rate=1"], ["--synthetic", "rate=x"], ["--synthetic", "rate=1", "--mode", "often"],
     ["lake", "--capacity", "0"], ["lake", "--grid", "chunk=zero"], ["lake", "--policy", "none.json"],
     ["lake", "--retry", "never"], ["lake", "--since", "2026-02-02", "--until", "2026-02-01"],
     ["lake", "--since", "0001-01-05"], ["lake", "--until", "0001-01-05"]],
    ids=str,
)  # fmt: skip
def test_the_command_line_refuses_nonsense_before_anything_starts(words: list[str]) -> None:
    with pytest.raises(InputError):
        CliRunner().invoke(simulate, words, catch_exceptions=False)


def test_a_lake_that_is_not_there_is_told_as_the_report_tells_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("minutehand_pipeline.session.build_session", pytest.fail)  # before Spark is started
    said = []
    for verb in (simulate, report):
        with pytest.raises(LakeError) as refused:
            CliRunner().invoke(
                verb, [str(tmp_path / "nolake"), "--out", str(tmp_path / "out")], catch_exceptions=False
            )
        said.append(str(refused.value))

    assert said[0] == said[1] and f"there is no folder {tmp_path / 'nolake'}" in said[0]
    assert not (tmp_path / "out").exists()
