"""The bounds of the paper on the number of events: what the algorithms need at most, and any algorithm at least.

They follow the statements of Lemmas 1 to 4 and of Theorems 1 to 4 in the main text, with a tolerance of 0, K >= 2 and
M >= 2. With a tolerance ε > 0, take max(ε, Δ) for the gap (Remark 2). Where the paper disagrees with itself:

- The table of notations swaps Δ1 and Δ2. Here, as in the main text, Δ1 (`variable_gap`) is about variables and Δ2
  (`action_gap`) about actions.
- Lemma 1 has 8 K M in its logarithm; its proof, and Theorem 1 which quotes it, have 4 K M. The proof's last lines lose
  the 1/Δ1 in the logarithm. Each function has what its own statement has.
- The proof of Lemma 1 adds 2 α to both estimates, but the estimate of the best variable may be 2 α too low. Elimination
  is certain at Δ1 >= 8 α, which takes four times the events. On average, elimination happens at Δ1 = 4 α, which takes
  an eighth of the statement's 64 and more of its logarithm.
- Δ2 is a difference of means in Lemma 3; of joint means, P(v) times as large, in Theorem 1; of means times the
  probability of the path in Theorem 3. `OptimalTree.action_gap` is each of them at its depth.
- Equations (3) and (4) have 2^D in their logarithms, Theorem 3 does not; a tree of depth D has 2^D - 1 splits.
- The lower bounds are stated up to a constant, which is 1 here: they show the growth of the number of events, not the
  number itself.
"""

from __future__ import annotations

from math import log

from bandit_forest.validation import check_int, check_number

__all__ = [
    "action_selection_events",
    "action_selection_least_events",
    "decision_stump_events",
    "decision_stump_least_events",
    "forest_events",
    "forest_least_events",
    "variable_selection_events",
    "variable_selection_least_events",
]


def variable_selection_events(*, n_variables: int, n_actions: int, delta: float, variable_gap: float) -> float:
    """Bound the events that Variable Selection needs: 64 K / Δ1² log(8 K M / (δ Δ1)) (Lemma 1).

    Examples
    --------
    >>> round(variable_selection_events(n_variables=100, n_actions=7, delta=0.05, variable_gap=0.4))
    35119
    """
    _check("variable_selection_events", n_variables, n_actions, delta, variable_gap=variable_gap)
    return _elimination_events(n_actions, variable_gap, 8 * n_actions * n_variables / delta)


def variable_selection_least_events(*, n_actions: int, delta: float, variable_gap: float) -> float:
    """Return the order of the events that finding the best variable needs: K / Δ1² log(1 / δ) (Lemma 2).

    Examples
    --------
    >>> round(variable_selection_least_events(n_actions=7, delta=0.05, variable_gap=0.4))
    131
    """
    _check("variable_selection_least_events", 2, n_actions, delta, variable_gap=variable_gap)
    return n_actions / variable_gap**2 * log(1 / delta)


def action_selection_events(*, n_actions: int, delta: float, action_gap: float) -> float:
    """Bound the events that Action Selection needs: 64 K / Δ2² log(4 K / (δ Δ2)) (Lemma 3).

    Examples
    --------
    >>> round(action_selection_events(n_actions=7, delta=0.05, action_gap=0.4))
    20284
    """
    _check("action_selection_events", 2, n_actions, delta, action_gap=action_gap)
    return _elimination_events(n_actions, action_gap, 4 * n_actions / delta)


def action_selection_least_events(*, n_actions: int, delta: float, action_gap: float) -> float:
    """Return the order of the events that finding the best action needs: K / Δ2² log(1 / δ) (Lemma 4).

    Examples
    --------
    >>> round(action_selection_least_events(n_actions=7, delta=0.05, action_gap=0.4))
    131
    """
    _check("action_selection_least_events", 2, n_actions, delta, action_gap=action_gap)
    return n_actions / action_gap**2 * log(1 / delta)


