"""Hostile requests to the explorer's server: 400 or an answer, never a traceback."""

from __future__ import annotations

import base64
import copy
import http.client
import json
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from waitress.wasyncore import close_all

import fairlimits as fl
from attack.area import Area, Case
from attack.people import data
from fairlimits.apps.explorer import Subject, make_app
from fairlimits.apps.explorer.server import HOST, make_server

_SECONDS = 60

_UPDATE = "/_dash-update-component"
_STRANGE: tuple[Any, ...] = (None, True, -1, 1e308, "", "\u0000", "<b>", [], {}, [[]], {"number": 1}, "data:,x", 10**30)


@contextmanager
def served(rows: int = 300, cells: int = 12) -> Iterator[tuple[int, Any, Subject]]:
    """Serve a page on a free port of this machine; gives the port, the application and what it is about."""
    people = data(np.random.default_rng(0), rows)
    dist = fl.discretize(people, cells, partition="features", generator=None)
    subject = Subject("people", dist, people)
    app = make_app(subject)
    logging.getLogger("waitress").setLevel(logging.CRITICAL)
    with socket.create_server((HOST, 0)) as listening:
        server = make_server(app, listening)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        try:
            yield listening.getsockname()[1], app, subject
        finally:
            # In the server's own thread, which otherwise may be waiting for what is closed.
            server.trigger.pull_trigger(lambda: close_all(server._map))
            thread.join(_SECONDS)


def send(port: int, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
    """Send one request and return status and content."""
    connection = http.client.HTTPConnection(HOST, port, timeout=60)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def requests_of(app: Any) -> list[dict[str, Any]]:
    """Bodies that have the shape of those that the page sends, one for each callback on the server."""
    found = []
    for own in app.server.test_client().get("/_dash-dependencies").get_json():
        if own.get("clientside_function"):
            continue
        parts = {key: [{**part, "value": None} for part in own[key]] for key in ("inputs", "state")}
        changed = [f"{part['id']}.{part['property']}" for part in own["inputs"][:1]]
        found.append({"output": own["output"], "changedPropIds": changed, **parts})
    return found


def upload(rng: np.random.Generator, rows: int) -> str:
    """Predictions as the browser sends a file."""
    text = "\n".join(str(own) for own in rng.integers(0, 2, rows))
    return "data:text/csv;base64," + base64.b64encode(text.encode()).decode()


@contextmanager
def _hostile(_: Path) -> Iterator[Case]:
    with served() as (port, app, _subject):
        shapes = requests_of(app)

        def case(rng: np.random.Generator) -> str | None:
            body = copy.deepcopy(shapes[int(rng.integers(len(shapes)))])
            for _ in range(int(rng.integers(0, 4))):
                _spoil(rng, body)
            content = json.dumps(body).encode()
            if rng.random() < 0.2:
                content = content[: int(rng.integers(len(content)))] + rng.bytes(int(rng.integers(20)))
            headers = {"Content-Type": str(rng.choice(["application/json", "text/plain", ""]))}
            if rng.random() < 0.1:
                headers["Host"] = "evil.example"
            status, said = send(port, "POST", _UPDATE, content, headers)
            if status not in (200, 204, 400, 413, 415) or b"Traceback" in said:
                return f"status {status} for {content[:200]!r}"
            if headers.get("Host") and status != 400:
                return f"a foreign host got {status}"
            return None

        yield case


def _spoil(rng: np.random.Generator, body: dict[str, Any]) -> None:
    value = _STRANGE[int(rng.integers(len(_STRANGE)))]
    part = str(rng.choice(["inputs", "state"]))
    if rng.random() < 0.7 and isinstance(body.get(part), list) and body[part]:
        own = body[part][int(rng.integers(len(body[part])))]
        if isinstance(own, dict):
            own[str(rng.choice(["value", "value", "id", "property"]))] = value
    elif rng.random() < 0.5:
        body[str(rng.choice(["output", "inputs", "state", "changedPropIds", "outputs"]))] = value
    else:
        body.pop(str(rng.choice(list(body))) if body else "", None)


AREAS = (Area("hostile requests", "an answer or 400, no traceback; foreign hosts refused", 3_000, _hostile),)
