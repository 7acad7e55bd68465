"""``fairlimits scenarios``: the four situations side by side, plug-in and held out."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairlimits._util.percentages import hundredfold
from fairlimits.apps.cli import options
from fairlimits.apps.cli.data_options import AnySizeOptions, say_small_groups
from fairlimits.apps.cli.option_groups import expand_groups
from fairlimits.apps.cli.terminal import check_outputs, print_table, progress_bar, say, write_csv, write_json
from fairlimits.errors import SmallGroupsWarning

if TYPE_CHECKING:
    from fairlimits._util.types import Ints
    from fairlimits.data import Dataset, Stream
    from fairlimits.evaluation import Scenarios

_FIGURES = "plug-in: as the estimate has it; held out: on rows that took no part in making the rules, with intervals"

_SHOWN = ("selection rate", "true positive rate", "false positive rate", "accuracy", "precision", "selection ratio")


@expand_groups
def scenarios(
    table: AnySizeOptions,
    *,
    tolerance: Annotated[
        list[str] | None,
        typer.Option("--tolerance", "-t", help="Largest gap of a notion, such as DP=0.05 (repeatable)."),
    ] = None,
    correlation: Annotated[
        float, typer.Option(help="Largest correlation of features and group that counts as decorrelated.")
    ] = 0.0,
    prediction: Annotated[
        str | None,
        typer.Option(
            help="Column of a model's decisions or scores, to be compared with the limit; it is not a feature."
        ),
    ] = None,
    threshold: options.Threshold = None,
    test_size: Annotated[float, typer.Option(help="Share of the rows to evaluate on.")] = 0.3,
    certify: Annotated[
        bool,
        typer.Option("--certify", help="Have tolerances hold for people whom nobody has seen, with the confidence."),
    ] = False,
    confidence: Annotated[float, typer.Option(help="Confidence of the intervals, and of --certify.")] = 0.95,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to a .csv or .json file.")] = None,
    by_group: options.ByGroup = None,
    suppress: options.Suppress = None,
    ceiling: options.Ceiling = False,
    seed: options.Seed = 0,
) -> dict[str, Any]:
    """Compare the four situations: the group seen or hidden, the features decorrelated from it or not.

    Every figure is given twice: as the estimate has it (plug-in), and on rows that took no part (held out).

    Examples
    --------
      fairlimits scenarios adult

      fairlimits scenarios adult -t EOd=0.05 -t DP=0.1 -o table.csv

      fairlimits scenarios adult -t EOd=0.05 --certify

      fairlimits scenarios loans.csv --label paid --positive yes --sensitive sex --prediction decided

      fairlimits scenarios 'loans/*.parquet' --label paid --positive yes --sensitive sex --ceiling
    """
    table.expect_learning()

    from fairlimits.data import Dataset, small_groups_note
    from fairlimits.evaluation import compare_scenarios
    from fairlimits.notions import check_tolerances

    check_outputs([table.data], (output, (".csv", ".json")), (by_group, (".csv",)))
    tolerances = check_tolerances(options.read_tolerances(tolerance or ["DP=0.05"]))
    if prediction is not None:
        numeric = list(dict.fromkeys([*(table.numeric or []), prediction]))
        table = replace(table, numeric=numeric).also_keeping(prediction)
    people = table.open()
    if isinstance(people, Dataset):
        say_small_groups(people, suppress)
    notes: list[str] = []
    with progress_bar("Scenarios") as tell, _noted(notes):
        groups, counts = _groups(people)
        found = compare_scenarios(
            people,
            tolerances,
            correlation=correlation,
            test_size=test_size,
            predictions=prediction,
            threshold="auto" if threshold is None else threshold,
            certify=certify,
            suppress=suppress,
            ceiling=ceiling,
            confidence=confidence,
            random_state=seed,
            progress=tell,
        )
    further = _set_aside(found, groups, counts)
    if further is not None:
        say(further)
    _print(found, tolerances)
    notes = [*found.doubts, *notes]
    for note in notes:
        say(f"Note: {note}")
    if suppress is None and (needed := _rows_needed(found, counts, tolerances)):
        say(needed)
    made = {"data": table.data, "seed": seed, "test size": test_size, "certify": certify}
    settled = small_groups_note(people, counted=suppress is None) if isinstance(people, Dataset) else None
    kept = [note for note in (settled, further, *notes) if note is not None]
    record = {"made from": made, "figures": _FIGURES, **found.to_dict(), "notes": kept}
    if output is not None:
        _write(output, found, record)
    if by_group is not None:
        write_csv(by_group, found.rates_to_frame())
        say(f"Rates by group written to {by_group}.")
    return record


@contextmanager
def _noted(notes: list[str]) -> Iterator[None]:
    """Gather in `notes` the warnings raised while rules are made, each once, to be printed below the findings."""
    from fairlimits.evaluation import BeatenWarning
    from fairlimits.limits import MarginWarning, UncertifiedWarning

    kinds = (MarginWarning, SmallGroupsWarning, UncertifiedWarning)
    with warnings.catch_warnings(record=True) as caught:
        # Its message is among the findings.
        warnings.simplefilter("ignore", BeatenWarning)
        for kind in kinds:
            warnings.simplefilter("always", kind)
        yield
    notes += dict.fromkeys(str(own.message) for own in caught if issubclass(own.category, kinds))


def _groups(people: Dataset | Stream) -> tuple[tuple[str, ...], Ints]:
    """Groups, and rows that count by group and label."""
    from fairlimits.data import Dataset

    if isinstance(people, Dataset):
        return people.groups, people.counts
    learned = people.learn()
    return learned.schema.groups, learned.counts


def _set_aside(found: Scenarios, groups: Sequence[str], counts: Ints) -> str | None:
    """Which groups are too small on the held-out rows alone."""
    from fairlimits.data import set_aside_note

    held_out = found.situations[0].evaluation.counts
    # Where counts are suppressed, nothing is said that could give them away.
    if held_out is None:
        return None
    return set_aside_note(groups, held_out, " on the held-out rows", beyond=counts)


def _write(output: Path, found: Scenarios, record: Mapping[str, Any]) -> None:
    if output.suffix.lower() == ".csv":
        write_csv(output, found.to_frame())
    else:
        write_json(output, record)
    say(f"Written to {output}.")


def _print(found: Scenarios, tolerances: Mapping[str, float]) -> None:
    group_notions = [name for name in tolerances if name != "IF"]
    rows = []
    shown = any(own.ceiling is not None for own in found.situations)
    for own in found.situations:
        held = own.evaluation
        left = "" if math.isnan(own.correlation) else f"{own.correlation:.3f}"
        gaps = [held.gaps[name].hundredths() for name in group_notions]
        name = f"{own.name}; same score for all" if own.constant else own.name
        above = [] if not shown else ["" if own.ceiling is None else hundredfold(own.ceiling.upper)]
        rows.append((name, hundredfold(held.plug_in), held.accuracy.hundredths(), *above, *gaps, left))
    passed = ["no rule passes"] if shown else []
    heads = ("situation", "plug-in", "held out", *passed, *(f"gap {name}" for name in group_notions), "correlation")
    asked = ", ".join(f"{name} <= {value:g}" for name, value in tolerances.items())
    rows_of = f"{found.learned:,} rows learned, {found.tested:,} held out"
    print_table(heads, rows, f"Accuracy in percent with {asked}, and gaps in points ({rows_of})")
    say()
    print_table(
        ("situation", "group", "selected", "TPR", "FPR", "accuracy", "precision", "selection ratio"),
        _rates(found),
        "Rates of each group in percent, held out (with intervals: --by-group FILE.csv, or -o FILE.json)",
    )
    say()
    print_table(
        ("cost in points of accuracy", "plug-in", "held out, paired"),
        [(cost.name, hundredfold(cost.plug_in, "+"), cost.held_out.hundredths(sign="+")) for cost in found.costs],
    )
    say()
    say(found.summary())
    say(f"The estimate of P(A, Y | x) is off by {found.calibration_error:.4f} on average, out of fold (calibration).")
    if found.audit is not None:
        say()
        say(str(found.audit))


def _rates(found: Scenarios) -> list[tuple[str, ...]]:
    """How each group fares in each situation, without intervals."""
    from fairlimits.notions import rows_text

    lines = []
    for own in found.situations:
        rates = own.evaluation.by_group
        for g, group in enumerate(rates.groups):
            figures = [rates.shown[name][g] for name in _SHOWN]
            cells = [hundredfold(each.value) if each.known else str(each) for each in figures]
            lines.append(("" if g else own.name, f"{group} ({rows_text(rates.rows[g] or 0)})", *cells))
    return lines


def _rows_needed(found: Scenarios, counts: Ints, tolerances: Mapping[str, float]) -> str:
    """Say for each tolerance how many rows it takes to certify it between the smallest two groups that are compared."""
    from fairlimits.evaluation import rows_needed

    asked = {name: value for name, value in tolerances.items() if name != "IF" and value < 1}
    needed = rows_needed(counts, {name: value for name, value in asked.items() if value > 0})
    words = []
    for name, tolerance in asked.items():
        if tolerance == 0:
            words.append(f"That a gap in {name} is exactly 0 cannot be shown by any number of rows.")
        elif name in needed:
            words.append(
                f"To show that a gap in {name} between the two smallest groups is at most {tolerance:g}, if it "
                f"is 0, takes about {needed[name]:,} held-out rows in the worst case; there are {found.tested:,}."
            )
    return " ".join(words)
