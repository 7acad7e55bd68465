"""
A frontier with a ceiling
=========================

A frontier says what the best rule that we found attains. A rule that we could not find may do better; how much
better, at most? The ceiling answers without assuming anything about the law: no rule passes it, with stated confidence.
"""

# %%
# What is used are people who are alike in all that a rule sees, and differ in label or group. The more of them there
# are, the lower the ceiling. Here rules see four features of few values, so that most people have a twin. Where
# features are finer, ``resolution={"age": 5}`` gives the ceiling of rules that see them in steps.

import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression

import fairlimits as fl

seen = ["education-num", "marital-status", "race", "occupation"]
people = fl.load_dataset("adult", features=seen).take(range(20_000))
learn, test = people.split(0.3, random_state=0)
tolerances = [0.02, 0.05, 0.1, 0.15]

outcome = fl.estimate_outcome(learn, estimator=LogisticRegression(max_iter=500))
found = fl.evaluate(fl.frontier(outcome, "DP", tolerances), test)
top = fl.ceiling(people, {"DP": tolerances})
print(top.summary())

# %%
# Below the lower line are rules that we found, above the upper one is nothing; in between, nobody knows.

fig, ax = plt.subplots()
found.plot(ax=ax)
top.plot(ax=ax, color="black")

# %%
# On the command line:
#
# .. code-block:: console
#
#    $ fairlimits ceiling loans.csv --label paid --positive yes --sensitive sex -n DP --step income=10 -o bracket.png
