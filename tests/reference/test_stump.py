"""Decision Stump against the paper."""

import numpy as np
import pytest

from bandit_forest.errors import InvalidArgumentError
from bandit_forest.reference.forest import ReferenceForest
from bandit_forest.reference.selection import VariableSelection
from bandit_forest.reference.stump import DecisionStump
from bandit_forest.rules import Elimination
from bandit_forest.worlds import Stump


def play(algorithm, world, n_events, seed):
    """Play until finished; give (event, context, action) after each event."""
    n_played = 0
    for batch in world.batches(n_events, seed=seed, batch_size=512):
        for context, rewards in zip(batch.contexts, batch.rewards, strict=True):
            action = algorithm.next_action(context)
            algorithm.learn(context, action, rewards[action])
            yield n_played, context, action
            n_played += 1
            if algorithm.finished:
                return


@pytest.mark.parametrize("n_actions", [2, 3])
@pytest.mark.parametrize("structure_seed", [0, 1, 2])
def test_it_finds_the_best_variable_and_the_best_actions(n_actions, structure_seed):
    world = Stump(n_variables=6, n_actions=n_actions, action_gap=0.45, structure_seed=structure_seed)
    stump = DecisionStump(n_variables=6, n_actions=n_actions)
    for _ in play(stump, world, 20_000, seed=1):
        pass
    assert stump.finished
    assert stump.remaining_variables == world.relevant_variables
    contexts = np.eye(6, dtype=np.uint8)
    assert [stump.remaining_actions(context) for context in contexts] == [
        [int(best)] for best in world.expected_rewards(contexts).argmax(axis=1)
    ]


def test_variables_are_selected_as_by_variable_selection():
    world = Stump(n_variables=5, n_actions=3, variable_gap=0.45, action_gap=0.5)
    stump = DecisionStump(n_variables=5, n_actions=3)
    selection = VariableSelection(n_variables=5, n_actions=3)
    events = zip(play(stump, world, 20_000, seed=2), play(selection, world, 20_000, seed=2), strict=False)
    for (_, _, action), (_, _, other_action) in events:
        assert stump.remaining_variables == selection.remaining_variables
        assert action == other_action
    assert selection.finished


def test_all_actions_are_played_until_one_variable_remains():
    # Action 2 is hopeless everywhere and soon eliminated for all values, but it is played to the end of the selection.
    world = Stump(n_variables=4, n_actions=3, action_gap=0.45)
    stump = DecisionStump(n_variables=4, n_actions=3)
    for event, context, action in play(stump, world, 20_000, seed=3):
        if len(stump.remaining_variables) > 1:
            assert action == event % 3
            assert stump.remaining_actions(context) == [0, 1, 2]
    assert stump.finished


def test_actions_eliminated_while_variables_were_explored_are_gone_at_once():
    world = Stump(n_variables=4, n_actions=3, action_gap=0.45)
    stump = DecisionStump(n_variables=4, n_actions=3)
    for _ in play(stump, world, 20_000, seed=4):
        if len(stump.remaining_variables) == 1:
            break
    # Selecting the variable took so long that each of its values has found its action meanwhile.
    assert stump.finished


def test_what_is_eliminated_stays_eliminated():
    stump = DecisionStump(n_variables=1, n_actions=2, delta=1.0)
    for _ in range(50):
        stump.learn([0], 0, 1.0)
        stump.learn([0], 1, 0.0)
    assert stump.remaining_actions([0]) == [0]
    for _ in range(500):
        stump.learn([0], 1, 1.0)
        stump.learn([0], 0, 0.0)
    assert stump.remaining_actions([0]) == [0]
    assert stump.remaining_actions([1]) == [0, 1]


def test_each_value_has_a_rotation_of_its_own():
    # With one rotation for both, values that alternate would each see one action for ever.
    stump = DecisionStump(n_variables=1, n_actions=2)
    played = {0: [], 1: []}
    for event in range(8):
        context = [event % 2]
        action = stump.next_action(context)
        played[event % 2].append(action)
        stump.learn(context, action, 0.5)
    assert played == {0: [0, 1, 0, 1], 1: [0, 1, 0, 1]}


def test_conditional_means_divide_by_the_plays_with_the_value():
    # x = 1 is rare. Given it, action 1 pays always and action 0 never, which 20 plays of each are enough to see; as
    # joint means, over 2000 plays of each, the two differ by 0.01 and nothing could be said.
    stump = DecisionStump(n_variables=1, n_actions=2, delta=0.5)
    for event in range(2000):
        context = [int(event % 100 == 0)]
        for action in (0, 1):
            stump.learn(context, action, float(action == 1 and context[0]))
    assert stump.remaining_actions([1]) == [1]
    assert stump.remaining_actions([0]) == [0, 1]


def test_wrong_calls_are_refused():
    with pytest.raises(InvalidArgumentError, match="The 'delta' of DecisionStump must be a number in"):
        DecisionStump(n_variables=2, n_actions=2, delta=1.5)
    stump = DecisionStump(n_variables=2, n_actions=2)
    with pytest.raises(InvalidArgumentError, match=r"The 'context' of DecisionStump.next_action"):
        stump.next_action([0, 1, 1])
    with pytest.raises(InvalidArgumentError, match=r"The 'reward' of DecisionStump.learn must be a number in \[0, 1\]"):
        stump.learn([0, 1], 0, float("nan"))
    assert stump.next_action([0, 1]) == 0


@pytest.mark.parametrize("n_actions", [2, 4])
def test_a_forest_of_one_stump_eliminates_the_same_at_the_same_events(n_actions):
    # Equations (3) and (4) are (1) and (2) with 2^D times the hypotheses: half the delta here makes up for it.
    world = Stump(n_variables=4, n_actions=n_actions, action_gap=0.5, structure_seed=3)
    stump = DecisionStump(n_variables=4, n_actions=n_actions, delta=0.05)
    forest = ReferenceForest(n_variables=4, n_actions=n_actions, max_depth=1, growth=Elimination(delta=0.1))
    batch = next(world.batches(8000, seed=5))
    for context, rewards in zip(batch.contexts, batch.rewards, strict=True):
        decision = forest.decide(context)
        if len(stump.remaining_variables) > 1:
            assert decision.action == stump.next_action(context)
        stump.learn(context, decision.action, rewards[decision.action])
        forest.learn(context, decision.action, rewards[decision.action], propensity=decision.propensity)
        root = forest.trees[0].nodes[0]
        if root.variable is None:
            assert stump.remaining_variables == root.remaining_variables
        else:
            assert stump.remaining_variables == [root.variable]
            assert stump.remaining_actions(context) == forest.trees[0].leaf(context).remaining_actions
        if stump.finished:
            break
    assert stump.finished
