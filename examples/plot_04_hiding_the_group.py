"""
What hiding the group costs
===========================

A statute may forbid a rule to look at the sensitive attribute, and demand equal rates all the same. Then the rule has
to reach them by what the features say. What does that cost?
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression

import fairlimits as fl

people = fl.load_dataset("adult").take(range(8_000))
outcome = fl.estimate_outcome(people, estimator=LogisticRegression(max_iter=500))

# %%
# One estimate serves both kinds of rules. ``exact=True`` gives every breakpoint: between two of them the line is
# straight.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
for ax, notion in zip(axes, ("DP", "EOd"), strict=True):
    for aware in (True, False):
        fl.frontier(outcome, notion, aware=aware, exact=True).plot(ax=ax)
fig.tight_layout()

# %%
# At a tolerance of 0.02, in points of accuracy:

for notion in ("DP", "EA", "EOp", "PE", "EOd"):
    seen, hidden = (
        fl.solve(outcome, {notion: 0.02}, aware=aware) for aware in (True, False)
    )
    cost = 100 * (seen.accuracy - hidden.accuracy)
    print(
        f"{notion:4} seen {seen.accuracy:.4f}  hidden {hidden.accuracy:.4f}  {cost:.2f}"
    )

# %%
# On the command line, which always shows both:
#
# .. code-block:: console
#
#    $ fairlimits frontier loans.csv --label paid --positive yes --sensitive sex -n EOd --exact -o hidden.png
