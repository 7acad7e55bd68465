"""Requirements and objectives read from text, as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fairlimits._util.suggestions import did_you_mean
from fairlimits.errors import InputError
from fairlimits.notions.objectives import ACCURACY, BALANCED_ACCURACY, Costs, Objective
from fairlimits.notions.requirements import FOUR_FIFTHS, Against, Difference, Limit, Ratio
from fairlimits.notions.rows import Requirement

_NUMBER = r"(\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"
_COSTS = re.compile(rf"costs (?P<fp>{_NUMBER}):(?P<fn>{_NUMBER})", re.IGNORECASE)

# All that stands inside a group's name, such as two spaces, belongs to the name.
_TEXT = re.compile(
    r"(?P<rate>.+?)\s*"
    r"(?:(?P<ratio>\bratio)|(?P<difference>\bdifference)(?:\s+from\s+the\s+(?P<against>rest|average))?"
    r"|\bof\s+(?P<group>.+?))?"
    r"\s*(?P<side>>=|<=)\s*(?P<bound>[^<>=]+)",
    re.DOTALL,
)


def read_requirements(given: Iterable[Requirement | str] | Requirement | str) -> tuple[Requirement, ...]:
    """Read requirements, each an object or a text such as ``selection rate ratio >= 0.8``."""
    several = [given] if isinstance(given, Requirement | str) else given
    if not isinstance(several, Iterable):
        raise InputError(f"The requirements are {given!r}; give a list such as ['selection rate <= 0.3'].")
    return tuple(_read(requirement) for requirement in several)


def _read(given: Requirement | str) -> Requirement:
    if isinstance(given, Requirement):
        return given
    if not isinstance(given, str):
        raise InputError(f"The requirement {given!r} is not text; write it as in 'selection rate ratio >= 0.8'.")
    text = given.strip()
    if " ".join(text.lower().split()).removesuffix(" rule") in ("four-fifths", "four fifths", "80%", "4/5"):
        return FOUR_FIFTHS
    found = _TEXT.fullmatch(text)
    if found is None:
        raise InputError(
            f"The requirement {given!r} is not understood; write it as in 'selection rate <= 0.3', 'accuracy of Female "
            ">= 0.8', 'selection rate ratio >= 0.8' or 'error rate difference <= 0.05'."
        )
    try:
        bound = float(found["bound"])
    except ValueError:
        raise InputError(f"The bound of {given!r} is not a number; write it as in 'selection rate <= 0.3'.") from None
    least = found["side"] == ">="
    rate = found["rate"].lower()
    if found["group"] and rate.endswith((" ratio", " difference")):
        raise InputError(
            f"{given!r} asks for a comparison of one group, and a {rate.rsplit(' ', 1)[1]} compares all groups: leave "
            f"'of {found['group']}' out."
        )
    if found["ratio"]:
        if not least:
            raise InputError(f"{given!r} bounds a ratio from above; a ratio is kept by >=, as in '... ratio >= 0.8'.")
        return Ratio(found["rate"], bound)
    if found["difference"]:
        if least:
            raise InputError(f"{given!r} asks for a difference; one is kept by <=, as in '... difference <= 0.05'.")
        against: Against = "each other"
        if found["against"]:
            against = "the rest" if found["against"] == "rest" else "the average"
        return Difference(found["rate"], bound, against)
    return Limit(found["rate"], bound if least else None, None if least else bound, found["group"])


def read_objective(given: Objective | str) -> Objective:
    """Read an objective from its name: accuracy, balanced accuracy, or ``costs FP:FN`` such as ``costs 1:5``."""
    if isinstance(given, Objective):
        return given
    if isinstance(given, str):
        for known in (ACCURACY, BALANCED_ACCURACY):
            if given.strip().lower() == known.name:
                return known
        found = _COSTS.fullmatch(given.strip())
        if found:
            return Costs(float(found["fp"]), float(found["fn"]))
    raise InputError(
        f"The objective is {given!r}; give 'accuracy', 'balanced accuracy', or the costs of a false positive and a "
        f"false negative, as in 'costs 1:5'.{did_you_mean(given, (ACCURACY.name, BALANCED_ACCURACY.name))}"
    )
