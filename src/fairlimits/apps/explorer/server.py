"""The server of the page: on this machine only, until it is told to stop."""

from __future__ import annotations

import logging
import select
import socket
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from fairlimits.apps.explorer.subject import Subject
from fairlimits.apps.explorer.upload import MOST_BYTES
from fairlimits.errors import InputError, MissingExtraError

HOST = "127.0.0.1"

# A file travels as base64, four characters for three bytes, in a little JSON.
_MOST_REQUEST = MOST_BYTES * 4 // 3 + 100_000

_THREADS = 8

# After so long without a byte, a connection is closed.
_SILENT_SECONDS = 60

# So many that those who open connections and say nothing do not keep the page from others.
_CONNECTIONS = 1_000


def require_dash() -> Any:
    """Return the package that the page is built with.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    try:
        import_module("waitress")
        return import_module("dash")
    except ImportError as error:
        raise MissingExtraError(
            f"The explorer needs the package {error.name or 'dash'}; install it with pip install 'fairlimits[app]'."
        ) from error


def make_app(subject: Subject) -> Any:
    """Make the page's Dash application, without starting a server.

    Raises
    ------
    MissingExtraError
        If Dash is not installed.
    """
    dash = require_dash()
    page, callbacks, safeguards = (
        import_module(f"fairlimits.apps.explorer.{name}") for name in ("page", "callbacks", "safeguards")
    )
    app = dash.Dash(
        __name__,
        title=page.TITLE,
        update_title=None,
        assets_folder=str(Path(__file__).parent / "assets"),
    )
    # Screen readers have to know which language to speak.
    app.index_string = app.index_string.replace("<html>", '<html lang="en">')
    app.layout = page.layout(subject)
    callbacks.register(app, subject)
    app.server.config["MAX_CONTENT_LENGTH"] = _MOST_REQUEST
    # Another site must not reach the page under a name of its own that it lets point here (DNS rebinding).
    app.server.config["TRUSTED_HOSTS"] = [HOST, "localhost"]
    safeguards.protect(app)
    return app


def check_port(port: int) -> int:
    """Return the port if there can be one of that number."""
    if not 0 <= port <= 65_535:
        raise InputError(f"The port is {port}; give a number from 0 to 65535, 0 for a free one.")
    return port


def serve(app: Any, port: int, started: Callable[[str], None]) -> None:
    """Serve the page until ctrl-c.

    Parameters
    ----------
    app : Dash
        What `make_app` made.
    port : int
        Where to listen; 0 takes a free port.
    started : callable
        Called with the page's address once it can be opened.
    """
    # That requests wait for each other, or end early, is nothing to tell a person.
    logging.getLogger("waitress").setLevel(logging.CRITICAL)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, check_port(port)))
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(f"Port {port} cannot be used ({reason}); choose another, or leave --port out.") from None
        listening.listen(128)
        server = make_server(app, listening)
        try:
            started(f"http://{HOST}:{listening.getsockname()[1]}/")
            server.run()
        except KeyboardInterrupt:
            pass
        finally:
            server.close()


def make_server(app: Any, listening: socket.socket) -> Any:
    """Make the server of the page on a socket that listens; it names neither itself nor its version."""
    return import_module("waitress.server").create_server(
        app.server,
        sockets=[listening],
        ident=None,
        threads=_THREADS,
        max_request_body_size=_MOST_REQUEST,
        channel_timeout=_SILENT_SECONDS,
        connection_limit=_CONNECTIONS,
        asyncore_use_poll=hasattr(select, "poll"),
    )
