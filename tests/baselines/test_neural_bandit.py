"""NeuralBandit: gradients, committee, propensities, what a linear model cannot learn, and the core as specified."""

import copy
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from bandit_forest.baselines import NeuralBandit
from bandit_forest.errors import InvalidArgumentError
from bandit_forest.reference.neural_bandit import Exp3, Perceptrons, ReferenceNeuralBandit, logistic

pytestmark = pytest.mark.core

SMALL = {"hidden_sizes": (3, 5), "learning_rates": (0.05, 0.2)}


def precise_perceptrons(members, n_variables=4, n_actions=3):
    """Perceptrons in double precision, for finite differences."""
    perceptrons = Perceptrons(n_variables, n_actions, members, seed=2)
    for name in ("_weights", "_output_weights", "_output_biases", "_learning_rates", "_units_of_member"):
        setattr(perceptrons, name, getattr(perceptrons, name).astype(np.float64))
    return perceptrons


def losses(perceptrons, context, action, reward):
    """The cross-entropy of the reward under each member."""
    predicted = logistic(perceptrons.activity(context).outputs[action])
    return -reward * np.log(predicted) - (1.0 - reward) * np.log(1.0 - predicted)


@pytest.mark.parametrize("reward", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("name", ["_weights", "_output_weights", "_output_biases"])
def test_a_step_follows_the_gradient(name, reward):
    rates = np.array([0.01, 0.05])
    perceptrons = precise_perceptrons([(3, 0.01), (4, 0.05)])
    context, action = np.array([1, 0, 1, 1], dtype=np.uint8), 1
    parameters = getattr(perceptrons, name)
    before = parameters.copy()
    expected = np.zeros_like(before)
    for place in np.ndindex(before.shape):
        around = []
        for nudge in (1e-6, -1e-6):
            parameters[place] = before[place] + nudge
            around.append(losses(perceptrons, context, action, reward))
        parameters[place] = before[place]
        expected[place] = -(rates * (around[0] - around[1]) / 2e-6).sum()  # a parameter is in one member's loss only
    perceptrons.step(perceptrons.activity(context), action, reward)
    assert np.count_nonzero(expected) > 1
    np.testing.assert_allclose(parameters - before, expected, atol=1e-10)


def test_members_do_not_depend_on_one_another():
    generator = np.random.default_rng(0)
    both, alone = precise_perceptrons([(3, 0.1), (4, 0.2)]), precise_perceptrons([(4, 0.2)])
    alone._weights[:], alone._output_weights[:] = both._weights[..., 3:], both._output_weights[:, 3:]
    for _ in range(50):
        context, action = generator.integers(0, 2, 4, dtype=np.uint8), int(generator.integers(3))
        for perceptrons in (both, alone):
            perceptrons.step(perceptrons.activity(context), action, 1.0)
    np.testing.assert_allclose(alone.activity(context).outputs, both.activity(context).outputs[:, 1:], rtol=1e-12)


def test_exp3_equals_its_plain_form():
    generator = np.random.default_rng(0)
    committee, weights, gamma = Exp3(4, 0.2), np.ones(4), 0.2
    for _ in range(200):
        rewards = generator.random(4) * 5.0
        committee.learn(rewards)
        weights *= np.exp(gamma / 4 * rewards)
        np.testing.assert_allclose(committee.probabilities, 0.8 * weights / weights.sum() + 0.05, rtol=1e-12)


def test_exp3_does_not_overflow_and_no_single_event_decides():
    committee = Exp3(2, 0.1)
    committee.learn(np.array([1e300, 0.0]))
    assert committee.probabilities[0] == pytest.approx(0.9 * np.e / (1 + np.e) + 0.05)
    for _ in range(10_000):
        committee.learn(np.array([0.0, 20.0]))
    np.testing.assert_allclose(committee.probabilities, [0.05, 0.95])


def test_members_are_credited_by_importance_weights():
    policy = NeuralBandit(n_variables=3, n_actions=3, exploration_rate=0.3, member_exploration_rate=0.2, **SMALL)
    context = np.array([1, 1, 0], dtype=np.uint8)
    first = ReferenceNeuralBandit(n_variables=3, n_actions=3, **SMALL)  # the same first weights
    best = first.perceptrons.activity(context).outputs.argmax(axis=0)
    action, propensity = policy.decide(context)
    shares = np.where(best == action, 0.7 + 0.1, 0.1)
    assert propensity == pytest.approx(shares.mean())
    policy.learn(context, action, 0.5, propensity=propensity)
    expected = Exp3(4, 0.2)
    expected.learn(0.5 * shares / propensity)
    np.testing.assert_allclose(policy._core.probabilities[0], expected.probabilities, rtol=1e-12)


def test_the_committee_finds_its_able_member():
    contexts = np.random.default_rng(0).integers(0, 2, (6000, 6), dtype=np.uint8)
    rewards = np.eye(2)[contexts[:, 0] ^ contexts[:, 1]]
    policy = NeuralBandit(
        n_variables=6, n_actions=2, hidden_sizes=[16], learning_rates=[1e-6, 0.1], member_exploration_rate=0.2
    )
    played = policy.play(contexts, rewards)
    assert policy._core.probabilities[0, 1] > 0.85
    assert played.rewards[-1000:].mean() > 0.85  # a linear model earns a half


def test_actions_are_drawn_with_their_propensities():
    policy = NeuralBandit(n_variables=3, n_actions=4, exploration_rate=0.4, **SMALL)
    n_draws = 20_000
    for available in (None, [0, 2, 3]):
        decisions = policy.decide_many(np.ones((n_draws, 3), dtype=np.uint8), available_actions=available)
        taken = sorted(set(decisions.actions.tolist()))
        assert taken == (available or [0, 1, 2, 3])
        total = 0.0
        for action in taken:
            of_action = decisions.actions == action
            (propensity,) = set(decisions.propensities[of_action].tolist())
            assert of_action.mean() == pytest.approx(propensity, abs=5 * np.sqrt(0.25 / n_draws))
            total += propensity
        assert total == pytest.approx(1.0, abs=1e-12)


def test_what_was_computed_for_a_decision_never_goes_stale():
    generator = np.random.default_rng(0)
    contexts = generator.integers(0, 2, (3, 4), dtype=np.uint8)
    policy = NeuralBandit(n_variables=4, n_actions=3, **SMALL)
    forgetful = copy.deepcopy(policy)
    for _ in range(300):
        context, action, reward = contexts[generator.integers(3)], int(generator.integers(3)), generator.random()
        decides = generator.random() < 0.5
        for each in (policy, forgetful):
            if decides:
                each.decide(context)
            else:
                each.learn(context, action, reward, propensity=1 / 3)
        forgetful = copy.deepcopy(forgetful)  # what was computed is not copied
    np.testing.assert_array_equal(policy._core.weights, forgetful._core.weights)
    np.testing.assert_array_equal(policy._core.probabilities, forgetful._core.probabilities)
    assert policy.decide(contexts[0]) == forgetful.decide(contexts[0])


def test_play_equals_decide_and_learn_and_a_copy_goes_on_alike():
    generator = np.random.default_rng(0)
    contexts, rewards = generator.integers(0, 2, (300, 5), dtype=np.uint8), generator.random((300, 3))
    played = NeuralBandit(n_variables=5, n_actions=3, **SMALL).play(contexts, rewards)
    policy = NeuralBandit(n_variables=5, n_actions=3, **SMALL)
    policy.play(contexts[:100], rewards[:100])
    copied = copy.deepcopy(policy)
    for event in range(100, 300):
        decision = policy.decide(contexts[event])
        assert decision == (played.actions[event], played.propensities[event])
        policy.learn(contexts[event], decision.action, rewards[event, decision.action], propensity=decision.propensity)
    np.testing.assert_array_equal(copied.play(contexts[100:], rewards[100:]).propensities, played.propensities[100:])


def assert_has_the_weights_of(policy, reference, tolerance):
    perceptrons, core = reference.perceptrons, policy._core
    np.testing.assert_allclose(core.weights.ravel(), perceptrons._weights.ravel(), atol=tolerance, rtol=0)
    np.testing.assert_allclose(core.output_weights, perceptrons._output_weights, atol=tolerance, rtol=0)
    np.testing.assert_allclose(core.output_biases, perceptrons._output_biases, atol=tolerance, rtol=0)


@pytest.mark.parametrize("reward", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("sizes", [(1,), (3, 5), (8, 17)])
def test_a_step_of_the_core_is_that_of_the_specification(sizes, reward):
    parameters = {"n_variables": 9, "n_actions": 3, "hidden_sizes": sizes, "learning_rates": (0.05, 0.2), "seed": 1}
    policy, reference = NeuralBandit(**parameters), ReferenceNeuralBandit(**parameters)
    assert_has_the_weights_of(policy, reference, 0.0)
    first = policy._core.weights.copy()
    context = np.array([1, 0, 1, 1, 0, 0, 1, 1, 0], dtype=np.uint8)
    for each in (policy, reference):
        each.learn(context, 1, reward, propensity=0.5)
    assert np.abs(policy._core.weights - first).max() > 1e-3
    assert_has_the_weights_of(policy, reference, 1e-6)
    untouched = np.append(context, 1)[:, None] * [0, 1, 0] == 0
    np.testing.assert_array_equal(policy._core.weights[untouched.ravel()], first[untouched.ravel()])


@pytest.mark.parametrize(
    ("n_variables", "n_actions", "sizes"), [(1, 2, (1,)), (8, 3, (3, 5)), (63, 1, (7,)), (70, 7, (8, 17))]
)
@pytest.mark.parametrize("binary", [False, True])
def test_the_core_decides_as_the_specification(n_variables, n_actions, sizes, binary):
    generator = np.random.default_rng(n_variables)
    parameters = {
        "n_variables": n_variables,
        "n_actions": n_actions,
        "hidden_sizes": sizes,
        "exploration_rate": 0.1,
        "seed": 3,
    }
    policy, reference = NeuralBandit(**parameters), ReferenceNeuralBandit(**parameters)
    late = []
    for _ in range(1200):
        context = (generator.random(n_variables) < 0.3).astype(np.uint8)
        available = np.flatnonzero(generator.random(n_actions) < 0.8)
        allowed = available if available.size else None
        action, propensity = policy.decide(context, available_actions=allowed)
        expected = reference.decide(context, available_actions=allowed)
        assert action == expected.action
        assert propensity == pytest.approx(expected.propensity, abs=1e-6)
        reward = generator.random() ** (1 + (action + context[0]) % 3)
        late.append((context, action, float(reward > 0.5) if binary else reward, propensity))
        if generator.random() < 0.7:  # rewards come late and out of order; some never come
            *event, propensity = late.pop(generator.integers(len(late)))
            policy.learn(*event, propensity=propensity)
            reference.learn(*event, propensity=propensity)
    assert_has_the_weights_of(policy, reference, 1e-4)
    np.testing.assert_allclose(policy._core.probabilities[0], reference.committee.probabilities, atol=1e-9)


def test_the_core_bears_any_propensity_as_the_specification():
    parameters = {"n_variables": 3, "n_actions": 3, "member_exploration_rate": 0.1, **SMALL}
    policy, reference = NeuralBandit(**parameters), ReferenceNeuralBandit(**parameters)
    generator = np.random.default_rng(0)
    for propensity in [1e-300, 1e-3, 1.0] * 50:
        context, action = generator.integers(0, 2, 3, dtype=np.uint8), int(generator.integers(3))
        for each in (policy, reference):
            each.learn(context, action, 1.0, propensity=propensity)
        np.testing.assert_allclose(policy._core.probabilities[0], reference.committee.probabilities, atol=1e-12)
    assert policy._core.probabilities.max() > 0.5


def test_threads_share_a_policy():
    contexts = np.random.default_rng(0).integers(0, 2, (1000, 6), dtype=np.uint8)
    policy = NeuralBandit(n_variables=6, n_actions=2, exploration_rate=0.01, **SMALL)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: policy.play(contexts, np.tile([0.0, 1.0], (1000, 1))), range(8)))
    assert policy.decide_many(contexts).actions.mean() > 0.9


