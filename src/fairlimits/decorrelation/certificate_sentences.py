"""What attacks on a map show, in words chosen by their figures and intervals."""

from __future__ import annotations

import math

from fairlimits._util.small_samples import ESTIMABLE_ROWS
from fairlimits.decorrelation.adversaries import Attack

SIGNIFICANT = 0.05
"""A p-value above it shows nothing."""

# Area under the ROC curve of an adversary who guesses.
_GUESSING = 0.5


def adversary_words(before: Attack, after: Attack, confidence: float) -> str:
    """Say how well a group is told from mapped features, and whether these rows can show it.

    Parameters
    ----------
    before, after : Attack
        The best attacks on the features as they were and on mapped ones, without the label.
    confidence : float
        Of their intervals.
    """
    if math.isnan(after.auc):
        return (
            "Whether adversaries tell the group from the mapped features is not estimable: it takes "
            f"{ESTIMABLE_ROWS} rows of a group, and of all others."
        )
    words = (
        f"The better of two adversaries tells the group {after.group} from the mapped features with an AUC of "
        f"{after.auc:.3f} ({confidence:.0%} interval {after.low:.3f} to {after.high:.3f}; before: {before.auc:.3f}); "
        "0.5 is guessing"
    )
    if after.low > _GUESSING:
        return f"{words}, so something of the group is left in them."
    if not before.low > _GUESSING:
        return f"{words}, but before the map no adversary was clearly better either, so this shows nothing of the map."
    if after.high >= before.auc:
        return f"{words}, but the interval reaches what was told before: on so few rows this shows nothing of the map."
    return f"{words}, and these rows show no better."


def with_label_words(after: Attack, with_label: Attack) -> str:
    """Say what an adversary who knows the label too finds, and what no map can do about it.

    Parameters
    ----------
    after, with_label : Attack
        The best attacks on mapped features, without the label and with it.
    """
    if math.isnan(with_label.auc):
        return "Whether an adversary who also knows the label tells it is not estimable."
    words = (
        f"An adversary who also knows the label reaches {with_label.auc:.3f} ({with_label.low:.3f} to "
        f"{with_label.high:.3f})"
    )
    if not with_label.low > _GUESSING:
        return f"{words}, which is not clearly better than guessing."
    if after.low > _GUESSING:
        return f"{words}: what the label itself tells of the group, no map of the features can prevent."
    return f"{words}: no map of the features can prevent that while the label itself depends on the group."