def decision_stump_events(
    *, n_variables: int, n_actions: int, delta: float, variable_gap: float, action_gap: float
) -> float:
    """Bound the events that Decision Stump needs (Theorem 1).

    64 K / Δ1² log(4 K M / (δ Δ1)) + 64 K / Δ2² log(4 K / (δ Δ2)), with 4 K M where Lemma 1 has 8 K M.

    Examples
    --------
    >>> round(decision_stump_events(n_variables=100, n_actions=7, delta=0.05, variable_gap=0.4, action_gap=0.4))
    53462
    """
    _check("decision_stump_events", n_variables, n_actions, delta, variable_gap=variable_gap, action_gap=action_gap)
    of_variables = _elimination_events(n_actions, variable_gap, 4 * n_actions * n_variables / delta)
    of_actions = _elimination_events(n_actions, action_gap, 4 * n_actions / delta)
    return of_variables + of_actions


def decision_stump_least_events(*, n_actions: int, delta: float, variable_gap: float, action_gap: float) -> float:
    """Return the order of the events that finding the best stump needs: (1 / Δ1² + 1 / Δ2²) K log(1 / δ) (Theorem 2).

    Examples
    --------
    >>> round(decision_stump_least_events(n_actions=7, delta=0.05, variable_gap=0.4, action_gap=0.4))
    262
    """
    _check("decision_stump_least_events", 2, n_actions, delta, variable_gap=variable_gap, action_gap=action_gap)
    return (1 / variable_gap**2 + 1 / action_gap**2) * n_actions * log(1 / delta)


def forest_events(
    *,
    n_variables: int,
    n_actions: int,
    n_trees: int,
    max_depth: int,
    delta: float,
    variable_gap: float,
    action_gap: float,
) -> float:
    """Bound the events that Bandit Forest needs to become the optimal random forest (Theorem 3).

    2^D (64 K / Δ1² log(4 K M D L / (δ Δ1)) + 64 K / Δ2² log(4 L K / (δ Δ2))), where the gaps include the probability of
    the path: `OptimalForest.variable_gap` and `OptimalForest.action_gap`.

    Examples
    --------
    >>> sizes = dict(n_variables=100, n_actions=7, n_trees=10, max_depth=2)
    >>> round(forest_events(**sizes, delta=0.05, variable_gap=0.1, action_gap=0.1))
    4867884
    """
    _check("forest_events", n_variables, n_actions, delta, variable_gap=variable_gap, action_gap=action_gap)
    check_int(n_trees, "n_trees", "forest_events")
    check_int(max_depth, "max_depth", "forest_events")
    hypotheses = 4 * n_actions * n_trees / delta
    of_variables = _elimination_events(n_actions, variable_gap, hypotheses * n_variables * max_depth)
    of_actions = _elimination_events(n_actions, action_gap, hypotheses)
    return float(2**max_depth * (of_variables + of_actions))


def forest_least_events(
    *, n_actions: int, max_depth: int, delta: float, variable_gap: float, action_gap: float
) -> float:
    """Return the order of the events that finding the optimal random forest needs (Theorem 4).

    2^D (1 / Δ1² + 1 / Δ2²) K log(1 / δ).

    Examples
    --------
    >>> round(forest_least_events(n_actions=7, max_depth=2, delta=0.05, variable_gap=0.1, action_gap=0.1))
    16776
    """
    check_int(max_depth, "max_depth", "forest_least_events")
    stump = decision_stump_least_events(
        n_actions=n_actions, delta=delta, variable_gap=variable_gap, action_gap=action_gap
    )
    return float(2**max_depth * stump)


def _elimination_events(n_actions: int, gap: float, hypotheses: float) -> float:
    """Return 64 K / Δ² log(hypotheses / Δ), the form of all upper bounds."""
    return 64 * n_actions / gap**2 * log(hypotheses / gap)


def _check(owner: str, n_variables: int, n_actions: int, delta: float, **gaps: float) -> None:
    """Refuse what the statements do not cover."""
    check_int(n_variables, "n_variables", owner, low=2)
    check_int(n_actions, "n_actions", owner, low=2)
    check_number(delta, "delta", owner, "a number in (0, 1]", 0.0, 1.0, open_low=True)
    for name, gap in gaps.items():
        check_number(gap, name, owner, "a number in (0, 1]", 0.0, 1.0, open_low=True)
