"""The exception tree: every error that fairlimits raises on purpose.

::

    FairlimitsError
    ├── InputError (also a ValueError)      something that was passed in cannot be used
    │   ├── DataError                       a table, a column or a value in it
    │   └── FileError                       a file that cannot be read, or is not ours
    ├── DatasetUnavailableError             a benchmark's file is nowhere to be found
    ├── MissingExtraError (also ImportError)  an optional dependency is not installed
    ├── InfeasibleError                     no decision rule meets the constraints
    └── SolverError (also RuntimeError)     the solver ended without a proven optimum

Each message says what came, what is needed and what to do. `SmallGroupsWarning` is here too: rooms that know nothing of
each other warn of the same; and `ColumnsWarning` and `ConstantRuleWarning`: the command line knows them before any room
is loaded.
"""

from __future__ import annotations


class FairlimitsError(Exception):
    """Base of every error that fairlimits raises on purpose.

    Examples
    --------
    >>> import fairlimits as fl
    >>> try:
    ...     fl.load_dataset("adlut")
    ... except fl.FairlimitsError as error:
    ...     print(error)
    There is no data set 'adlut': use adult, law, dutch, or the path of a CSV or Parquet file. Did you mean 'adult'?
    """


class InputError(FairlimitsError, ValueError):
    """An argument, option or value that cannot be used.

    Parameters
    ----------
    *words : object
        The message.
    shell : str, optional
        The message for the command line, where it is not the same: options have other spellings there.

    Attributes
    ----------
    shell : str
        The message in the words of the command line.

    Examples
    --------
    >>> import fairlimits as fl
    >>> dist = fl.CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]])
    >>> try:
    ...     fl.solve(dist, {"DP": -1})
    ... except fl.InputError as error:
    ...     print(error)
    The tolerance of DP is -1; it must be at least 0.
    """

    def __init__(self, *words: object, shell: str | None = None) -> None:
        super().__init__(*words)
        self.shell = str(self) if shell is None else shell


class DataError(InputError):
    """A table, a column or a value in it that cannot be used."""


class FileError(InputError):
    """A file that cannot be read or written, or that is not one of ours."""


class DatasetUnavailableError(FairlimitsError):
    """A benchmark data set whose file is nowhere to be found."""


class MissingExtraError(FairlimitsError, ImportError):
    """An optional dependency is not installed."""


class InfeasibleError(FairlimitsError):
    """No decision rule meets the constraints.

    Attributes
    ----------
    relaxations : dict of str to str
        For each constraint whose relaxation alone restores feasibility, what it would have to become.

    Examples
    --------
    >>> import fairlimits as fl
    >>> dist = fl.CellDistribution.from_mass([[[2, 1], [1, 0]], [[0, 1], [2, 3]]])
    >>> try:
    ...     fl.solve(dist, {}, requirements=["selection rate <= 0.1", "true positive rate >= 0.6"])
    ... except fl.InfeasibleError as error:
    ...     print(error.relaxations)
    {'selection rate <= 0.1': 'selection rate <= 0.45001', 'true positive rate >= 0.6': 'true positive rate >= 0.13333'}
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.relaxations: dict[str, str] = {}


class SolverError(FairlimitsError, RuntimeError):
    """The solver ended without a proven optimum.

    Examples
    --------
    >>> import fairlimits as fl
    >>> issubclass(fl.SolverError, RuntimeError)  # raised rather than a value that is not proven
    True
    """


class SmallGroupsWarning(UserWarning):
    """Groups are too small to speak about, and were set aside, joined or dropped; or nothing is left to compare."""


class ColumnsWarning(UserWarning):
    """Columns of a table were not read as they are: rare values were grouped, or dates became numbers."""


class ConstantRuleWarning(UserWarning):
    """The best rule gives everybody the same score."""
