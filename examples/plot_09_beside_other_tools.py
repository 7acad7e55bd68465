"""
Beside fairlearn and error-parity
=================================

All three decide with the group seen, from the same scores, fitted on the same rows, and are judged on the same new
people. One cut of one table is an illustration and no comparison: that is the page :doc:`/benchmark`.
"""

# %%
# The release of error-parity asks for numpy below 2, and fairlimits for 2 or newer. It runs with both, so install it
# without what it asks for. What it needs is named here:
#
# .. code-block:: console
#
#    $ pip install fairlearn cvxpy ecos seaborn tqdm
#    $ pip install --no-deps error-parity==0.3.12

# sphinx_gallery_thumbnail_number = 1
import warnings

import matplotlib.pyplot as plt
import numpy as np
from error_parity import RelaxedThresholdOptimizer
from fairlearn.postprocessing import ThresholdOptimizer
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

import fairlimits as fl

warnings.simplefilter("ignore")
people = fl.load_dataset("adult").take(range(12_000))
learn, test = people.split(0.4, random_state=0)


class GivenScores(ClassifierMixin, BaseEstimator):
    """A fitted model for tools that want one: rows are a column of scores."""

    def fit(self, X, y):
        """Nothing is learned."""
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        """Both labels' chances."""
        return np.column_stack([1 - X[:, 0], X[:, 0]])

    def __call__(self, X):
        """The chance of label 1."""
        return X[:, 0]


def columns(rows):
    """Four numbers, and the group."""
    names = ("age", "education-num", "hours-per-week", "capital-gain")
    return np.column_stack(
        [np.log1p(rows.columns[name]) for name in names] + [rows.group]
    )


fitted, rest = learn.split(0.5, random_state=0)
model = LogisticRegression().fit(columns(fitted), fitted.label)
scores, new_scores = (
    model.predict_proba(columns(rows))[:, [1]] for rows in (rest, test)
)

# %%
# fairlimits takes the scores as they are (``prefit="scores"``).

found = {"fairlimits": [], "fairlearn": [], "error-parity": []}


def judge(name, chance):
    """Keep the difference of selection rates and the accuracy, expected over the rule's own draws."""
    women, men = (np.mean(chance[test.group == g]) for g in (0, 1))
    found[name].append(
        (men - women, np.mean(np.where(test.label == 1, chance, 1 - chance)))
    )


for tolerance in (0.0, 0.02, 0.05, 0.1, 0.15):
    ours = fl.ConstrainedBayesClassifier({"DP": tolerance}, aware=True, prefit="scores")
    ours.fit(scores[:, 0], rest.label, sensitive_features=rest.group)
    judge(
        "fairlimits",
        ours.predict_proba(new_scores[:, 0], sensitive_features=test.group)[:, 1],
    )

    theirs = ThresholdOptimizer(
        estimator=GivenScores().fit(scores, rest.label),
        constraints="demographic_parity",
        tol=tolerance or None,
        prefit=True,
        predict_method="predict_proba",
    )
    theirs.fit(scores, rest.label, sensitive_features=rest.group)
    judge(
        "fairlearn",
        theirs._pmf_predict(new_scores, sensitive_features=test.group)[:, 1],
    )

    relaxed = RelaxedThresholdOptimizer(
        predictor=GivenScores(), constraint="demographic_parity", tolerance=tolerance
    )
    relaxed.fit(X=scores, y=rest.label, group=rest.group)
    judge("error-parity", relaxed.predict(new_scores, group=test.group))

# %%
fig, ax = plt.subplots()
for (name, points), marker in zip(found.items(), "osD", strict=True):
    ax.plot(*zip(*points, strict=True), marker=marker, label=name, alpha=0.8)
ax.set(
    xlabel="selection rate of men less that of women, on new people",
    ylabel="accuracy on new people",
)
ax.legend()
