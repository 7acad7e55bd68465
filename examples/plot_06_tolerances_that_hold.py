"""
A tolerance that holds among new people
=======================================

A rule that keeps a tolerance on the rows it was made from exceeds it among new people about every second time. With a
confidence, its gap is certified; what that costs is drawn.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression

import fairlimits as fl

people = fl.load_dataset("adult").take(range(16_000))
learn, test = people.split(0.3, random_state=0)
outcome = fl.estimate_outcome(learn, estimator=LogisticRegression(max_iter=500))
tolerances = [0.03, 0.05, 0.08, 0.12, 0.16]

with warnings.catch_warnings():
    # A warning names each tolerance that these rows cannot certify; here the picture shows them.
    warnings.simplefilter("ignore")
    plain = fl.frontier(outcome, "DP", tolerances)
    certain = fl.frontier(outcome, "DP", tolerances, confidence=0.95)

# %%
# On the held-out rows:

fig, ax = plt.subplots()
for name, curve in (("as asked", plain), ("certified at 0.95", certain)):
    judged = [fl.evaluate(rule, test) for rule in curve.rules]
    ax.plot(
        tolerances, [own.gaps["DP"].value for own in judged], marker="o", label=name
    )
ax.plot(tolerances, tolerances, color="grey", linestyle=":", label="the tolerance")
ax.set(xlabel="tolerance of demographic parity", ylabel="gap on new people")
ax.legend()

# %%
# What certainty costs, in points of accuracy:

for at, first, second in zip(tolerances, plain.accuracy, certain.accuracy, strict=True):
    print(f"within {at:g}: {100 * (first - second):.2f}")

# %%
# On the command line:
#
# .. code-block:: console
#
#    $ fairlimits frontier loans.csv --label paid --positive yes --sensitive sex -n DP --from 0.05 --points 4 --confidence 0.95 -o held.png
