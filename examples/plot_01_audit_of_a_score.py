"""
Audit of a score
================

A score that is in use decides about people. How does each group fare under it, and how much more accurate could a
rule be that is just as fair?
"""

# %%
# The score here is a logistic regression on three columns; any column of scores or decisions will do. It must not
# have learned from the people that it is audited on.

import numpy as np
from sklearn.linear_model import LogisticRegression

import fairlimits as fl

people = fl.load_dataset("adult").take(range(12_000))
train, people = people.split(0.6, random_state=0)


def three_columns(rows):
    """Age, years of education and hours per week."""
    return (
        np.column_stack(
            [rows.columns[name] for name in ("age", "education-num", "hours-per-week")]
        )
        / 50
    )


score = (
    LogisticRegression()
    .fit(three_columns(train), train.label)
    .predict_proba(three_columns(people))[:, 1]
)

# %%
# ``estimator`` is what the best rules are learned with; without it, boosting is tried too, which takes some seconds
# more.

found = fl.audit(
    people,
    {"score": score},
    notions=["DP", "EOp"],
    estimator=LogisticRegression(max_iter=500),
)
print(found.summary())

# %%
# Where the score stands beside the rules that we found, for demographic parity:

found.plot("DP")

# %%
# And how each group fares, with intervals:

found.plot_rates("score")

# %%
# On the command line, with a table of your own that has a column ``score``. Scores of another scale than 0 to 1 need
# ``--threshold``. A high score has to stand for the positive label: for a score of risk, name the other label.
#
# .. code-block:: console
#
#    $ fairlimits audit loans.csv --label paid --positive yes --sensitive sex --prediction score -n DP --plot audit.png
