"""Variable Selection and Action Selection against the paper, word by word."""

import math

import numpy as np
import pytest

from bandit_forest.errors import InvalidArgumentError
from bandit_forest.reference.selection import ActionSelection, VariableElimination, VariableSelection
from bandit_forest.worlds import Table1


def radius(plays, hypotheses):
    return math.sqrt(math.log(hypotheses * plays**2) / (2 * plays))


class NaiveVariableSelection:
    """Algorithm 2 with running means in plain lists, as printed."""

    def __init__(self, n_variables, n_actions, delta, tolerance):
        self.n_variables, self.n_actions, self.delta, self.tolerance = n_variables, n_actions, delta, tolerance
        self.variables = list(range(n_variables))
        self.t = [0] * n_actions
        self.mean = {(i, k, v): 0.0 for i in range(n_variables) for k in range(n_actions) for v in (0, 1)}

    def learn(self, context, k, reward):
        self.t[k] += 1
        t = self.t[k]
        for i in self.variables:
            for v in (0, 1):
                self.mean[i, k, v] = reward / t * (context[i] == v) + (t - 1) / t * self.mean[i, k, v]
        if k == self.n_actions - 1:
            gain = {
                i: sum(max(self.mean[i, a, v] for a in range(self.n_actions)) for v in (0, 1)) for i in self.variables
            }
            best = max(self.variables, key=lambda i: (round(gain[i], 9), -i))
            bound = 4 * radius(t, 4 * self.n_actions * self.n_variables / self.delta)
            self.variables = [i for i in self.variables if i == best or gain[best] - gain[i] + self.tolerance < bound]


def events(seed, n_events, n_variables, n_actions, relevant, fractional=False):
    rng = np.random.default_rng(seed)
    contexts = rng.integers(0, 2, size=(n_events, n_variables), dtype=np.uint8)
    paid = contexts[:, relevant] % n_actions
    rewards = (np.arange(n_actions) == paid[:, None]) * 0.8 + 0.1
    rewards = rng.beta(4 * rewards, 4 * (1 - rewards)) if fractional else rng.random(rewards.shape) < rewards
    return contexts, rewards.astype(np.float64)


@pytest.mark.parametrize("tolerance", [0.0, 0.3])
@pytest.mark.parametrize("fractional", [False, True])
@pytest.mark.parametrize(("n_variables", "n_actions", "relevant"), [(2, 2, 1), (5, 3, 0), (6, 4, 3)])
def test_variable_selection_is_the_printed_algorithm(n_variables, n_actions, relevant, fractional, tolerance):
    selection = VariableSelection(n_variables=n_variables, n_actions=n_actions, delta=0.1, tolerance=tolerance)
    naive = NaiveVariableSelection(n_variables, n_actions, 0.1, tolerance)
    contexts, rewards = events(n_variables, 6000, n_variables, n_actions, relevant, fractional)
    for event, context in enumerate(contexts):
        action = selection.next_action(context)
        assert action == event % n_actions
        selection.learn(context, action, rewards[event, action])
        naive.learn(context.tolist(), action, rewards[event, action])
        assert selection.remaining_variables == naive.variables
        if selection.finished:
            break
    assert selection.remaining_variables == [relevant]


def test_a_gain_divides_by_the_plays_of_the_action():
    # Two events of action 0, both with x = 1 and paid: P(x = 1) times 1, and not 1 + 0 from two halves.
    elimination = VariableElimination(n_variables=1, n_actions=2, delta=0.1, tolerance=0.0)
    for action, bit, reward in [(0, 1, 1.0), (1, 0, 0.5), (0, 0, 0.0), (1, 0, 0.0)]:
        elimination.count(np.array([bit], dtype=np.uint8), action, reward)
    # x = 0: action 0 earns 0 / 2, action 1 earns 0.5 / 2. x = 1: action 0 earns 1 / 2.
    assert elimination.gains.tolist() == [0.25 + 0.5]


