"""Seed: example jobs that deliver real webhooks in a local run."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

from minutehand.model.retry import Retry


def has_seed(root: Path) -> bool:
    """Whether there are example jobs under this root; only minutehand's own repository has them."""
    return (root / "events" / "seed" / "plan.json").exists()


def seed_jobs(root: Path, receiver_url: str) -> list[dict[str, Any]]:
    """Return the jobs of events/seed under this root, each as arguments of `enqueue`."""
    folder = root / "events" / "seed"
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    return [_job(folder, receiver_url, **planned) for planned in plan["jobs"]]


def _job(
    folder: Path,
    receiver_url: str,
    *,
    kind: str,
    payload: str,
    path: str,
    delay: float = 0,
    retry: dict[str, Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    body = json.loads((folder / payload).read_text(encoding="utf-8"))
    job = {"kind": kind, "payload": {"url": receiver_url + path, "body": body}, **options}
    if delay:
        job["delay"] = timedelta(seconds=delay)
    if retry:
        job["retry"] = Retry.from_json(retry)
    return job
