"""What the paper says about its frontiers, checked on ours."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fairlimits.apps.paper import printed
from fairlimits.apps.paper.frontiers import GROUP_NOTIONS, PAIRS, TRIPLES, TRIPLES_IND, Curves
from fairlimits.apps.paper.section import Claim, points

# "Little accuracy dropoff" and "considerably" are given no number by the paper.
_LITTLE = 0.02

_ONLY_DP, _ONLY_EA = ("DP+PE", "DP+EOd"), ("EA+PE", "EA+EOd")
_GROUP_PAIRS = tuple(pairing for pairing in PAIRS if "Ind" not in pairing)


def figure2(own: Mapping[str, Curves]) -> list[Claim]:
    """Claims of Section 5.2 on awareness, and on what unawareness costs."""
    where = "Section 5.2, Figure 2"
    strict = {
        (name, notion): float(curves.loss(notion, True)[0]) for name, curves in own.items() for notion in GROUP_NOTIONS
    }
    cheap = sum(loss <= _LITTLE for loss in strict.values())
    dearest = max(strict, key=lambda key: strict[key])
    claims = [
        Claim(
            where,
            "Most group notions can be satisfied exactly in isolation with little accuracy dropoff (aware).",
            f"{cheap} of {len(strict)} cost at most {points(_LITTLE)} points; the dearest, {dearest[1]} on "
            f"{printed.TITLES[dearest[0]]}, {points(strict[dearest])}",
            cheap > len(strict) / 2,
        ),
        *_tension(own, aware=True, where=where),
        _deterioration(own, where),
    ]
    costs = {
        name: float((curves.accuracy("EA+PE", True) - curves.accuracy("EA+PE", False))[0])
        for name, curves in own.items()
    }
    for name, theirs in printed.AWARENESS_COST.items():
        if name in costs:
            claims.append(
                Claim(
                    where,
                    f"Strictly satisfying EA+PE, unawareness costs {points(theirs)} points on {printed.TITLES[name]}.",
                    f"{points(costs[name])} points",
                    # The paper gives whole points.
                    abs(costs[name] - theirs) <= 0.005,
                )
            )
    if {"adult", "law"} <= set(costs):
        claims.append(
            Claim(
                where,
                "The extent of that dropoff depends on the distribution: it is larger on Law than on Adult.",
                f"EA+PE at 0: Law {points(costs['law'])}, Adult {points(costs['adult'])} points",
                costs["law"] > costs["adult"],
            )
        )
    return [*claims, *_individual(own, where)]


def _tension(own: Mapping[str, Curves], aware: bool, where: str) -> list[Claim]:
    """Which of DP and EA its pairings are tense with; DP+EA itself is in both columns."""
    claims = []
    for name, curves in own.items():
        dp, ea = curves.mean_loss(_ONLY_DP, aware), curves.mean_loss(_ONLY_EA, aware)
        tense, easy, holds = ("DP", "EA", dp > ea) if name == "dutch" else ("EA", "DP", ea > dp)
        claims.append(
            Claim(
                where,
                f"{printed.TITLES[name]}, {'aware' if aware else 'unaware'}: pairings with {tense} are tense, pairings "
                f"with {easy} more easily satisfied.",
                f"mean loss of EA+PE and EA+EOd {points(ea)}, of DP+PE and DP+EOd {points(dp)} points (relaxations 0 "
                "to 0.2)",
                holds,
            )
        )
    return claims


def _deterioration(own: Mapping[str, Curves], where: str) -> Claim:
    worse, curves_, most = 0, 0, (0.0, "")
    for name, curves in own.items():
        for pairing in (*GROUP_NOTIONS, *_GROUP_PAIRS):
            lost = curves.accuracy(pairing, True) - curves.accuracy(pairing, False)
            worse += bool((lost > -1e-9).all() and lost.max() > 1e-3)
            curves_ += 1
            most = max(most, (float(lost.max()), f"{pairing} on {printed.TITLES[name]}"))
    return Claim(
        where,
        "Compared with awareness, unawareness clearly lowers accuracy.",
        f"on {worse} of {curves_} curves of group notions it is never higher and somewhere more than 0.1 points lower; "
        f"at most {points(most[0])} points ({most[1]})",
        worse == curves_,
    )


def _individual(own: Mapping[str, Curves], where: str) -> list[Claim]:
    extra = {
        aware: {
            name: float(
                np.mean(
                    [
                        curves.mean_loss([f"{notion}+Ind"], aware) - curves.mean_loss([notion], aware)
                        for notion in GROUP_NOTIONS
                    ]
                )
            )
            for name, curves in own.items()
        }
        for aware in (True, False)
    }

    def listed(aware: bool) -> str:
        return ", ".join(f"{printed.TITLES[name]} {points(value)}" for name, value in extra[aware].items())

    return [
        Claim(
            where,
            "Pairing Ind with just one group notion can considerably reduce accuracy.",
            f"mean further loss, unaware: {listed(False)} points",
            max(extra[False].values()) > _LITTLE,
        ),
        Claim(
            where,
            "That is so particularly in the case of unawareness.",
            f"mean further loss, aware: {listed(True)}; unaware: {listed(False)} points",
            all(extra[False][name] > extra[True][name] for name in own),
        ),
    ]


def figure5(own: Mapping[str, Curves]) -> list[Claim]:
    """Claims of Appendix H on unawareness."""
    return _tension(own, aware=False, where="Appendix H, Figure 5")


def figure6(own: Mapping[str, Curves]) -> list[Claim]:
    """Claims of Appendix H on three notions and more."""
    where = "Appendix H, Figure 6"
    claims = []
    for name, curves in own.items():
        pairs = {aware: curves.mean_loss(_GROUP_PAIRS, aware) for aware in (True, False)}
        threes = {aware: curves.mean_loss(TRIPLES, aware) for aware in (True, False)}
        ratio = min(threes[aware] / max(pairs[aware], 1e-12) for aware in (True, False))
        claims.append(
            Claim(
                where,
                f"{printed.TITLES[name]}: with three group notions accuracy falls much more than with two.",
                f"mean loss aware {points(threes[True])} against {points(pairs[True])}, unaware "
                f"{points(threes[False])} against {points(pairs[False])} points",
                # "Much more drastic" is taken as half as much again.
                ratio >= 1.5,
            )
        )
    ends, starts = [], []
    for curves in own.values():
        for pairing in TRIPLES_IND:
            for aware in (True, False):
                accuracy = curves.accuracy(pairing, aware)
                starts.append(float(accuracy[0]))
                ends.append(float(accuracy[-1]))
    claims.append(
        Claim(
            where,
            "With Ind on top of three group notions no meaningful classification is left: all accuracies drop to "
            "around 50%.",
            f"at relaxation 0: {points(min(starts))}% to {points(max(starts))}%; at the loosest: "
            f"{points(min(ends))}% to {points(max(ends))}%",
            all(abs(value - 0.5) <= 0.05 for value in (*starts, *ends)),
        )
    )
    return claims
