"""
The four-fifths rule, with a capacity
=====================================

A regulator asks that no group be selected at less than four fifths of the highest rate. And there is room for a
fifth of the applicants only. What do the two cost, alone and together?
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression

import fairlimits as fl

people = fl.load_dataset("adult").take(range(8_000))
outcome = fl.estimate_outcome(people, estimator=LogisticRegression(max_iter=500))

# %%
# Requirements are written as regulators write them.

asked = {
    "nothing": [],
    "four fifths": ["selection rate ratio >= 0.8"],
    "capacity": ["selection rate <= 0.15"],
    "both": ["selection rate ratio >= 0.8", "selection rate <= 0.15"],
}
rules = {
    name: fl.solve(outcome, {}, requirements=texts) for name, texts in asked.items()
}
for name, rule in rules.items():
    print(
        f"{name:12} accuracy {rule.accuracy:.4f}",
        {text: round(value, 3) for text, value in rule.attained.items()},
    )

# %%
# The whole trade: best accuracy at every ratio, with the capacity and without it.

fig, ax = plt.subplots()
for name, texts in (
    ("any number of people", []),
    ("at most 15%", ["selection rate <= 0.15"]),
):
    curve = fl.limits.ratio_frontier(outcome, requirements=texts)
    ax.plot(curve.tolerances, curve.accuracy, label=name)
ax.axvline(0.8, color="grey", linestyle=":", label="four fifths")
ax.set(
    xlabel="lowest selection rate as a share of the highest",
    ylabel="best accuracy (plug-in)",
)
ax.legend()

# %%
# On the command line, with a table of your own:
#
# .. code-block:: console
#
#    $ fairlimits frontier loans.csv --label paid --positive yes --sensitive sex --ratio 'selection rate' --require 'selection rate <= 0.15' --points 6 -o ratio.png
