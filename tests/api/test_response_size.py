"""No response exceeds what Lambda returns: lists end earlier, and their cursors lead to every item once."""

import json

import pytest

from minutehand import enqueue

LAMBDA_BYTES = 6_291_556
FILL = (
    "insert into minutehand.jobs_live (kind, error)"
    " select 'echo', jsonb_build_object('type', 'E', 'message', repeat(%s, 4000)) from generate_series(1, 700)"
)
ATTEMPTS = (
    "insert into minutehand.attempts (job, attempt, started, ended, queue, kind, outcome, result)"
    " select %s, n, now(), now() + n * interval '1 second', 'default', 'echo', 'retrying',"
    " to_json(repeat('\"', 100000))"
    " from generate_series(1, 40) n"
)
SCHEDULES = (
    "insert into minutehand.schedules (tenant, name, every, job)"
    " select t, 'n' || n, 'P1D', json_build_object('kind', 'echo', 'key', repeat('\"', 1000))"
    " from generate_series(1, 900) n, unnest('{\"\", acme}'::text[]) t"
)


def returned(answer):
    """Return a response's body, which must fit into the function's JSON."""
    assert answer.status_code == 200, answer.text
    assert len(json.dumps(answer.text)) < LAMBDA_BYTES
    return answer.json()


@pytest.fixture
def execute(database):
    import psycopg

    def run(text, *parameters):
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute(text, parameters)

    return run


@pytest.mark.parametrize(("first", "cursor"), [("first", "next"), ("last", "previous")])
def test_pages_of_large_jobs_have_every_job_once(api, execute, first, cursor):
    execute(FILL, "\u00e4")
    seen, path = [], f"/jobs?limit=1000&page={first}"
    while path:
        page = returned(api.get(path))
        seen += [job["id"] for job in page["jobs"]]
        path = page[cursor]

    assert (len(seen), len(set(seen))) == (700, 700)


def test_attempts_with_large_results_are_paged(api, jobs, execute):
    job_id = enqueue("echo", connection=jobs).id
    execute(ATTEMPTS, job_id)
    seen, after = [], {}
    while True:
        page = returned(api.get(f"/jobs/{job_id}/attempts", params={"include": "payload"} | after))
        seen += [attempt["attempt"] for attempt in page["attempts"]]
        if page["after"] is None:
            break
        after = {"after": page["after"]}

    assert seen == list(range(1, 41))


def test_many_schedules_are_paged(api, execute):
    execute(SCHEDULES)
    seen, after = [], {}
    while True:
        page = returned(api.get("/schedules", params={"limit": 1000} | after))
        seen += [(each["name"], each["tenant"]) for each in page["schedules"]]
        if page["after"] is None:
            break
        after = {"after": page["after"]}

    assert (len(seen), len(set(seen))) == (1800, 1800)


FILLS = {
    "schedules": (
        "insert into minutehand.schedules (tenant, name, every, job)"
        " select t, 'a/' || n, 'P1D', '{\"kind\": \"echo\"}'"
        " from generate_series(1, 4) n, unnest('{\"\", acme}'::text[]) t"
    ),
    "queues": (
        "insert into minutehand.defaults (kind, queue) select 'k' || n, 'q' || n from generate_series(1, 8) n"
    ),
    "controls": (
        "insert into minutehand.controls (tenant, queue, kind, key, paused) select t, q, 'echo', 'a/' || n, true"
        " from generate_series(1, 2) n, unnest('{\"\", acme}'::text[]) t, unnest('{\"\", mail}'::text[]) q"
    ),
}


@pytest.mark.parametrize("name", FILLS)
def test_list_has_pages_of_the_limit(api, execute, name):
    execute(FILLS[name])
    whole = api.get(f"/{name}", params={"limit": 100}).json()
    seen, sizes, after = [], [], {}
    while True:
        page = api.get(f"/{name}", params={"limit": 3} | after).json()
        sizes.append(len(page[name]))
        seen += page[name]
        if page["after"] is None:
            break
        after = {"after": page["after"]}

    assert (sizes, seen, whole["after"]) == ([3, 3, 2], whole[name], None)


def test_job_larger_than_a_response_is_a_problem(api, jobs, execute, problem):
    execute("update minutehand.settings set max_payload = 10000000")
    job_id = enqueue("echo", "\u00e4" * 1_200_000, connection=jobs).id

    assert "omit include=payload" in problem(api.get(f"/jobs/{job_id}?include=payload"), 413)["detail"]
    assert api.get(f"/jobs/{job_id}").status_code == 200


def test_batch_with_many_faults_fits_into_a_response(api):
    unknown = {'"' * 95 + str(number): 1 for number in range(20)}
    jobs = [{"kind": "echo"}, *({"kind": "echo", **unknown} for _ in range(999))]

    answer = api.post("/jobs/batch", json={"jobs": jobs})

    assert answer.status_code == 207
    assert len(json.dumps(answer.text)) < LAMBDA_BYTES
    assert (answer.json()["created"], answer.json()["rejected"]) == (1, 999)
    assert answer.json()["items"][1]["problem"]["detail"]
