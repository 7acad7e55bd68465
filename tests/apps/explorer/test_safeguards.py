"""What the page's server sends with every answer, and what it makes of hostile requests."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from typing import Any
from urllib.parse import urlsplit

import pytest

UPDATE = "/_dash-update-component"


def ask(address: str, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, dict[str, str], bytes]:
    """One request, as it is on the wire."""
    to = urlsplit(address)
    connection = http.client.HTTPConnection(str(to.hostname), to.port, timeout=60)
    connection.request(method, path, body, {"Content-Type": "application/json", **headers})
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, {name.lower(): value for name, value in response.getheaders()}, content


@pytest.mark.parametrize("path", ["/", "/_dash-layout", "/nowhere", "/assets/explorer.css"])
def test_every_answer_keeps_strange_content_out(address: str, path: str) -> None:
    _, headers, _ = ask(address, "GET", path)
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"
    policy = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in policy["script-src"]
    # Neither the server nor its version is named.
    assert "server" not in headers
    assert "x-powered-by" not in headers


def bodies(app: Any) -> list[bytes]:
    """Requests that the page does not make: no JSON, JSON of another shape, and values of the wrong kind."""
    strange: list[Any] = [None, 1, "x", [], {}, [[]], {"output": 1}, {"output": "x..."}, {"output": "x.y", "inputs": 5}]
    for own in app.server.test_client().get("/_dash-dependencies").get_json():
        if own.get("clientside_function"):
            continue
        parts = {
            key: [{"id": part["id"], "property": part["property"], "value": {"no": [1e308, None]}} for part in own[key]]
            for key in ("inputs", "state")
        }
        whole = {"output": own["output"], "changedPropIds": ["x.y"], **parts}
        strange += [whole, {**whole, "outputs": {"id": "x", "property": "y"}}, {**whole, "inputs": []}]
        strange += [{"output": own["output"]}, {**whole, "changedPropIds": 7}]
    return [b"", b"{", b"\xff\xfe", b"[" * 100_000, *(json.dumps(own).encode() for own in strange)]


def test_malformed_bodies_get_400_and_no_traceback(app: Any, address: str, capfd: pytest.CaptureFixture[str]) -> None:
    for body in bodies(app):
        status, _, content = ask(address, "POST", UPDATE, body)
        assert status in (200, 204, 400, 413, 415), (body[:200], status)
        assert b"Traceback" not in content
    out, err = capfd.readouterr()
    assert "Traceback" not in out + err


def test_foreign_hosts_and_methods_are_refused(address: str) -> None:
    assert ask(address, "GET", "/", Host="evil.example")[0] == 400
    assert ask(address, "POST", "/", b"{}")[0] == 405
    # A form of another site cannot send JSON without asking first.
    status, headers, _ = ask(address, "POST", UPDATE, b"{}", **{"Content-Type": "text/plain"})
    assert status in (400, 415)
    assert "access-control-allow-origin" not in headers
    assert ask(address, "GET", "/assets/../server.py")[0] == 404
    assert ask(address, "GET", "/assets/%2e%2e/server.py")[0] == 404


def test_a_request_that_names_no_host_is_not_told_the_server(address: str) -> None:
    to = urlsplit(address)
    with socket.create_connection((str(to.hostname), to.port), timeout=60) as sent:
        sent.sendall(b"GET / HTTP/1.0\r\n\r\n")
        answer = b"".join(iter(lambda: sent.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.0 400")
    assert b"waitress" not in answer.lower()


def test_fifty_clients_are_answered(address: str) -> None:
    found: list[int] = []
    clients = [
        threading.Thread(target=lambda: found.append(ask(address, "GET", "/_dash-layout")[0])) for _ in range(50)
    ]
    for client in clients:
        client.start()
    for client in clients:
        client.join(60)
    assert found == [200] * 50


def test_connections_that_say_nothing_do_not_keep_others_out(address: str) -> None:
    to = urlsplit(address)
    silent = [socket.create_connection((str(to.hostname), to.port), timeout=60) for _ in range(150)]
    try:
        assert ask(address, "GET", "/_dash-layout")[0] == 200
    finally:
        for own in silent:
            own.close()
