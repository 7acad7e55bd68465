r"""How many people of a kind a model of other kinds is worth.

Given a kind x, the counts of sorts among n people are multinomial with chances around the model's :math:`q(x)`. With a
Dirichlet law of these chances, of mean q(x) and strength c, the counts have the likelihood

.. math:: \frac{\Gamma(c)}{\Gamma(c + n)} \prod_t \frac{\Gamma(c q_t + n_t)}{\Gamma(c q_t)},

and given the kind's people, the mean chances are those of the model and of the people, weighted c to n.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from fairlimits._util.types import Floats, Ints

_STRENGTHS = 2.0 ** np.arange(0, 11)

# A few kinds say little about c: a priori its logarithm is normal around that of 16 people, within a factor of 8 or so.
_USUAL, _SPREAD = np.log(16.0), np.log(8.0)

# Chances below this are rounding.
_LEAST = 1e-9


def find_strength(counts: Ints, chances: Floats) -> float:
    """Most probable strength of a model.

    Parameters
    ----------
    counts : ndarray of int of shape (K, T)
        People of each kind by sort; they took no part in the model.
    chances : ndarray of shape (K, T)
        What the model says.
    """
    several = counts.sum(axis=1) > 1
    n, q = counts[several], np.maximum(chances[several], _LEAST)
    size = n.sum(axis=1)
    likelihood = [
        float((gammaln(c) - gammaln(c + size)).sum() + (gammaln(c * q + n) - gammaln(c * q)).sum()) for c in _STRENGTHS
    ]
    prior = -(((np.log(_STRENGTHS) - _USUAL) / _SPREAD) ** 2) / 2
    return float(_STRENGTHS[np.argmax(likelihood + prior)])
