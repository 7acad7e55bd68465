"""What the paper only says: how much depends on the distance, eta and theta, and on the weighting of aware Ind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import fairlimits as fl
from fairlimits.apps.paper import printed
from fairlimits.apps.paper.bench import Bench
from fairlimits.apps.paper.distances import distances_of, with_distances
from fairlimits.apps.paper.section import Claim, Found, Section, Table, number, points, signed, tolerances_of
from fairlimits.apps.paper.settings import Settings

PAIRINGS = ("DP+Ind", "EA+Ind", "EOd+Ind")
RELAXATION = 0.05

PERCENTILES = (1.0, 2.0, 3.5, 5.0, 10.0)
THETAS = (0.0, 1.0, 5.0, 20.0)
ALONE = (0.0, 0.001, 0.01, 0.05)
MODES: tuple[Literal["paper", "mean", "each", "all"], ...] = ("paper", "mean", "each", "all")
_USUAL = {"distance": "frequencies", "percentile": 3.5, "theta": 1.0}


def measure(bench: Bench) -> dict[str, Any]:
    """Solve with each choice in turn, the others as they usually are; and aware Ind in every mode."""
    dist = bench.dist
    cells = {name: with_distances(dist, own) for name, own in distances_of(dist).items()}
    choices: list[dict[str, Any]] = [
        *({"distance": name} for name in cells),
        *({"percentile": value} for value in PERCENTILES),
        *({"theta": value} for value in THETAS),
    ]
    rows = []
    for done, choice in enumerate(choices):
        bench.tell(done / len(choices), ", ".join(f"{key} {value}" for key, value in choice.items()))
        taken: dict[str, Any] = {**_USUAL, **choice}
        hood = fl.Neighbourhood(percentile=taken["percentile"], theta=taken["theta"])
        changed = next(iter(choice))
        for scenario in printed.SCENARIOS:
            for pairing in PAIRINGS:
                accuracy = _accuracy(
                    cells[taken["distance"]], tolerances_of(pairing, RELAXATION), scenario == "aware", hood
                )
                rows.append(
                    {
                        "changed": changed,
                        "value": choice[changed],
                        "scenario": scenario,
                        "pairing": pairing,
                        "accuracy": accuracy,
                    }
                )
    return {"rows": rows, "modes": [*(_alone(dist, own) for own in ALONE), *_paired(dist)]}


def _alone(dist: fl.CellDistribution, tolerance: float) -> dict[str, Any]:
    """Ind without a group notion, in every mode."""
    return {
        "pairing": "Ind",
        "words": f"Ind at {tolerance:g}",
        "relaxation": None,
        "Ind": tolerance,
        **_by_mode(dist, {"IF": tolerance}),
    }


def _paired(dist: fl.CellDistribution) -> Iterator[dict[str, Any]]:
    """Ind as in Table 2, beside a group notion that is relaxed, in every mode."""
    for pairing in PAIRINGS:
        for relaxation in printed.RELAXATIONS:
            yield {
                "pairing": pairing,
                "words": f"{pairing.removesuffix('+Ind')} at {relaxation:g}, Ind at {printed.INDIVIDUAL_TOLERANCE:g}",
                "relaxation": relaxation,
                "Ind": printed.INDIVIDUAL_TOLERANCE,
                **_by_mode(dist, tolerances_of(pairing, relaxation)),
            }


def _by_mode(dist: fl.CellDistribution, tolerances: Mapping[str, float]) -> dict[str, float | None]:
    group = {name: value for name, value in tolerances.items() if name != "IF"}
    return {
        "without Ind": _accuracy(dist, group, True),
        **{mode: _accuracy(dist, tolerances, True, fl.Neighbourhood(mode=mode)) for mode in MODES},
        "unaware": _accuracy(dist, tolerances, False),
    }


def _accuracy(
    dist: fl.CellDistribution, tolerances: Mapping[str, float], aware: bool, hood: fl.Neighbourhood | None = None
) -> float | None:
    """Optimal accuracy, or None if no rule is left, which the paper's weighting can lead to."""
    try:
        return fl.solve(dist, tolerances, aware=aware, neighbours=hood).accuracy
    except fl.InfeasibleError:
        return None