def test_variables_are_eliminated_at_the_end_of_a_round_only():
    selection = VariableSelection(n_variables=4, n_actions=3, delta=1.0)
    contexts, rewards = events(1, 9000, 4, 3, 2)
    before = selection.remaining_variables
    for event, context in enumerate(contexts):
        action = selection.next_action(context)
        selection.learn(context, action, rewards[event, action])
        if action != 2:
            assert selection.remaining_variables == before
        before = selection.remaining_variables
    assert selection.finished


def test_without_rotation_a_round_ends_when_every_action_has_been_played_again():
    selection = VariableSelection(n_variables=2, n_actions=2, delta=1.0, tolerance=0.999)
    for _ in range(2000):
        selection.learn([0, 0], 1, 1.0)
        assert len(selection.remaining_variables) == 2
    for _ in range(200):
        selection.learn([0, 0], 0, 1.0)
    assert selection.remaining_variables == [0]


def test_with_a_tolerance_the_best_stays_and_ties_go_to_the_lowest():
    variables = VariableSelection(n_variables=3, n_actions=2, tolerance=0.9)
    actions = ActionSelection(n_actions=4, tolerance=0.9)
    for _ in range(1000):
        for selection in (variables, actions):
            selection.learn([0, 1, 1], selection.next_action([0, 1, 1]), 0.5)
    assert variables.remaining_variables == [0]
    assert actions.remaining_actions([0, 1, 1]) == [0]


def test_action_selection_is_successive_elimination():
    means = [0.2, 0.9, 0.5, 0.6]
    delta = 0.1
    selection = ActionSelection(n_actions=4, delta=delta)
    remaining, sums, plays = [0, 1, 2, 3], [0.0] * 4, 0
    rng = np.random.default_rng(5)
    while len(remaining) > 1:
        plays += 1
        for action in remaining:
            assert selection.remaining_actions([]) == remaining
            assert selection.next_action([]) == action
            reward = float(rng.random() < means[action])
            sums[action] += reward
            selection.learn([], action, reward)
        estimates = {action: sums[action] / plays for action in remaining}
        best = max(remaining, key=lambda action: (estimates[action], -action))
        bound = 2 * radius(plays, 4 * 4 / delta)
        remaining = [k for k in remaining if k == best or estimates[best] - estimates[k] < bound]
    assert selection.finished
    assert selection.remaining_actions([]) == remaining == [1]


def test_one_candidate_is_no_question():
    assert VariableSelection(n_variables=1, n_actions=2).finished
    assert ActionSelection(n_actions=1).finished


def test_variable_selection_picks_the_first_variable_of_table_1():
    selection = VariableSelection(n_variables=2, n_actions=2)
    for batch in Table1().batches(20_000, seed=0, batch_size=500):
        for context, rewards in zip(batch.contexts, batch.rewards, strict=True):
            action = selection.next_action(context)
            selection.learn(context, action, rewards[action])
        if selection.finished:
            break
    assert selection.remaining_variables == [0]


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"n_variables": 0}, "The 'n_variables' of VariableSelection must be an int of at least 1. Got 0 instead."),
        ({"n_actions": 1.5}, "The 'n_actions' of VariableSelection must be an int of at least 1. Got 1.5 instead."),
        ({"delta": 0.0}, "The 'delta' of VariableSelection must be a number in (0, 1]. Got 0.0 instead."),
        ({"tolerance": 1.0}, "The 'tolerance' of VariableSelection must be a number in [0, 1). Got 1.0 instead."),
    ],
)
def test_wrong_parameters_are_refused(parameters, sentence):
    with pytest.raises(InvalidArgumentError) as refused:
        VariableSelection(**{"n_variables": 2, "n_actions": 2} | parameters)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("context", "action", "reward"), [([0], 0, 1.0), ([0, 2], 0, 1.0), ([0, 1], 2, 1.0), ([0, 1], 0, 2)]
)
def test_a_wrong_event_changes_nothing(context, action, reward):
    selection = VariableSelection(n_variables=2, n_actions=2)
    with pytest.raises(InvalidArgumentError):
        selection.learn(context, action, reward)
    assert selection.next_action([0, 1]) == 0
    assert selection.remaining_variables == [0, 1]
