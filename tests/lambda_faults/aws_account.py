"""The control plane of the stack on the emulator: what `minutehand doctor --stack` reads on AWS.

moto has the functions, the schedule and the on-failure queue. The account's limits, which moto lacks, are answered
here, and the check of the dispatcher runs in the emulator.
"""

import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest
from moto import mock_aws
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

from tests.doctor.account import Account, deploy
from tests.lambda_faults.stage import Stage

KEYS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "eu-central-1",
}
LIMITS = {"AccountLimit": {"UnreservedConcurrentExecutions": 1000}}
INVOKE = re.compile(r"/2015-03-31/functions/shop-dispatcher/invocations")


def control_plane(stage: Stage) -> Any:
    """Return the WSGI application of the account."""
    moto = DomainDispatcherApplication(create_backend_app)

    def answer(environ: Any, start: Any) -> Any:
        path = environ["PATH_INFO"]
        if path.endswith("/account-settings/") or path.endswith("/account-settings"):
            return Response(json.dumps(LIMITS), mimetype="application/json")(environ, start)
        if not INVOKE.fullmatch(path):
            return moto(environ, start)
        result = stage.lambda_.invoke("DispatcherFunction", json.loads(Request(environ).get_data()))
        error = {"X-Amz-Function-Error": result.error} if result.error else {}
        return Response(result.payload, headers=error)(environ, start)

    return answer


@contextmanager
def aws_account(stage: Stage) -> Iterator[tuple[Account, dict[str, str]]]:
    """Serve an account with the stack `shop`; yield it with the environment of commands that use it."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with pytest.MonkeyPatch.context() as patch, mock_aws():
        for name, value in KEYS.items():
            patch.setenv(name, value)
        deploy(account := Account())
        server = make_server("127.0.0.1", 0, control_plane(stage), threaded=True)
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield account, KEYS | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.port}"}
        finally:
            server.shutdown()
            thread.join()