def section(found: Found, settings: Settings) -> Section:
    """Show what each choice changes, and the paper's weighting beside the corrected one."""
    own = found["sensitivity"]
    tables = [table for name, result in own.items() for table in (_choices(name, result), _modes(name, result))]
    return Section(
        "sensitivity",
        "Sensitivity: distance, neighbourhood and weighting",
        tables=tables,
        notes=(
            f"Group notions relaxed to {RELAXATION:g}, Ind to {printed.INDIVIDUAL_TOLERANCE:g}. “Frequencies” compares "
            "the cells’ shares of each category; “modes” only the most frequent one (Hamming, the paper’s words); "
            "“Euclidean” the encoded centres. The usual choices are frequencies, the nearest 3.5% of pairs and theta "
            "1.",
            "Aware, the paper weights scores by P(X | A) in (30), entries of about one in the number of cells, so that "
            "almost any scores pass; “mean” compares the cells’ average scores, “each” those of each group, “all” also "
            "those of one group with another’s. A dash: no rule meets the constraint at all.",
        ),
        claims=_claims(own),
        records=_records(own),
    )


def _choices(name: str, result: Mapping[str, Any]) -> Table:
    values = {
        (row["changed"], row["value"], row["scenario"], row["pairing"]): row["accuracy"] for row in result["rows"]
    }
    rows = []
    for changed, value in dict.fromkeys((row["changed"], row["value"]) for row in result["rows"]):
        row = [f"{changed} {value}"]
        for scenario in printed.SCENARIOS:
            for pairing in PAIRINGS:
                accuracy = values[changed, value, scenario, pairing]
                row += [number(accuracy), signed(_less(accuracy, values["theta", 1.0, scenario, pairing]))]
        rows.append(row)
    over = (("", 1), *((f"{scenario}: {pairing}", 2) for scenario in printed.SCENARIOS for pairing in PAIRINGS))
    return Table(f"{printed.TITLES[name]}: accuracy under other choices", ("", *("accuracy", "change") * 6), rows, over)


def _less(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value - other


def _modes(name: str, result: Mapping[str, Any]) -> Table:
    heads = ("", "without Ind", "paper’s weighting", "mean (ours)", "each group", "all", "unaware")
    keys = ("without Ind", *MODES, "unaware")
    rows = [(row["words"], *(number(row[key], 4) for key in keys)) for row in result["modes"]]
    return Table(f"{printed.TITLES[name]}: aware Ind, by what it compares", heads, rows)


def _claims(own: Mapping[str, Mapping[str, Any]]) -> list[Claim]:
    widest, where_ = 0.0, ""
    for name, result in own.items():
        spans: dict[tuple[str, str, str], list[float]] = {}
        for row in result["rows"]:
            if row["accuracy"] is not None:
                spans.setdefault((row["changed"], row["scenario"], row["pairing"]), []).append(row["accuracy"])
        for (changed, scenario, pairing), values in spans.items():
            if max(values) - min(values) > widest:
                widest = max(values) - min(values)
                where_ = f"{changed}: {pairing} on {printed.TITLES[name]}, {scenario}"
    return [
        Claim(
            "Limitations",
            "Adjusting the distance metric and its parameters may produce different results.",
            f"accuracy changes by up to {points(widest)} points ({where_})",
            widest > 0.005,
        )
    ]


def _records(own: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    for name, result in own.items():
        for row in result["rows"]:
            records.append(
                {
                    "data": name,
                    **row,
                    "value": str(row["value"]),
                    "relaxation": RELAXATION,
                    "Ind": printed.INDIVIDUAL_TOLERANCE,
                }
            )
        for row in result["modes"]:
            for key in (*MODES, "unaware", "without Ind"):
                records.append(
                    {
                        "data": name,
                        "changed": "mode of aware Ind" if key in MODES else "scenario",
                        "value": key,
                        "scenario": "unaware" if key == "unaware" else "aware",
                        "pairing": row["pairing"],
                        "accuracy": row[key],
                        "relaxation": row["relaxation"],
                        "Ind": row["Ind"],
                    }
                )
    return records
