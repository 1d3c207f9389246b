"""Checks of input: every accepted form means the same, and what the caller passes stays the caller's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.checks.comparing import require_same_decisions, require_same_state
from bandit_forest.checks.streams import Stream, decide_one_by_one, learn_one_by_one, stream, trained
from bandit_forest.checks.subject import Subject, require

__all__ = ["accepts_every_form_of_contexts", "accepts_strided_input", "input_is_left_alone", "input_is_not_kept"]

Bits = NDArray[np.uint8]


class SparseRows(NamedTuple):
    """Rows in the form of a SciPy CSR matrix."""

    indptr: NDArray[np.int64]
    indices: NDArray[Any]
    data: NDArray[np.float64]
    shape: tuple[int, int]


def sparse_rows(contexts: Bits) -> SparseRows:
    """Return the ones of each row."""
    rows, columns = np.nonzero(contexts)
    starts = np.searchsorted(rows, np.arange(len(contexts) + 1))
    return SparseRows(starts, columns, np.ones(len(columns)), (contexts.shape[0], contexts.shape[1]))


def packed_rows(contexts: Bits) -> NDArray[np.uint64]:
    """Return each row as 64-bit words: bit i of word w is variable 64 w + i."""
    words = -(-contexts.shape[1] // 64)
    padded = np.zeros((len(contexts), 64 * words), dtype=np.uint8)
    padded[:, : contexts.shape[1]] = contexts
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


ONE_OR_MANY: dict[str, Callable[[Bits], Any]] = {
    "bool": lambda bits: bits.astype(np.bool_),
    "int64": lambda bits: bits.astype(np.int64),
    "float64": lambda bits: bits.astype(np.float64),
    "a list of ints": lambda bits: bits.tolist(),
    "a list of bools": lambda bits: bits.astype(np.bool_).tolist(),
    "read-only": lambda bits: np.frombuffer(bits.tobytes(), dtype=np.uint8).reshape(bits.shape),
}
MANY_ONLY: dict[str, Callable[[Bits], Any]] = {"packed words": packed_rows, "sparse rows": sparse_rows}


def accepts_every_form_of_contexts(subject: Subject) -> None:
    """Require bools, numbers, lists, and in batches packed words and sparse rows, to mean the same as bytes."""
    n_variables = 70  # more than one word
    events = stream(30, n_variables=n_variables, seed=6)
    for form, convert in (ONE_OR_MANY | MANY_ONLY).items():
        policy, plain = trained(subject, n_variables=n_variables), trained(subject, n_variables=n_variables)
        log = events.log()
        many = policy.decide_many(convert(events.contexts))
        require_same_decisions(many, plain.decide_many(events.contexts), f"decide_many takes {form} for something else")
        for taker, given in ((policy, convert(log.contexts)), (plain, log.contexts)):
            taker.learn_many(given, log.actions, log.rewards, propensities=log.propensities)
        played = policy.play(convert(events.contexts), events.rewards)
        require_same_decisions(played, plain.play(*events), f"play takes {form} for something else")
        if form in ONE_OR_MANY:
            for taker, given in ((policy, convert(log.contexts[0])), (plain, log.contexts[0])):
                taker.decide(given)
                taker.learn(given, 1, 1.0, propensity=0.5)
        require_same_state(policy, plain, f"contexts given as {form} are learned as something else")


def accepts_strided_input(subject: Subject) -> None:
    """Require arrays that are not contiguous to mean the same as their contiguous copies."""
    policy, plain = trained(subject), trained(subject)
    events = stream(40, seed=6)
    log = events.log()
    strided = Stream(np.asfortranarray(events.contexts), np.repeat(events.rewards, 2, axis=1)[:, ::2])
    one = np.repeat(events.contexts, 3, axis=1)[:, ::3]
    many = policy.decide_many(one[::-1][::-1])
    require_same_decisions(many, plain.decide_many(events.contexts), "decide_many differs on strided contexts")
    actions, rewards, propensities = (np.repeat(part, 2)[::2] for part in log[1:])
    policy.learn_many(strided.contexts, actions, rewards, propensities=propensities)
    plain.learn_many(log.contexts, log.actions, log.rewards, propensities=log.propensities)
    require_same_decisions(policy.play(*strided), plain.play(*events), "play differs on strided arrays")
    single = decide_one_by_one(policy, one)
    require_same_decisions(single, decide_one_by_one(plain, events.contexts), "decide differs on strided contexts")
    learn_one_by_one(policy, log._replace(contexts=one))
    learn_one_by_one(plain, log)
    require_same_state(policy, plain, "strided arrays are learned differently")


def input_is_left_alone(subject: Subject) -> None:
    """Require that no call writes into the arrays that it is given."""
    policy = trained(subject)
    events = stream(30, seed=8)
    log = events.log()
    available = np.array([2, 0])
    given: tuple[NDArray[Any], ...] = (*events, *log, available)
    kept = [array.copy() for array in given]
    for context in events.contexts:
        policy.decide(context, available_actions=available)
        policy.learn(context, 0, 0.5, propensity=0.5)
    policy.decide_many(events.contexts, available_actions=available)
    policy.learn_many(log.contexts, log.actions, log.rewards, propensities=log.propensities)
    policy.play(*events)
    names = ("contexts", "rewards", "contexts", "actions", "rewards", "propensities", "available_actions")
    for name, before, after in zip(names, kept, given, strict=True):
        require(np.array_equal(before, after), f"the caller's {name} were changed")


def input_is_not_kept(subject: Subject) -> None:
    """Require that a policy keeps no reference to a context: callers may use one buffer for all of them."""
    policy, plain = subject.fresh(), subject.fresh()
    log = stream(20, seed=9).log()
    buffer = np.empty(5, dtype=np.uint8)
    for context, action, reward, propensity in zip(*log, strict=True):
        buffer[:] = context
        policy.learn(buffer, int(action), float(reward), propensity=float(propensity))
        buffer[:] = 1 - context
    learn_one_by_one(plain, log)
    require_same_state(policy, plain, "a context that the caller changes after learn is learned as changed")
