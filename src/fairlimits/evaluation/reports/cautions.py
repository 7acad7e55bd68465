"""What a reader must know before the figures of a report are used, each with a kind that programs can go by."""

from __future__ import annotations

import math
from collections.abc import Iterator

from fairlimits._util.small_samples import listed
from fairlimits._util.suppression import SUPPRESSED_TEXT
from fairlimits.data import Concern, small_groups_note
from fairlimits.evaluation.reports.held_out import HeldOut
from fairlimits.evaluation.reports.on_cells import OnCells
from fairlimits.evaluation.reports.parts import FEW_TO_CERTIFY, SMALL_GROUPS, Caution
from fairlimits.evaluation.reports.suppression import Suppression
from fairlimits.evaluation.reports.surveys import Survey
from fairlimits.evaluation.row_counts import rows_needed
from fairlimits.notions import NOTIONS, title

# Gap that rows are asked to certify.
_CERTIFIED = 0.05

# Twice the largest standard deviation of a share of n people is 1 / sqrt(n).
_SURE_WITHIN = 0.02


def find_cautions(data: Survey, held_out: HeldOut, on_cells: OnCells, withhold: Suppression) -> tuple[Caution, ...]:
    """Collect what columns, few rows and unmet tolerances leave in doubt.

    Parameters
    ----------
    data : Survey
        The table.
    held_out, on_cells
        What was found on them.
    withhold : Suppression
        What to leave out.
    """
    return (
        *_suppressed(data, withhold),
        *_small_groups(data, held_out, withhold),
        *(Caution(own.kind, own.columns, _text(own, withhold)) for own in data.concerns),
        *_held_out_by(data),
        *_few_rows(data, held_out, on_cells),
        *_few_learned(on_cells),
        *_few_to_certify(data, held_out, withhold),
        *(Caution("tolerance not met", (), note) for note in held_out.notes),
    )


def _text(concern: Concern, withhold: Suppression) -> str:
    """What is to be said of columns, without the number of people where that may be small."""
    name = listed(concern.columns)
    if withhold.least is not None and concern.kind == "empty":
        return f"{name} has hardly any value: leave it out, for it says nothing."
    if withhold.least is not None and concern.kind == "grouped":
        return f"The rare values of {name} are grouped as one."
    return concern.text


def _suppressed(data: Survey, withhold: Suppression) -> Iterator[Caution]:
    """Say what is left out to protect people."""
    if withhold.least is None:
        return
    text = (
        f"Suppressed, to protect people: counts and rates that rest on fewer than {withhold.least} people, and others "
        "from which these could be worked out."
    )
    if withhold.hidden:
        text += f" Groups whose number is suppressed: {listed(withhold.hidden)}."
    yield Caution(SUPPRESSED_TEXT, data.schema.sensitive, text)


def _small_groups(data: Survey, held_out: HeldOut, withhold: Suppression) -> Iterator[Caution]:
    """Say which groups are too small to speak about, in the table and, if they are more, among held-out rows."""
    for note in (small_groups_note(data, counted=withhold.least is None), held_out.set_aside):
        if note is not None:
            yield Caution(SMALL_GROUPS, (*data.schema.sensitive, data.schema.label), note)


def _held_out_by(data: Survey) -> Iterator[Caution]:
    """Say what rows that are not in memory were held out by."""
    if data.told_apart_by is not None:
        yield Caution("held out", (), f"People were held out by {data.told_apart_by}.")


def _few_rows(data: Survey, held_out: HeldOut, on_cells: OnCells) -> Iterator[Caution]:
    """Say which gaps are not shown, for no two groups are left to compare."""
    unknown = {
        "on held-out rows": dict.fromkeys(own.notion for own in held_out.costs if own.gap is None),
        "on the rows learned from": dict.fromkeys(own.notion for own in on_cells.prices if not own.estimable),
    }
    words = [f"in {', '.join(map(title, notions))} {where}" for where, notions in unknown.items() if notions]
    if words:
        yield Caution(
            "few rows",
            (*data.schema.sensitive, data.schema.label),
            f"Not estimable, for no two groups are left to compare: gaps {', and '.join(words)}.",
        )


def _few_learned(on_cells: OnCells) -> Iterator[Caution]:
    """Say that chance is a visible part of plug-in figures, because few people stand behind them."""
    within = 1 / math.sqrt(on_cells.rows)
    if within > _SURE_WITHIN:
        yield Caution(
            "few rows learned from",
            (),
            f"The law was learned from {on_cells.rows:,} rows: by chance alone, plug-in accuracies can be off by "
            f"{100 * within:.0f} points or more. Go by the held-out figures and their intervals.",
        )


def _few_to_certify(data: Survey, held_out: HeldOut, withhold: Suppression) -> Iterator[Caution]:
    """Say which gaps the held-out rows could not show to be small, even if they were 0, and how many rows could."""
    # The number of rows that it takes would give away how many people the smallest groups have.
    needed = rows_needed(data.counts, dict.fromkeys(NOTIONS, _CERTIFIED), ~withhold.labels)
    short = {name: rows for name, rows in needed.items() if rows > held_out.tested}
    if short:
        most = ", ".join(f"{rows:,} for {title(name)}" for name, rows in short.items())
        yield Caution(
            FEW_TO_CERTIFY,
            (*data.schema.sensitive, data.schema.label),
            f"Too few rows to show that a gap is at most {100 * _CERTIFIED:g} points, even if it is 0: there are "
            f"{held_out.tested:,} held out, and in the worst case it takes about {most}.",
        )
