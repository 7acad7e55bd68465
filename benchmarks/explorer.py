"""How long the explorer's server takes to answer a move of a slider, at N = 256 on Adult.

Every move is a request to the page's own server function, JSON in and JSON out, as the browser sends it; only the
network and the browser are left out.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import numpy as np

import fairlimits as fl
from benchmarks.cases import adult, table
from fairlimits.apps.explorer import Subject, make_app

CASES: dict[str, tuple[tuple[str, ...], bool]] = {
    "DP": (("DP",), False),
    "DP + EOd": (("DP", "EOd"), False),
    "all group notions": (("DP", "EA", "EOp", "PE", "EOd"), False),
    "DP + EOd, decorrelated": (("DP", "EOd"), True),
    "IF": (("IF",), False),
    "DP + EA + IF": (("DP", "EA", "IF"), False),
    "all notions": (fl.notions.ALL_NOTIONS, False),
    "DP + EA + IF, decorrelated": (("DP", "EA", "IF"), True),
}
"""Notions that are switched on, and whether the features must be independent of the group."""

BAR = {False: 50.0, True: 150.0}
"""Milliseconds that a move may take, without and with individual fairness."""

# Moves of one slider before another is taken.
_DRAG = 10


class Tab:
    """A page in a browser, without the browser: its controls and stores, and how it calls the server.

    Parameters
    ----------
    app : Dash
        The page's application.
    subject : Subject
        What it is about.
    """

    def __init__(self, app: Any, subject: Subject) -> None:
        self._notions = subject.notions
        self._client = app.server.test_client()
        self._callbacks = {own["output"]: own for own in self._client.get("/_dash-dependencies").get_json()}
        self.props: dict[str, Any] = {"points.data": [], "aware.value": "hidden", "decorrelated.value": []}
        for name in subject.notions:
            self.props |= {f"use-{name}.value": [], f"tolerance-{name}.value": 0.05}

    def ask(self) -> dict[str, Any] | None:
        """Ask for what the controls say, as the page does when one of them was moved."""
        controls = [*(f"use-{name}" for name in self._notions), *(f"tolerance-{name}" for name in self._notions)]
        self.props["asked.data"] = [self.props[f"{name}.value"] for name in (*controls, "aware", "decorrelated")]
        return self.call("answer.data", "asked.data")

    def call(self, output: str, changed: str) -> dict[str, Any] | None:
        """Call the callback of an output as a browser does after something changed; keep what it gives, and return it.

        Parameters
        ----------
        output : str
            The callback's first output, such as ``"table.children"``.
        changed : str
            What changed, such as ``"points.data"``.
        """
        whole = next(name for name in self._callbacks if name.lstrip(".").startswith(output))
        parts = [part.rpartition(".") for part in whole.strip(".").split("...")]
        targets = [{"id": name, "property": key} for name, _, key in parts]
        response = self._client.post(
            "/_dash-update-component",
            json={
                "output": whole,
                "outputs": targets if whole.startswith("..") else targets[0],
                "inputs": [self._filled(own) for own in self._callbacks[whole]["inputs"]],
                "state": [self._filled(own) for own in self._callbacks[whole]["state"]],
                "changedPropIds": [changed],
            },
        )
        if response.status_code == 204:
            return None
        if response.status_code != 200:
            raise RuntimeError(f"The server answered {response.status_code}: {response.text[:300]}")
        given: dict[str, Any] = response.get_json()["response"]
        self.props |= {f"{name}.{key}": value for name, own in given.items() for key, value in own.items()}
        return given

    def _filled(self, own: dict[str, Any]) -> Any:
        if own["id"].startswith("{"):
            # One for each button of its kind; the table of points knows them.
            buttons = [point["number"] for point in self.props["points.data"]]
            return [
                {
                    "id": {"number": number, "type": "remove"},
                    "property": own["property"],
                    "value": self.props.get(f"remove-{number}"),
                }
                for number in buttons
            ]
        return {**own, "value": self.props.get(f"{own['id']}.{own['property']}")}


def run(moves: int = 200, cells: int = 256, seed: int = 0) -> list[dict[str, Any]]:
    """Drag sliders at random, some moves each, and time what the server does."""
    subject = Subject("adult", adult(cells, seed))
    app = make_app(subject)
    results = []
    for case, (notions, decorrelated) in CASES.items():
        tab = Tab(app, subject)
        tab.props |= {f"use-{name}.value": [name] for name in notions}
        tab.props["decorrelated.value"] = ["yes"] if decorrelated else []
        wall, cpu = np.array(list(_drag(tab, subject, notions, moves, seed))).T
        results.append(
            {
                "case": case,
                "bar": BAR["IF" in notions],
                "wall": float(np.median(wall)),
                "cpu": float(np.median(cpu)),
                "first": float(np.median(wall[::_DRAG])),
                "slowest": float(wall.max()),
            }
        )
    return results


def _drag(tab: Tab, subject: Subject, notions: tuple[str, ...], moves: int, seed: int) -> Iterator[tuple[float, float]]:
    """Wall and processor time of each move, in milliseconds."""
    rng = np.random.default_rng(seed)
    for move in range(moves):
        if move % _DRAG == 0:
            name = str(rng.choice(notions))
            tab.props["aware.value"] = str(rng.choice(["hidden", "seen"]))
        tab.props[f"tolerance-{name}.value"] = round(float(rng.uniform(0, subject.ends[name])), 3)
        wall, cpu = time.perf_counter(), time.process_time()
        tab.ask()
        yield 1000 * (time.perf_counter() - wall), 1000 * (time.process_time() - cpu)


def markdown(results: list[dict[str, Any]]) -> str:
    """Write the results as a table."""
    rows = [
        (
            row["case"],
            f"{row['bar']:.0f}",
            f"{row['wall']:.1f}",
            f"{row['cpu']:.1f}",
            f"{row['first']:.0f}",
            f"{row['slowest']:.0f}",
        )
        for row in results
    ]
    heads = ("switched on", "bar", "a move", "processor", "first of a drag", "slowest")
    return (
        table(heads, rows)
        + "\n\nMilliseconds, medians over 200 moves at 256 cells of Adult; 'slowest' is the longest of them. A move is "
        "answered with accuracy with the group seen and hidden, all gaps, the shadow prices, and the plot with the "
        f"position on it. Sliders are dragged {_DRAG} moves each, to tolerances at random; the first move of a drag "
        "needs new curves, unless they were drawn before. Processor time is what an answer takes where nothing else "
        "runs: "
        f"here the load was {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores. Dash {version('dash')}, one process."
    )


if __name__ == "__main__":
    print(markdown(run()))
