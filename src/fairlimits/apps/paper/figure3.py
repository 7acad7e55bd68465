"""Figure 3: the cells in three dimensions, coloured by score, without and with individual fairness."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import fairlimits as fl
from fairlimits._util.plotting import MUTED, figure_style, subplots
from fairlimits._util.types import Floats
from fairlimits.apps.paper import printed
from fairlimits.apps.paper.bench import Bench
from fairlimits.apps.paper.distances import neighbour_differences
from fairlimits.apps.paper.section import Claim, Found, Section, Table, number, signed
from fairlimits.apps.paper.settings import Settings

_RULES = {
    "EA": {"EA": 0.0},
    "EA+Ind": {"EA": 0.0, "IF": printed.SMOOTH_TOLERANCE},
}
_WORDS = {"EA": "EA at 0", "EA+Ind": f"EA at 0, Ind at {printed.SMOOTH_TOLERANCE:g}"}
_DIMENSIONS = 3


def measure(bench: Bench) -> dict[str, Any]:
    """Place the cells by factor analysis of mixed data, and score them by two rules."""
    # First, so that a missing extra is said before any work is done.
    prince = _prince()
    dist = bench.dist
    filled = np.flatnonzero(dist.p() > 0)
    places, explained = _place(prince, dist, filled, bench.settings.seed)
    rules = {}
    for name, tolerances in _RULES.items():
        rule = fl.solve(dist, tolerances)
        differences = neighbour_differences(dist, rule.scores)
        rules[name] = {
            "accuracy": rule.accuracy,
            "scores": rule.scores[filled],
            "mean difference": differences.mean() if len(differences) else 0.0,
            "opposite": (differences > 0.5).mean() if len(differences) else 0.0,
            "largest difference": differences.max(initial=0.0),
            "pairs": len(differences),
        }
    return {"places": places, "explained": explained, "rules": rules}


def _prince() -> Any:
    try:
        return import_module("prince")
    except ImportError as error:
        raise fl.errors.MissingExtraError(
            "Figure 3 needs the package prince for its factor analysis; install it with "
            "pip install 'fairlimits[paper]'."
        ) from error


def _place(prince: Any, dist: fl.CellDistribution, cells: Any, seed: int) -> tuple[Floats, float]:
    """Coordinates of the cells' centres, and the share of the variance that they hold."""
    pandas = import_module("pandas")
    kinds = {feature.name: feature.kind for feature in dist.schema.features} if dist.schema is not None else {}
    columns: dict[str, Any] = {}
    for name, values in dist.centres().items():
        own = np.asarray(values)[cells]
        # A column that is the same for all cells tells none of them apart.
        if len(set(own.tolist())) > 1:
            columns[name] = own.astype(np.float64) if kinds.get(name) == "numeric" else own.astype(str).astype(object)
    frame = pandas.DataFrame(columns)
    numeric = [name for name in columns if kinds.get(name) == "numeric"]
    settings = {"n_components": _DIMENSIONS, "random_state": seed}
    if not numeric:
        # Without numeric columns, factor analysis of mixed data is multiple correspondence analysis.
        model = prince.MCA(**settings)
    elif len(numeric) == len(columns):
        model = prince.PCA(**settings)
    else:
        model = prince.FAMD(**settings)
    fitted = model.fit(frame)
    places = np.asarray(fitted.row_coordinates(frame), dtype=np.float64)
    return places, float(np.sum(fitted.percentage_of_variance_)) / 100


