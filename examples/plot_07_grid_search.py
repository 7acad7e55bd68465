"""
Tuning inside GridSearchCV
==========================

The best rule within tolerances is a scikit-learn classifier: it clones, goes into pipelines, and is tuned like any
other. The tolerance is your choice; the search is for the rest.
"""

import matplotlib.pyplot as plt
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

import fairlimits as fl

# An Arrow table; pandas and polars tables, and arrays, are taken as well.
people = fl.load_dataset("adult").to_frame().slice(0, 3_000)
X = people.select(["age", "education-num", "hours-per-week", "marital-status"])
y, sex = people["income"], people["sex"]

# %%
# ``sensitive_features`` travels by scikit-learn's metadata routing.

with sklearn.config_context(enable_metadata_routing=True):
    rule = fl.ConstrainedBayesClassifier(
        {"DP": 0.05}, estimator=LogisticRegression(max_iter=500)
    )
    search = GridSearchCV(
        rule, {"estimator__C": [0.001, 0.01, 0.1, 1.0], "cells": [32, 128]}, cv=3
    )
    search.fit(X, y, sensitive_features=sex)
print(search.best_params_, f"{search.best_score_:.3f}")

# %%
# Accuracy by fold, for each choice:

results = search.cv_results_
fig, ax = plt.subplots()
for cells in (32, 128):
    own = [k for k, choice in enumerate(results["params"]) if choice["cells"] == cells]
    strengths = [results["params"][k]["estimator__C"] for k in own]
    ax.errorbar(
        strengths,
        results["mean_test_score"][own],
        results["std_test_score"][own],
        marker="o",
        label=f"{cells} cells",
    )
ax.set(xscale="log", xlabel="C of the logistic regression", ylabel="accuracy, 3 folds")
ax.legend()
