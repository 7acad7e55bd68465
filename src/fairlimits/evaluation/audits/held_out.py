"""Models and rules on the same held-out rows: figures, paired differences and their intervals."""

from __future__ import annotations

import numpy as np

from fairlimits._util.types import Floats
from fairlimits.evaluation.audits.audited_people import AuditedPeople
from fairlimits.evaluation.audits.comparisons import AuditedModel, Curve, Standing, not_estimable
from fairlimits.evaluation.audits.matching import along, place
from fairlimits.evaluation.audits.paths import Rules
from fairlimits.notions import (
    Estimate,
    MeasuredRates,
    accuracy_difference,
    accuracy_estimates,
    alike_score,
    gap_estimates,
    percentile_estimate,
    rates_by_group,
    resampled,
    tally,
)

# A gap that exceeds another by less than this is no larger.
_SAME = 1e-3

# Points of a drawn curve, and how far it goes beyond what it has to show.
_POINTS = 61
_ROOM = 1.15


class Judged:
    """Everything that is judged, tallied once on the rows and once on each resample."""

    def __init__(
        self,
        people: AuditedPeople,
        rules: Rules,
        confidence: float,
        resamples: int,
        random_state: int,
    ) -> None:
        self.decided, self.confidence = people.models, confidence
        models = len(self.decided)
        rows, decided = people.held_out(rules.all())
        alike = [np.full(decided.shape[1], alike_score(names, rules.positive)) for names in (("EA",), ())]
        self.rows, self.scores = rows, np.vstack([decided[:models], *alike, decided[models:]])
        scores = self.scores
        self.coin, self.majority, self.free = range(models, models + 3)
        start = self.free + 1
        numbers = []
        for path in (*rules.paths.values(), *rules.joint):
            numbers.append([*range(start, start + len(path))])
            start += len(path)
        self.paths = {name: [*own, self.free] for name, own in zip(rules.paths, numbers, strict=False)}
        self.joint = numbers[len(rules.paths) :]
        self.found, self.drawn = tally(rows, scores), resampled(rows, scores, resamples, random_state)
        self.accuracy, self.accuracies = self.found.accuracy(), self.drawn.accuracy()
        self.gap = {name: self.found.gap(name) for name in rules.paths}
        self.gaps = {name: self.drawn.gap(name) for name in rules.paths}
        measured = MeasuredRates(rows, scores, self.found)
        self.estimates, self.accurate = gap_estimates(measured, confidence), accuracy_estimates(measured, confidence)

    @property
    def best(self) -> Estimate:
        """Accuracy of the rule without tolerances."""
        return self.accurate[self.free]

    def models(self, names: tuple[str, ...]) -> tuple[AuditedModel, ...]:
        """Figures of the models."""
        return tuple(
            AuditedModel(
                own.name,
                own.how,
                self.accurate[number],
                self._lead(self.free, number),
                rates_by_group(self.rows, self.scores[number], self.estimates[number], self.confidence),
                self.estimates[number],
                tuple(
                    self._beside(number, (name,), self.paths[name]) if name in self.paths else not_estimable(name)
                    for name in names
                ),
                self._beside(number, tuple(self.paths), self.joint[number]) if self.joint else None,
            )
            for number, own in enumerate(self.decided)
        )

    def curves(self) -> dict[str, Curve]:
        """Accuracy along each path, at gaps that reach beyond all models."""
        curves = {}
        for name, path in self.paths.items():
            shown = [self.gap[name][self.free], *(self.estimates[m][name].high for m in range(len(self.decided)))]
            gap = np.linspace(0, min(_ROOM * max(shown), 1.0), _POINTS)
            ends = [
                self._estimate(
                    along(self.gap[name][path] - at, self.accuracy[path]),
                    along(self.gaps[name][:, path] - at, self.accuracies[:, path]),
                )
                for at in gap
            ]
            value, low, high = np.array(ends).T
            curves[name] = Curve(name, gap, value, low, high)
        return curves

    def _beside(self, model: int, names: tuple[str, ...], path: list[int]) -> Standing:
        """A model beside the mixture on a path that is as fair as the model in some notions."""
        alike = self.coin if "EA" in names else self.majority
        path = path or [alike]
        mixed, gaps = self._mixed(model, names, path)
        if any(gaps[name].low > self.estimates[model][name].high + _SAME for name in names):
            # No rule is as fair as the model, and not by chance; what decides all alike is (see `alike_score`).
            path = [alike, *path]
            mixed, gaps = self._mixed(model, names, path)
        _, excesses = self._excess(model, names, path)
        again = along(excesses, self.accuracies[:, path])
        (accuracy,) = accuracy_estimates(self._measured(mixed), self.confidence)
        avoidable = self._ahead(mixed, self.scores[model], again - self.accuracies[:, model])
        # A model that is ahead of the rule has no more to gain than the most accurate rule has.
        rest = (
            self._ahead(self.scores[self.free], mixed, self.accuracies[:, self.free] - again)
            if avoidable.value >= 0
            else self._lead(self.free, model)
        )
        return Standing(
            names,
            self._wide(accuracy, again),
            {name: gaps[name] for name in names},
            avoidable,
            rest,
            rates_by_group(self.rows, mixed, gaps, self.confidence),
        )

    def _lead(self, one: int, other: int) -> Estimate:
        """By how much one is more accurate than another."""
        return accuracy_difference(self.rows, self.scores[one], self.scores[other], self.confidence)

    def _excess(self, model: int, names: tuple[str, ...], path: list[int]) -> tuple[Floats, Floats]:
        """By how much each rule on a path is less fair than a model, on the rows and on each resample."""
        excess = np.max([self.gap[name][path] - self.gap[name][model] for name in names], axis=0)
        excesses = np.max([self.gaps[name][:, path] - self.gaps[name][:, [model]] for name in names], axis=0)
        return excess, excesses

    def _mixed(self, model: int, names: tuple[str, ...], path: list[int]) -> tuple[Floats, dict[str, Estimate]]:
        """Decisions of the mixture that a model is matched with, and its gap in every notion."""
        left, right, share = place(self._excess(model, names, path)[0])
        one, two = path[int(left)], path[int(right)]
        scores = (1 - share) * self.scores[one] + share * self.scores[two]
        return scores, gap_estimates(self._measured(scores), self.confidence)[0]

    def _measured(self, scores: Floats) -> MeasuredRates:
        return MeasuredRates(self.rows, scores[None], tally(self.rows, scores[None]))

    def _ahead(self, one: Floats, other: Floats, drawn: Floats) -> Estimate:
        """By how much scores are more accurate than others; one of both was matched, and is so anew per resample."""
        return self._wide(accuracy_difference(self.rows, one, other, self.confidence), drawn)

    def _wide(self, fixed: Estimate, drawn: Floats) -> Estimate:
        """A figure of a matched mixture: matching anew can only widen the interval of the mixture as it is."""
        anew = self._estimate(np.asarray(fixed.value), drawn)
        return Estimate(fixed.value, min(fixed.low, anew.low), max(fixed.high, anew.high))

    def _estimate(self, value: Floats, drawn: Floats) -> Estimate:
        return percentile_estimate(float(value), drawn, self.confidence)
