"""
A table larger than memory
==========================

Files are read in parts, as often as needed, and never all at once. Four small files stand for a directory of large
ones.
"""

import tempfile
from pathlib import Path

import pyarrow.parquet as pq

import fairlimits as fl

folder = tempfile.TemporaryDirectory()
table = fl.load_dataset("adult").to_frame()
for day in range(4):
    pq.write_table(
        table.slice(day * 12_000, 12_000), Path(folder.name) / f"day{day}.parquet"
    )

# %%
# A pattern instead of a table. Rows are counted as they are, on cells of the features.

people = f"{folder.name}/*.parquet"
roles = {"label": "income", "positive": ">50K", "sensitive": "sex"}
dist = fl.discretize(people, cells=128, partition="features", **roles)
print(dist)

# %%
# Several sites, or several days: the first makes the cells, the others count on them, and rows stay where they are.

days = sorted(str(path) for path in Path(folder.name).glob("*.parquet"))
first = fl.discretize(days[:2], cells=64, partition="features", **roles)
second = fl.discretize(days[2:], like=first)
print(fl.merge([first, second]))

# %%
# Everything after the counting sees cells only, whatever the number of rows. Limits on cells of the features lie
# lower than those on an estimate of P(A, Y | x): they tell less apart.

ax = fl.frontier(dist, "DP", exact=True).plot()
fl.frontier(dist, "DP", exact=True, aware=True).plot(ax=ax)
folder.cleanup()

# %%
# On the command line. Quote the pattern, so that the shell does not write out a thousand names:
#
# .. code-block:: console
#
#    $ fairlimits frontier 'loans/*.parquet' --label paid --positive yes --sensitive sex -n EOp --points 5
#    $ fairlimits cells loans/day0.parquet --label paid --positive yes --sensitive sex --cells 32 --partition features -o first.npz
#    $ fairlimits cells loans/day1.parquet --like first.npz -o second.npz
#    $ fairlimits merge first.npz second.npz -o both.npz
