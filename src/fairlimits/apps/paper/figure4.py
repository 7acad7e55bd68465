"""Figure 4: the law of the cells in each group, before and after decorrelation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import fairlimits as fl
from fairlimits._util.plotting import COLOURS, MUTED, figure_style, plain_text, subplots
from fairlimits.apps.paper import printed
from fairlimits.apps.paper.bench import Bench
from fairlimits.apps.paper.section import Claim, Found, Section
from fairlimits.apps.paper.settings import Settings

# The paper does not say for which rule its figure is drawn.
_TOLERANCES = {"DP": 0.05, "EA": 0.05}

# Laws closer than this cannot be told apart in any picture, nor by any adversary.
_OVERLAP = 1e-6


def chosen(names: Sequence[str]) -> str:
    """Choose the data set: the paper draws Law; without it the first one stands in."""
    return "law" if "law" in names else names[0]


def measure(bench: Bench) -> dict[str, Any]:
    """Find the map that moves people least, in both scenarios, and the laws it makes."""
    dist = bench.dist
    found: dict[str, Any] = {"groups": dist.groups}
    laws = [dist.p(given_group=g) for g in range(dist.n_groups)]
    for scenario in printed.SCENARIOS:
        aware = scenario == "aware"
        rule = fl.solve(dist, _TOLERANCES, aware=aware)
        plan = fl.decorrelate(
            dist,
            rule,
            accuracy_weight=fl.decorrelation.ACCURACY_WEIGHT,
            correlation_weight=fl.decorrelation.CORRELATION_WEIGHT,
        )
        before = laws
        if aware:
            # Every cell has a bin for each group, and people start in their own.
            before = [
                np.concatenate([law if h == g else np.zeros_like(law) for h in range(dist.n_groups)])
                for g, law in enumerate(laws)
            ]
        after = [plan.maps[g if aware else 0] @ law for g, law in enumerate(laws)]
        found[scenario] = {
            "before": before,
            "after": after,
            "correlation": [plan.baseline_correlation, plan.correlation],
            "accuracy": [plan.rule_accuracy, plan.accuracy],
            "kept in place": plan.kept_in_place,
        }
    return found


def section(found: Found, settings: Settings) -> Section:
    """Draw the laws, and check that they overlap after the map."""
    name = chosen(list(found["figure4"]))
    own = found["figure4"][name]
    facts = "; ".join(_facts(scenario, own[scenario]) for scenario in printed.SCENARIOS)
    return Section(
        "figure4",
        f"Figure 4: P(X | A) before and after decorrelation, {printed.TITLES[name]}",
        figure=partial(draw, own),
        alternative="Four panels: the groups’ laws over the cells differ before the map and coincide after it.",
        notes=(
            f"For the rule with DP and EA at 0.05, by the optimal map that moves people least. {facts}. Bins are "
            "sorted by mass in each panel; each scale is that of the panel.",
        ),
        claims=_claims(own),
        records=_records(name, own),
    )


def _facts(scenario: str, own: Mapping[str, Any]) -> str:
    (before, after), (correct, still) = own["correlation"], own["accuracy"]
    return (
        f"{scenario}: correlation {before:.3f} to {after:.1e}, accuracy {correct:.4f} to {still:.4f}, "
        f"{100 * own['kept in place']:.0f}% kept in place"
    )


def draw(own: Mapping[str, Any]) -> Figure:
    """Draw both groups' laws over each other, before and after, unaware and aware."""
    with figure_style():
        figure, axes = subplots(2, 2, figsize=(10.5, 5.6), sharex="row", squeeze=False)
        for row, scenario in enumerate(("unaware", "aware")):
            for column, when in enumerate(("before", "after")):
                laws = np.array(own[scenario][when])
                _draw_laws(axes[row, column], laws, own["groups"], blocks=len(laws) if scenario == "aware" else 1)
                left = own[scenario]["correlation"][column]
                axes[row, column].set_title(f"{scenario}, {when}: correlation {left if left > 1e-9 else 0:.3g}")
            axes[row, 0].set_ylabel("probability given the group, %")
        for upper, lower in axes.T:
            upper.set_xlabel("cells, by mass")
            lower.set_xlabel(f"cells scored as {own['groups'][0]}, then as {own['groups'][1]}", parse_math=False)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure


def _draw_laws(ax: Axes, laws: Any, groups: Sequence[str], *, blocks: int) -> None:
    """Draw the laws over bins sorted by mass, aware: those scored as the first group before the others."""
    block = np.repeat(np.arange(blocks), laws.shape[1] // blocks)
    order = np.lexsort((-laws.sum(axis=0), block))
    edges = np.arange(len(order) + 1)
    first, second = (100 * law[order] for law in laws[:2])
    colours = COLOURS["aware"], COLOURS["unaware"]
    ax.stairs(first, edges, fill=True, color=colours[0], alpha=0.45, label=_label(groups[0]))
    ax.stairs(second, edges, color=colours[1], linewidth=0.9, label=_label(groups[1]))
    for start in range(1, blocks):
        ax.axvline(start * len(order) / blocks, color=MUTED, linewidth=0.8, linestyle=":")
    ax.set_xlim(0, len(order))
    ax.set_ylim(0, None)
    ax.tick_params(colors=MUTED)


def _label(group: str) -> str:
    # Names come from the data, where a dollar sign does not begin a formula.
    return plain_text(f"A = {group}")


def _claims(own: Mapping[str, Any]) -> list[Claim]:
    where = "Section 5.3, Figure 4"
    apart = {scenario: float(np.abs(np.subtract(*own[scenario]["after"][:2])).max()) for scenario in printed.SCENARIOS}
    bins = {scenario: len(own[scenario]["before"][0]) for scenario in printed.SCENARIOS}
    return [
        Claim(
            where,
            "After decorrelation the densities of both groups overlap perfectly, aware and unaware.",
            f"largest difference in a bin: aware {apart['aware']:.1e}, unaware {apart['unaware']:.1e}",
            max(apart.values()) < _OVERLAP,
        ),
        Claim(
            where,
            "Under awareness the number of bins doubles.",
            f"{bins['unaware']} and {bins['aware']}",
            bins["aware"] == 2 * bins["unaware"],
        ),
    ]


def _records(name: str, own: Mapping[str, Any]) -> list[dict[str, Any]]:
    records = []
    for scenario in printed.SCENARIOS:
        for group, before, after in zip(own["groups"], own[scenario]["before"], own[scenario]["after"], strict=True):
            records += [
                {"data": name, "scenario": scenario, "group": group, "bin": k, "before": p, "after": q}
                for k, (p, q) in enumerate(zip(before, after, strict=True))
            ]
    return records