def section(found: Found, settings: Settings) -> Section:
    """Draw the cells, and give numbers for what the picture shows."""
    own = found["figure3"]
    rows, records = [], []
    for name, result in own.items():
        rough, smooth = (result["rules"][rule] for rule in _RULES)
        rows.append(
            (
                printed.TITLES[name],
                number(rough["mean difference"]),
                number(smooth["mean difference"]),
                signed(smooth["mean difference"] - rough["mean difference"]),
                f"{100 * rough['opposite']:.1f}%",
                f"{100 * smooth['opposite']:.1f}%",
                number(rough["accuracy"]),
                number(smooth["accuracy"]),
            )
        )
        for rule in _RULES:
            for place, score in zip(result["places"], result["rules"][rule]["scores"], strict=True):
                axes = dict(zip(("first", "second", "third"), place, strict=False))
                records.append({"data": name, "rule": rule, "score": score, **axes})
    table = Table(
        "Scores of neighbouring cells (the nearest 3.5% of pairs)",
        ("", "EA", "EA + Ind", "difference", "EA", "EA + Ind", "EA", "EA + Ind"),
        rows,
        (("", 1), ("mean difference of scores", 3), ("differ by more than 0.5", 2), ("accuracy", 2)),
    )
    return Section(
        "figure3",
        "Figure 3: cells in three dimensions",
        tables=[table],
        figure=partial(draw, own),
        alternative="Points for cells, red and blue mixed in the upper row, passing into each other smoothly in the "
        "lower.",
        notes=(
            "Factor analysis of mixed data of the cells’ centres (where all features are categories, as on Dutch, that "
            "is multiple correspondence analysis). The rules do not see the group.",
            "Three dimensions hold a part of what tells the cells apart: "
            + ", ".join(f"{100 * result['explained']:.0f}% on {printed.TITLES[name]}" for name, result in own.items())
            + ". Points that look close need not be; the table compares the neighbours themselves.",
        ),
        claims=_claims(own),
        records=records,
    )


def draw(own: Mapping[str, Mapping[str, Any]]) -> Figure:
    """Draw a column for each data set, a row for each rule."""
    with figure_style():
        figure, axes = subplots(
            2, len(own), figsize=(3.7 * len(own) + 0.8, 7.2), squeeze=False, subplot_kw={"projection": "3d"}
        )
        for column, (name, result) in enumerate(own.items()):
            places = np.array(result["places"])
            for row, rule in enumerate(_RULES):
                ax, facts = axes[row, column], result["rules"][rule]
                points = ax.scatter(
                    *places.T,
                    c=facts["scores"],
                    cmap="RdBu_r",
                    vmin=0,
                    vmax=1,
                    s=16,
                    edgecolors=MUTED,
                    linewidths=0.25,
                    # Fading with depth would change the colours, which are what is read here.
                    depthshade=False,
                )
                ax.set_title(f"{printed.TITLES[name]}: {_WORDS[rule]}", fontsize=10, loc="center", pad=12)
                words = f"mean difference of neighbours {facts['mean difference']:.3f}"
                ax.text2D(0.5, 1.0, words, transform=ax.transAxes, ha="center", fontsize=8.5, color=MUTED)
                ax.tick_params(labelbottom=False, labelleft=False, labelright=False, labeltop=False, length=0)
                ax.view_init(elev=22, azim=-60)
                ax.set_box_aspect(None, zoom=1.2)
        bar = figure.colorbar(points, ax=axes, shrink=0.5, pad=0.02, aspect=28)
        bar.set_label("score: probability of deciding 1")
        bar.outline.set_visible(False)
    return figure


def _claims(own: Mapping[str, Mapping[str, Any]]) -> list[Claim]:
    where = "Section 5.2, Figure 3"
    rules = {name: result["rules"] for name, result in own.items()}

    def listed(words: str, scale: float = 1.0, digits: int = 3) -> str:
        return "; ".join(
            f"{printed.TITLES[name]} " + " to ".join(f"{scale * both[rule][words]:.{digits}f}" for rule in _RULES)
            for name, both in rules.items()
        )

    return [
        Claim(
            where,
            "With EA alone, cells close to each other receive drastically different scores.",
            f"neighbours whose scores differ by more than 0.5, in %: {listed('opposite', 100, 1)}",
            all(both["EA"]["opposite"] > 0 for both in rules.values()),
        ),
        Claim(
            where,
            "With Ind at 0.15 the transition is smoother: neighbours are not scored drastically differently.",
            f"mean difference of neighbours: {listed('mean difference')}",
            all(
                both["EA+Ind"]["mean difference"] < both["EA"]["mean difference"] and both["EA+Ind"]["opposite"] == 0
                for both in rules.values()
            ),
        ),
    ]
