"""What is asked of a frontier on the command line: which tolerances move, and what holds besides."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from fairlimits.apps.cli import options
from fairlimits.apps.cli.option_groups import OptionGroup
from fairlimits.errors import InputError

if TYPE_CHECKING:
    from fairlimits._util.types import Floats

_NOTION_ENDS, _RATIO_ENDS = (0.0, 0.2), (0.5, 1.0)

# More than a table or a picture can show.
_MOST_POINTS = 100_000


@dataclass(frozen=True, kw_only=True)
class Question(OptionGroup):
    """The options, as they were written."""

    notion: Annotated[
        list[str] | None,
        typer.Option("--notion", "-n", help="Notion to constrain: DP, EA, EOp, PE, EOd or IF (repeatable)."),
    ] = None
    fix: Annotated[
        list[str] | None, typer.Option(help="Hold a notion at a tolerance, such as IF=0.1 (repeatable).")
    ] = None
    start: Annotated[
        float | None, typer.Option("--from", help="First tolerance.", show_default="0, or a ratio of 0.5")
    ] = None
    stop: Annotated[float | None, typer.Option("--to", help="Last tolerance.", show_default="0.2, or a ratio of 1")] = (
        None
    )
    points: Annotated[int, typer.Option(help="Number of tolerances.")] = 41
    exact: Annotated[bool, typer.Option("--exact", help="Find every breakpoint instead of sampling.")] = False
    require: options.Require = None
    objective: options.Objective = "accuracy"
    ratio: Annotated[
        str | None,
        typer.Option(
            help="Instead of a notion, hold the ratio of this rate between groups, such as 'selection rate' for the "
            "four-fifths rule; --from and --to are then ratios (0.5 to 1)."
        ),
    ] = None
    confidence: Annotated[
        float | None,
        typer.Option(help="Certify the tolerances for people whom nobody has seen, with a confidence such as 0.95."),
    ] = None
    uncertified: Annotated[
        str,
        typer.Option(
            help="Where the rows cannot certify a tolerance: 'best' is the rule that comes nearest, 'constant' lets "
            "decisions depend less on the person, as far as it takes, 'raise' stops."
        ),
    ] = "best"

    def check(self) -> Asked:
        """Read what was written, before any rows are read."""
        from fairlimits.limits import Uncertified
        from fairlimits.notions import check_names, rate_name, read_objective, read_requirements

        if self.ratio is not None and (self.notion or self.exact):
            raise InputError(
                "--ratio takes the place of --notion, and has no exact breakpoints; leave --notion and --exact out."
            )
        moving = () if self.ratio is not None else check_names(self.notion or ["DP"])
        fixed = _fixed(self.fix or [], moving)
        first, last = self._ends()
        if self.uncertified not in get_args(Uncertified):
            raise InputError(f"--uncertified is {self.uncertified!r}; it must be 'best', 'constant' or 'raise'.")
        asked = Asked(
            question=self,
            moving=moving,
            fixed=fixed,
            ends=(first, last),
            settings={
                "requirements": read_requirements(self.require or []),
                "objective": read_objective(self.objective),
                **self._certificate(),
            },
            ratio=None if self.ratio is None else rate_name(self.ratio),
        )
        if self.confidence is not None and (asked.ratio is not None or self.exact or self.require or asked.alike):
            raise InputError(
                "--confidence is for the gaps of group notions at given tolerances; leave --confidence out, or "
                "--ratio, --exact, --require and IF."
            )
        return asked

    def _ends(self) -> tuple[float, float]:
        first, last = _NOTION_ENDS if self.ratio is None else _RATIO_ENDS
        first, last = first if self.start is None else self.start, last if self.stop is None else self.stop
        if self.points > _MOST_POINTS:
            raise InputError(f"--points {self.points} is more than {_MOST_POINTS:,}; --exact gives every breakpoint.")
        if self.points < 2 or not (math.isfinite(first) and math.isfinite(last) and 0 <= first < last):
            raise InputError(
                f"--from {first:g} --to {last:g} --points {self.points} gives no range; "
                "start at 0 or above, end higher, with at least 2 points."
            )
        return first, last

    def _certificate(self) -> dict[str, Any]:
        return {} if self.confidence is None else {"confidence": self.confidence, "uncertified": self.uncertified}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question that was checked: notions whose tolerance moves, or a ratio that does, and all that stays."""

    question: Question
    moving: tuple[str, ...]
    fixed: Mapping[str, float]
    ends: tuple[float, float]
    settings: Mapping[str, Any]
    ratio: str | None

    @property
    def exact(self) -> bool:
        """Whether every breakpoint is asked for."""
        return self.question.exact

    @property
    def alike(self) -> bool:
        """Whether people who are alike are compared."""
        from fairlimits.notions import INDIVIDUAL

        return INDIVIDUAL in (*self.moving, *self.fixed)

    @property
    def title(self) -> str:
        """The head of the column of tolerances."""
        return " and ".join(self.moving) + " <=" if self.moving else f"{self.ratio} ratio >="

    @property
    def held(self) -> list[str]:
        """What holds everywhere on the curve, in words."""
        return [*(f"{name} <= {value:g}" for name, value in self.fixed.items()), *self._required]

    @property
    def _required(self) -> list[str]:
        return [str(each) for each in self.settings["requirements"]]

    def grid(self) -> Floats:
        """The tolerances, or ratios, to solve at."""
        import numpy as np

        return np.linspace(*self.ends, self.question.points)

    def record(self) -> dict[str, Any]:
        """What a file says of the question."""
        known: dict[str, Any] = {"fixed": dict(self.fixed)}
        if self._required:
            known["requirements"] = self._required
        if self.question.objective != "accuracy":
            known["objective"] = self.question.objective
        return known | {name: self.settings[name] for name in ("confidence", "uncertified") if name in self.settings}


def _fixed(given: list[str], moving: tuple[str, ...]) -> dict[str, float]:
    from fairlimits.notions import check_names

    fixed = {}
    for text in given:
        name, _, value = text.partition("=")
        try:
            fixed[name] = float(value)
        except ValueError:
            raise InputError(f"--fix {text} is not understood; write a notion and a number, as in IF=0.1.") from None
    check_names([*moving, *fixed])
    return fixed
