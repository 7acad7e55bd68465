"""What the page's server sends with every answer, and how it answers requests that the page does not make."""

from __future__ import annotations

import logging
from typing import Any

from dash.exceptions import DashException
from flask import Response
from werkzeug.exceptions import BadRequest, HTTPException

_LOG = logging.getLogger(__name__)

# What the page's functions raise on a body of the wrong shape, or with values of the wrong kind.
_MALFORMED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, AssertionError, RecursionError)

_HEADERS = {
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def protect(app: Any) -> None:
    """Send headers that keep strange content out, and answer malformed requests with 400, without a traceback.

    Parameters
    ----------
    app : Dash
        The page's application, with all its callbacks.
    """
    policy = _content_policy(app.csp_hashes())
    server = app.server

    @server.after_request  # type: ignore[untyped-decorator]
    def add_headers(response: Response) -> Response:
        response.headers.update({**_HEADERS, "Content-Security-Policy": policy})
        return response

    @server.errorhandler(Exception)  # type: ignore[untyped-decorator]
    def answer(error: Exception) -> Any:
        # What is said of a host that is not trusted names it: where none was given, by a name of the server's own.
        if isinstance(error, HTTPException) and not isinstance(error, BadRequest):
            return error
        malformed = isinstance(error, (*_MALFORMED, DashException, BadRequest))
        if malformed:
            _LOG.debug("A malformed request: %s", error)
            return Response("This is not a request that the page makes.\n", 400, mimetype="text/plain")
        _LOG.error("The page could not answer a request (%s: %s).", type(error).__name__, error)
        return Response("The page could not answer this request.\n", 500, mimetype="text/plain")


def _content_policy(scripts: list[str]) -> str:
    """Content only from the page's own server; the scripts that Dash writes into the page by their hashes."""
    rules = {
        "default-src": ["'self'"],
        "script-src": ["'self'", *scripts],
        # Plotly and Dash set styles of elements.
        "style-src": ["'self'", "'unsafe-inline'"],
        "img-src": ["'self'", "data:", "blob:"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
    return "; ".join(f"{name} {' '.join(sources)}" for name, sources in rules.items())
