"""
Intersectional groups
=====================

Sex and race together make ten groups, some of them small. What does equal opportunity cost then, and for whom is
there too little data to say anything?
"""

import warnings

from sklearn.linear_model import LogisticRegression

import fairlimits as fl

# A warning names the groups that are too small to be compared; here we ask for them below.
warnings.simplefilter("ignore", fl.errors.SmallGroupsWarning)
people = fl.load_dataset("adult", sensitive=["sex", "race"]).take(range(20_000))
learn, test = people.split(0.4, random_state=0)
for group, (no, yes) in zip(people.groups, people.counts, strict=True):
    print(f"{group:30} {int(no + yes):6,} people, {int(yes):5,} of them with the label")

# %%
# Groups with fewer than 30 rows behind a rate are set aside: named, and not compared. All others keep the tolerance.

outcome = fl.estimate_outcome(learn, estimator=LogisticRegression(max_iter=500))
rule = fl.solve(outcome, {"EOp": 0.1}, aware=True)
held_out = fl.evaluate(rule, test)
print("equal opportunity on new people:", held_out.gaps["EOp"])
print("set aside:", ", ".join(held_out.set_aside))

# %%
# How each group fares under the rule, on people that took no part:

held_out.by_group.plot()

# %%
# On the command line; ``--small-groups join`` makes one group of those that are too small:
#
# .. code-block:: console
#
#    $ fairlimits frontier loans.csv --label paid --positive yes --sensitive sex --sensitive race -n EOp --points 5 --small-groups join
