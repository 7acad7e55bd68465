"""`Monitoring`: a rule in use, period by period, with its alarms."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from fairlimits._util.frames import ARROW, of_user_kind
from fairlimits._util.notebooks import Shown
from fairlimits._util.plotting import COLOURS, MUTED, axes_or_new, colour_of, figure_style, plain_text
from fairlimits._util.storage import write_text
from fairlimits.evaluation.monitoring.drift import Drift
from fairlimits.evaluation.monitoring.missing_groups import GapBounds
from fairlimits.notions import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_KIND, _VERSION = "fairlimits monitoring", 1


@dataclass(frozen=True)
class Alarm:
    """Something that chance does not explain.

    Parameters
    ----------
    period : str
        Name of the period.
    kind : {"gap", "accuracy", "drift"}
        What it is about.
    what : str
        The notion, or the feature.
    p_value : float
        Upper bound on its chance if nothing were wrong.
    allowed : float
        The largest p-value that raises an alarm here.
    words : str
        The alarm in a sentence.
    """

    period: str
    kind: str
    what: str
    p_value: float
    allowed: float
    words: str


@dataclass(frozen=True, eq=False)
class PeriodFigures:
    """Figures of a rule in one period.

    Parameters
    ----------
    name : str
        The period.
    rows : int
        Its people.
    accuracy : Estimate
        Share decided as their label says; not estimable while labels are not known.
    selection : mapping of str to Estimate
        Share of each group that is decided 1.
    gaps : mapping of str to Estimate
        Gap of every group notion that can be read, among people whose group is known.
    missing : float
        Share of people whose group is not known.
    bounds : mapping of str to GapBounds
        Where there are any, what every gap can be.
    drift : tuple of Drift
        Against the first period; empty for the first.
    """

    name: str
    rows: int
    accuracy: Estimate
    selection: Mapping[str, Estimate]
    gaps: Mapping[str, Estimate]
    missing: float
    bounds: Mapping[str, GapBounds]
    drift: tuple[Drift, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Monitoring(Shown):
    """A rule in use, period by period.

    Parameters
    ----------
    periods : tuple of PeriodFigures
        In their order.
    alarms : tuple of Alarm
        What chance does not explain.
    tolerances : mapping of str to float
        The gaps that are watched.
    confidence : float
        Of the limits, all at once; one minus it is the chance of any false alarm, ever.
    frame_kind : str
        Library that `to_frame` makes a frame of.

    Examples
    --------
    >>> import fairlimits as fl
    >>> from sklearn.linear_model import LogisticRegression
    >>> learn, later = fl.load_dataset("adult").take(range(3_000)).split(0.5, random_state=0)
    >>> rule = fl.solve(fl.estimate_outcome(learn, estimator=LogisticRegression(max_iter=500)), {})
    >>> watched = fl.monitor(rule, [later.to_frame()], tolerances={"DP": 0.02})
    >>> [(alarm.kind, alarm.what) for alarm in watched.alarms]
    [('gap', 'DP')]
    >>> watched.alarms[0].p_value < watched.alarms[0].allowed
    True
    """

    periods: tuple[PeriodFigures, ...]
    alarms: tuple[Alarm, ...]
    tolerances: Mapping[str, float]
    confidence: float
    frame_kind: str = ARROW

    @property
    def alarm(self) -> bool:
        """Whether there is any alarm."""
        return bool(self.alarms)

    @of_user_kind
    def to_frame(self) -> pa.Table:
        """A row for each period: rows, accuracy, selection rates and gaps with limits, drift, missing groups."""
        records: list[dict[str, Any]] = []
        for own in self.periods:
            record: dict[str, Any] = {"period": own.name, "rows": own.rows, **own.accuracy.columns("accuracy")}
            for group, rate in own.selection.items():
                record |= rate.columns(f"selection rate of {group}")
            for name, gap in own.gaps.items():
                record |= gap.columns(f"gap {name}")
            worst = min(own.drift, key=lambda drift: drift.p_value, default=None)
            record |= {"drifted most": None if worst is None else worst.name}
            record |= {"drift": None if worst is None else worst.distance, "group missing": own.missing}
            for name, bound in own.bounds.items():
                record |= {f"gap {name}, at least": bound.low, f"gap {name}, at most": bound.high}
                record |= {f"gap {name}, if missing by features": bound.if_by_features}
            record["alarms"] = sum(alarm.period == own.name for alarm in self.alarms)
            records.append(record)
        names = list(dict.fromkeys(name for record in records for name in record))
        return pa.table({name: [record.get(name) for record in records] for name in names})

    def summary(self) -> str:
        """Say whether there is an alarm, what the last period came to, and who is not known."""
        last = self.periods[-1]
        lines = [
            f"{_counted(len(self.periods), 'period')}, {sum(own.rows for own in self.periods):,} people. "
            + (
                f"{_counted(len(self.alarms), 'alarm')}, where chance alone gives any with probability "
                f"{1 - self.confidence:.2g} at most:"
                if self.alarms
                else f"No alarm, at a chance of {1 - self.confidence:.2g} for any false one."
            )
        ]
        lines += [f"{own.period}: {own.words}" for own in self.alarms]
        gaps = ", ".join(f"{name} {gap}" for name, gap in last.gaps.items() if name in self.tolerances)
        lines.append(f"{last.name}: accuracy {last.accuracy}; gaps {gaps or 'none watched'} (held out; all limits hold")
        lines[-1] += f" at once with confidence {self.confidence:g})."
        untested = [name for name in self.tolerances if name not in last.gaps or not last.gaps[name].known]
        if untested:
            lines.append(
                f"Not tested in {last.name}: {', '.join(untested)}; labels, or people of known group, are too few."
            )
        if last.missing and not last.bounds:
            lines.append(f"The group of {last.missing:.1%} is missing, and too few are known to bound any gap.")
        for name, bound in last.bounds.items():
            if name in self.tolerances:
                lines.append(
                    f"The group of {last.missing:.1%} is missing: {name} is between {bound.low:.4f} and "
                    f"{bound.high:.4f} however it is filled in, and {bound.if_by_features:.4f} if missingness depends "
                    "on features and label only, which these rows cannot show."
                )
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the watched gaps over time with their limits, tolerances as dashes and alarms as crosses.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        names = list(self.tolerances) or list(self.periods[0].gaps)[:1]
        with figure_style():
            ax = axes_or_new(ax, (6.8, 3.8))
            for at, name in enumerate(names):
                known = [
                    (x + 0.08 * (at - (len(names) - 1) / 2), own.gaps[name])
                    for x, own in enumerate(self.periods)
                    if name in own.gaps and own.gaps[name].known
                ]
                low = [gap.value - gap.low for _, gap in known]
                high = [gap.high - gap.value for _, gap in known]
                shown = {"color": colour_of(name), "label": name, "capsize": 3, "linewidth": 1.5, "fmt": "o-"}
                ax.errorbar([x for x, _ in known], [gap.value for _, gap in known], yerr=[low, high], **shown)  # type: ignore[arg-type]
                if math.isfinite(self.tolerances.get(name, math.inf)):
                    ax.axhline(self.tolerances[name], color=colour_of(name), linestyle="--", linewidth=1)
            struck = [x for x, own in enumerate(self.periods) if any(each.period == own.name for each in self.alarms)]
            if struck:
                ax.plot(
                    struck, [0.0] * len(struck), "X", color=COLOURS["EA"], markersize=9, label="alarm", clip_on=False
                )
            step = max(1, len(self.periods) // 12)
            ax.set_xticks(range(0, len(self.periods), step), [plain_text(own.name) for own in self.periods[::step]])
            ax.tick_params(axis="x", rotation=30 if len(self.periods) > 4 else 0, colors=MUTED)
            ax.set_ylim(bottom=0)
            ax.set_ylabel("gap (held out); dashes: tolerance")
            ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
        return ax

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for dashboards."""
        return {
            "kind": _KIND,
            "version": _VERSION,
            "confidence": self.confidence,
            "tolerances": dict(self.tolerances),
            "alarm": self.alarm,
            "alarms": [vars(own) for own in self.alarms],
            "periods": [
                {
                    "name": own.name,
                    "rows": own.rows,
                    "accuracy": own.accuracy.plain(),
                    "selection rate": {group: rate.plain() for group, rate in own.selection.items()},
                    "gaps": {name: gap.plain() for name, gap in own.gaps.items()},
                    "group missing": own.missing,
                    "gap bounds": {name: bound._asdict() for name, bound in own.bounds.items()},
                    "drift": [drift._asdict() for drift in own.drift],
                }
                for own in self.periods
            ],
        }

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return everything as JSON text, and write it to a file if one is named."""
        text = json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n"
        if path is not None:
            write_text(path, text)
        return text

    def __repr__(self) -> str:
        return f"Monitoring({len(self.periods)} periods, {len(self.alarms)} alarms)"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
