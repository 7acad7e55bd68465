"""
Handing data over
=================

Another team is to train a model, and must not be able to tell the group from the features. The map that moves
people least is found, applied, and tried by two adversaries on rows that it has never seen.
"""

import matplotlib.pyplot as plt

import fairlimits as fl

people = fl.load_dataset(
    "adult", features=["age", "education-num", "hours-per-week", "occupation"]
).take(range(9_000))
learn, rest = people.split(0.4, random_state=0)
dist = fl.discretize(learn, cells=48, partition="features", generator=None)
rule = fl.solve(dist, {"DP": 0.0})
plan = fl.decorrelate(dist, rule)
print(
    f"correlation with the group: {plan.baseline_correlation:.2f} before, {plan.correlation:.2f} after"
)
print(f"accuracy of the rule: {rule.accuracy:.3f} before, {plan.accuracy:.3f} after")

# %%
# What is handed over: the features alone.

mapped = plan.apply(rest, random_state=0)  # an Arrow table
for person in mapped.slice(0, 5).to_pylist():
    print(person)

# %%
# What adversaries find in it. An area under the curve of 0.5 is a guess.

certificate = plan.certificate(rest, random_state=0)
print(certificate.summary())

# %%
# A map need not hide everything: accuracy against correlation.

curve = fl.decorrelation.decorrelation_frontier(dist, fl.solve(dist, {}))
fig, ax = plt.subplots()
ax.plot(curve.correlation, curve.accuracy, marker=".")
ax.set(
    xlabel="correlation of the features with the group (0 none, 2 certain)",
    ylabel="accuracy (plug-in)",
)

# %%
# On the command line. New people are mapped with the plan that was kept:
#
# .. code-block:: console
#
#    $ fairlimits decorrelate loans.csv --label paid --positive yes --sensitive sex --cells 16 -o handover.csv --save-plan plan.npz
#    $ fairlimits decorrelate new.csv --plan plan.npz -o more.csv
