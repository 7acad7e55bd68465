"""Cross-fitting of the package's own learners: q(x) as a product of two-way chances, each by an average of learners.

In every fold each learner is fitted to the rows of the other folds. One fold goes first, and tells how many trees are
worth growing. Then one number of trees is picked for all folds, and the learners whose plain average has the lowest
log-loss, both on rows that the learners did not see. Nothing is refitted: new rows get the average over the folds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np
from scipy.special import expit, logit

from fairlimits._util.types import Flags, Floats, Ints
from fairlimits._util.workers import Team
from fairlimits.data import Dataset, Encoding
from fairlimits.law.outcome.codes import Bytes, Codes
from fairlimits.law.outcome.ensembles import Ensemble, Member
from fairlimits.law.outcome.learners import (
    MANY_ROWS,
    Booster,
    Learner,
    Logistic,
    OverallRate,
    Sample,
    fit_booster,
    fit_first,
    fit_logistic,
    learners_for,
    losses_by_trees,
    pick_count,
)
from fairlimits.law.outcome.models import SplitLaw
from fairlimits.law.outcome.splits import LEAST_CHANCE, GroupSplit, best_average, group_splits, log_loss
from fairlimits.law.outcome.trees import Singles

Result = TypeVar("Result")

# Logistic regression has few coefficients: of more rows than this, every second, or third, is enough.
_ENOUGH_FOR_LINES = 250_000

# Trees that are grown where no rows are held out for early stopping.
_BLIND_TREES = 50


@dataclass(frozen=True, eq=False)
class Question:
    """A two-way chance to be learned.

    Parameters
    ----------
    name : str
        What it is called in tables.
    rows : ndarray of int
        People of the table that it is asked of, all with positive weight.
    target : ndarray of bool of shape (n,)
        The class, for everybody in the table.
    given : bool
        Whether the label is given beside the features.
    """

    name: str
    rows: Ints
    target: Flags
    given: bool


@dataclass(frozen=True, eq=False)
class Fit:
    """One learner, fitted in one fold.

    Parameters
    ----------
    learner : Learner
        The learner; a booster may have shortened its steps.
    member : Member
        What was learned.
    losses : ndarray of shape (T,), optional
        For a booster, the sum of log-losses on held-out rows after each tree.
    trees : int
        For a booster's first fit, how many trees the other folds should grow.
    """

    learner: Learner
    member: Member
    losses: Floats | None = None
    trees: int = _BLIND_TREES


@dataclass(frozen=True, eq=False)
class Answer:
    """What was learned of a question.

    Parameters
    ----------
    members : tuple of tuple of Member
        For each fold, the learners whose chances are averaged.
    losses : mapping of str to float
        Out-of-fold log-loss of every learner tried in all folds, and of the average that was chosen.
    chosen : tuple of str
        The learners that are averaged.
    """

    members: tuple[tuple[Member, ...], ...]
    losses: Mapping[str, float]
    chosen: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Table:
    """The people that are learned from, as the learners see them, and all that is to be learned.

    Parameters
    ----------
    data : Dataset
        The people.
    fold : ndarray of int of shape (n,)
        Fold of each.
    folds, random_state : int
        Number of folds, and seed of the learners.
    weight : ndarray of shape (n,)
        Weights of the rows, 1 on average: penalties of learners are relative to that.
    codes, encoding : Codes, Encoding
        How trees, and how logistic regression, see features.
    coded : ndarray of uint8 of shape (n, features + 1)
        The rows as trees see them; the label comes last.
    splits : tuple of GroupSplit
        The splits that tell the groups apart.
    questions : tuple of Question
        The label, then the splits.
    """

    data: Dataset
    fold: Ints
    folds: int
    random_state: int
    weight: Floats
    codes: Codes
    encoding: Encoding
    coded: Bytes
    splits: tuple[GroupSplit, ...]
    questions: tuple[Question, ...]

    @classmethod
    def of(cls, data: Dataset, fold: Ints, folds: int, random_state: int) -> Table:
        """Prepare a table."""
        weight = data.shares * data.n_rows
        codes, encoding = Codes.fit(data), Encoding.fit(data)
        coded = np.column_stack([codes.transform(data.columns, data.n_rows), data.label.astype(np.uint8)])
        splits = group_splits([float(weight[data.group == g].sum()) for g in range(len(data.groups))])
        counted = weight > 0
        questions = [Question("P(Y|x)", np.flatnonzero(counted), data.label == 1, False)]
        for split in splits:
            rows = np.flatnonzero(counted & np.isin(data.group, split.first + split.second))
            questions.append(Question(split.name(data.groups), rows, np.isin(data.group, split.second), True))
        return cls(data, fold, folds, random_state, weight, codes, encoding, coded, splits, tuple(questions))

    def sample(self, question: Question, rows: Ints) -> Sample:
        """Return rows of a question as trees see them."""
        codes = self.coded[rows] if question.given else self.coded[rows, :-1]
        return Sample(codes, question.target[rows], None if self.data.weight is None else self.weight[rows])

    def seen_by_line(self, question: Question, rows: Ints) -> Singles:
        """Return rows of a question as logistic regression sees them, encoded only when needed, to save memory."""
        encoded = self.encoding.transform({name: own[rows] for name, own in self.data.columns.items()}, len(rows))
        return np.column_stack([encoded, self.data.label[rows].astype(np.float32)]) if question.given else encoded

    def parts(self, question: Question, k: int) -> tuple[Ints, Ints]:
        """Return the rows of a question to learn from in a fold, and those held out."""
        rows, held = question.rows, self.fold[question.rows] == k
        return rows[~held], rows[held]

    def first_fold(self, question: Question) -> int:
        """Return the fold that is fitted first: one with both classes to learn from, and rows held out."""
        for k in range(self.folds):
            seen, held = self.parts(question, k)
            if len(held) and len(np.unique(question.target[seen])) == 2:
                return k
        return 0

    def fit(self, team: Team, question: Question, learner: Learner, k: int, seed: int, trees: int | None = None) -> Fit:
        """Fit a learner in a fold; a booster without a number of trees finds it by early stopping."""
        seen, held = self.parts(question, k)
        if isinstance(learner, OverallRate) or len(np.unique(question.target[seen])) < 2:
            return Fit(learner, Member(self._overall(question, seen)))
        if isinstance(learner, Logistic):
            some = seen[:: -(-len(seen) // _ENOUGH_FOR_LINES)]
            if len(np.unique(question.target[some])) < 2:
                return Fit(learner, Member(self._overall(question, seen)))
            return Fit(learner, fit_logistic(self.seen_by_line(question, some), self.sample(question, some)))
        sample = self.sample(question, seen)
        sizes, nominal = self.codes.sizes, self.codes.nominal
        if question.given:
            sizes, nominal = (*sizes, 2), (*nominal, False)
        # Only growing trees runs much Python code, and so pays in another process; libraries do the rest.
        return team.call(_boosted, learner, sizes, nominal, sample, self.sample(question, held), seed, trees)

    def _overall(self, question: Question, seen: Ints) -> float:
        """Return the log-odds of the overall rate, with half a pseudo-row of each class in the table."""
        hits, total = self.weight[seen] @ question.target[seen], self.weight[seen].sum()
        there = [bool((question.target[question.rows] == own).any()) / 2 for own in (True, False)]
        rate = (hits + there[0]) / (total + sum(there)) if total + sum(there) > 0 else 0.5
        return float(logit(np.clip(rate, LEAST_CHANCE, 1 - LEAST_CHANCE)))

    def chances(self, question: Question, member: Member, rows: Ints) -> Floats:
        """Return the chance that a member gives to some of the rows of a question."""
        score = np.full(len(rows), member.base)
        if member.trees is not None:
            score += member.trees.scores(self.sample(question, rows).codes)
        if member.coefficients is not None:
            score += self.seen_by_line(question, rows) @ member.coefficients
        return np.asarray(expit(score))

    def law(self, answers: Sequence[Answer], folds: Sequence[int]) -> SplitLaw:
        """Put together what was learned in some folds."""
        sizes, columns = self.codes.sizes, self.encoding.n_columns
        members = [[member for k in folds for member in answer.members[k]] for answer in answers]
        return SplitLaw(
            self.codes,
            self.encoding,
            self.splits,
            Ensemble.of(members[0], sizes, columns),
            tuple(Ensemble.of(own, (*sizes, 2), columns + 1) for own in members[1:]),
            len(folds),
        )


def _boosted(
    booster: Booster,
    sizes: tuple[int, ...],
    nominal: tuple[bool, ...],
    sample: Sample,
    held: Sample,
    seed: int,
    trees: int | None,
) -> Fit:
    if trees is None and len(held.target):
        booster, member, trees = fit_first(booster, sizes, nominal, sample, held, seed)
    else:
        trees = trees or _BLIND_TREES
        member = fit_booster(booster, sizes, nominal, sample, trees, seed)
    return Fit(booster, member, losses_by_trees(member, held), trees)


def fit_law(table: Table, team: Team, tell: Callable[[int, int], None]) -> tuple[SplitLaw, Floats, dict[str, Answer]]:
    """Learn q on a table.

    Parameters
    ----------
    table : Table
        The people.
    team : Team
        The team that fits.
    tell : callable
        Called with the number of fits done and the number of all fits.

    Returns
    -------
    law : SplitLaw
        For new rows.
    q : ndarray of shape (n, G, 2)
        Each row's estimate by learners that did not see it.
    answers : dict of str to Answer
        What was learned of each question.
    """
    questions, first = table.questions, [table.first_fold(own) for own in table.questions]
    pools = [learners_for(len(own.rows), _both(own)) for own in questions]
    total = table.folds * sum(map(len, pools))

    def job(at: int, number: int, learner: Learner, k: int, trees: int | None = None) -> Callable[[], Fit]:
        seed = (table.random_state + number * table.folds + k) % 2**32
        return partial(table.fit, team, questions[at], learner, k, seed, trees)

    keys = [(at, number) for at, own in enumerate(pools) for number in range(len(own))]
    fits: dict[tuple[int, int, int], Fit] = {}
    found = run_jobs(
        team.threads, [job(*key, pools[key[0]][key[1]], first[key[0]]) for key in keys], lambda n: tell(n, total)
    )
    for (at, number), own in zip(keys, found, strict=True):
        fits[at, number, first[at]] = own
    keys = [key for key in keys if not _is_idle(table, questions[key[0]], first[key[0]], fits, key)]
    rest = [(*key, k) for key in keys for k in range(table.folds) if k != first[key[0]]]
    jobs = []
    for at, number, k in rest:
        leader = fits[at, number, first[at]]
        jobs.append(job(at, number, leader.learner, k, leader.trees))
    # Fits of learners that were left out count as done.
    for key, own in zip(rest, run_jobs(team.threads, jobs, lambda n: tell(total - len(rest) + n, total)), strict=True):
        fits[key] = own

    answers = {}
    for at, question in enumerate(questions):
        kept = [number for here, number in keys if here == at]
        answers[question.name] = _answer(
            table, question, [[fits[at, number, k] for k in range(table.folds)] for number in kept]
        )
    q = np.empty((table.data.n_rows, len(table.data.groups), 2))
    for k in range(table.folds):
        held = np.flatnonzero(table.fold == k)
        columns = {name: values[held] for name, values in table.data.columns.items()}
        q[held] = table.law(list(answers.values()), [k]).predict(columns, len(held))
    return table.law(list(answers.values()), range(table.folds)), q, answers


def fit_apart(tables: Sequence[Table], team: Team, tell: Callable[[int, int], None]) -> list[SplitLaw]:
    """Learn q on several tables, each for people who are not in it; unlike in `fit_law`, the tables share no choice.

    Parameters
    ----------
    tables : sequence of Table
        Rows in fold 0 are learned from; those in fold 1 say when to stop, and which learners to choose.
    team : Team
        The team that fits.
    tell : callable
        Called with the number of fits done and the number of all fits.

    Returns
    -------
    list of SplitLaw
        What was learned on each table.
    """
    pools = [[_quick_learners(own) for own in table.questions] for table in tables]
    keys = [
        (k, at, number) for k, pool in enumerate(pools) for at, own in enumerate(pool) for number in range(len(own))
    ]
    jobs = []
    for k, at, number in keys:
        seed = (tables[k].random_state + number * len(tables) + k) % 2**32
        jobs.append(partial(tables[k].fit, team, tables[k].questions[at], pools[k][at][number], 1, seed))
    fits = dict(zip(keys, run_jobs(team.threads, jobs, lambda n: tell(n, len(jobs))), strict=True))
    laws = []
    for k, table in enumerate(tables):
        answers = []
        for at, question in enumerate(table.questions):
            own = [fits[k, at, number] for number in range(len(pools[k][at]))]
            members = [_cut(fit, [fit]) for fit in own]
            _, held = table.parts(question, 1)
            chances = [table.chances(question, member, held) for member in members]
            chosen = (
                best_average(chances, question.target[held], table.weight[held])[0] if len(held) else range(len(own))
            )
            answers.append(Answer((tuple(members[number] for number in chosen),), {}, ()))
        laws.append(table.law(answers, [0]))
    return laws


def _quick_learners(question: Question) -> tuple[Learner, ...]:
    """Return the learners for a question; for many rows without logistic regression, which is slow and rarely helps."""
    pool = learners_for(len(question.rows), _both(question))
    if len(question.rows) < MANY_ROWS:
        return pool
    return tuple(own for own in pool if not isinstance(own, Logistic)) or pool


def _both(question: Question) -> bool:
    return len(np.unique(question.target[question.rows])) == 2


def _is_idle(
    table: Table, question: Question, k: int, fits: Mapping[tuple[int, int, int], Fit], key: tuple[int, int]
) -> bool:
    """Return whether a learner is a logistic regression that did not help in the first fold of a large table."""
    at, number = key
    if len(question.rows) < MANY_ROWS or not isinstance(fits[at, number, k].learner, Logistic):
        return False
    _, held = table.parts(question, k)
    own = [(rival, fit) for (here, rival, _), fit in fits.items() if here == at]
    chances = [table.chances(question, _cut(fit, [fit]), held) for _, fit in own]
    chosen, _ = best_average(chances, question.target[held], table.weight[held])
    return number not in [own[position][0] for position in chosen]


def _cut(fit: Fit, all_folds: Sequence[Fit]) -> Member:
    """Return the member with only its best number of trees, the same in all folds."""
    losses = [own.losses for own in all_folds if own.losses is not None]
    if fit.member.trees is None or not losses:
        return fit.member
    return replace(fit.member, trees=fit.member.trees.first(pick_count(losses)))


def _answer(table: Table, question: Question, fits: Sequence[Sequence[Fit]]) -> Answer:
    """Choose among learners; `fits` has the folds of each."""
    names = [own[0].learner.name for own in fits]
    members = [[_cut(fit, own) for fit in own] for own in fits]
    held = [table.parts(question, k)[1] for k in range(table.folds)]
    rows = np.concatenate(held)
    chances = [
        np.concatenate([table.chances(question, member, part) for member, part in zip(own, held, strict=True)])
        for own in members
    ]
    target, weight = question.target[rows], table.weight[rows]
    chosen, loss = best_average(chances, target, weight)
    losses = {name: log_loss(own, target, weight) for name, own in zip(names, chances, strict=True)}
    return Answer(
        tuple(tuple(members[number][k] for number in chosen) for k in range(table.folds)),
        losses | {"chosen": loss},
        tuple(names[number] for number in chosen),
    )


def run_jobs(
    pool: ThreadPoolExecutor, jobs: Sequence[Callable[[], Result]], tell: Callable[[int], None]
) -> list[Result]:
    """Run jobs in parallel; return the results in the order of the jobs."""
    waiting = [pool.submit(job) for job in jobs]
    try:
        for done, future in enumerate(as_completed(waiting), 1):
            future.result()
            tell(done)
    except BaseException:
        # An error, or the user's ctrl-c, need not wait for fits that nobody will use.
        for future in waiting:
            future.cancel()
        raise
    return [future.result() for future in waiting]