def test_a_damaged_state_is_refused():
    policy = NeuralBandit(n_variables=6, n_actions=2, **SMALL)
    state = policy._core.__getstate__()
    for damaged in (state[:-1], state + b"0", b"\7" + state[1:]):
        with pytest.raises(ValueError, match=r"array|bytes"):
            type(policy._core).__new__(type(policy._core)).__setstate__(damaged)


def test_seeds_differ():
    contexts = np.ones((50, 5), dtype=np.uint8)
    first, second = (NeuralBandit(n_variables=5, n_actions=3, exploration_rate=0.5, seed=seed) for seed in (0, 1))
    assert first.decide_many(contexts).actions.tolist() != second.decide_many(contexts).actions.tolist()


@pytest.mark.parametrize(
    ("parameter", "value", "rule"),
    [
        ("hidden_sizes", [], "a non-empty list of ints of at least 1"),
        ("hidden_sizes", [4, 0], "a non-empty list of ints of at least 1"),
        ("hidden_sizes", 4, "a non-empty list of ints of at least 1"),
        ("learning_rates", [], r"a non-empty list of numbers in \(0, 1\]"),
        ("learning_rates", [0.1, -1.0], r"a non-empty list of numbers in \(0, 1\]"),
        ("learning_rates", [True], r"a non-empty list of numbers in \(0, 1\]"),
        ("exploration_rate", 0.0, r"a number in \(0, 1\]"),
        ("exploration_rate", True, r"a number in \(0, 1\]"),
        ("member_exploration_rate", 2.0, r"a number in \(0, 1\]"),
    ],
)
def test_wrong_parameters_are_refused(parameter, value, rule):
    with pytest.raises(InvalidArgumentError, match=f"The '{parameter}' of NeuralBandit must be {rule}"):
        NeuralBandit(n_variables=2, n_actions=2, **{parameter: value})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"n_variables": 2**40}, "The 'n_variables' of NeuralBandit must be at most 559239 with 2 actions and 240 "),
        ({"n_actions": 2**62}, "The 'n_actions' of NeuralBandit must be an int in [1, 65536]. "),
        (
            {"hidden_sizes": [2**70]},
            "The 'hidden_sizes' of NeuralBandit must be at most 67108864 units in all members ",
        ),
        (
            {"n_variables": 1, "n_actions": 2**16, "hidden_sizes": [2**10]},
            "The 'hidden_sizes' of NeuralBandit must be ",
        ),
    ],
)
def test_sizes_beyond_memory_are_refused(changes, sentence):
    with pytest.raises(InvalidArgumentError) as caught:
        NeuralBandit(**({"n_variables": 2, "n_actions": 2} | changes))
    assert str(caught.value).startswith(sentence)
    assert str(caught.value).endswith(" instead.")
