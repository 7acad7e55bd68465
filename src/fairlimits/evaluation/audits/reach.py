"""Of a model's distance from perfection: what is out of reach, what was found reachable, and what nobody knows."""

from __future__ import annotations

from dataclasses import replace

from fairlimits.evaluation.audits.comparisons import AuditedModel, Reach
from fairlimits.evaluation.audits.results import Audit
from fairlimits.evaluation.ceilings import Study


def with_reach(audit: Audit, study: Study, confidence: float) -> Audit:
    """Add to each model of an audit what no rule passes that is as fair as it.

    The ceiling is read at the upper limit of the model's own gaps. Both hold with the confidence together, for each
    holds with half of the risk: the interval of a gap has half of it above.

    Parameters
    ----------
    audit : Audit
    study : Study
        The people, prepared.
    confidence : float
        Of what is said to be out of reach.
    """
    return replace(audit, models=tuple(_with_reach(own, audit.aware, study, confidence) for own in audit.models))


def _with_reach(model: AuditedModel, aware: bool, study: Study, confidence: float) -> AuditedModel:
    own = model.headline
    if own is None:
        return model
    tolerances = {name: model.gaps[name].high for name in own.notions}
    top = study.ceiling(tolerances, aware=aware, confidence=1 - (1 - confidence) / 2)
    best = max(model.accuracy.value, own.rule_accuracy.value)
    return replace(model, reach=Reach(tolerances, top.upper, top.twins, confidence, model.accuracy.value, best))
