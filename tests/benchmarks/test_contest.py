"""The parts of the bake-off that decide what is compared: the split, the rewards, the paired test, the page."""

import json

import numpy as np
import pytest

from bandit_forest.errors import InvalidArgumentError
from contest.report.page import fill_pages
from contest.report.paired import Difference, Standing, paired_difference, standing
from contest.rewards import MODES, draw_rewards
from contest.rows import append_row, drop_partial_rows, read_rows
from contest.split import split_sets

N_EVENTS, N_ACTIONS = 20_000, 4
RIGHT = np.random.default_rng(5).integers(0, N_ACTIONS, N_EVENTS)


def rewards_of(mode, seed=0):
    return draw_rewards(mode=mode, right_actions=RIGHT, n_actions=N_ACTIONS, seed=seed)


def mean_rewards(mode):
    is_right = RIGHT[:, np.newaxis] == np.arange(N_ACTIONS)
    rewards = rewards_of(mode)
    return rewards[is_right].mean(), rewards[~is_right].mean()


def test_the_split_is_two_halves_that_do_not_depend_on_the_order_of_names():
    names = [f"set{number}" for number in range(28)]
    split = split_sets(names)
    assert len(split.choosing) == len(split.reporting) == 14
    assert sorted(split.choosing + split.reporting) == sorted(names)
    assert split_sets(reversed(names)) == split


def test_clean_rewards_pay_the_right_action_only():
    assert (rewards_of("clean").argmax(axis=1) == RIGHT).all()
    assert (rewards_of("clean").sum(axis=1) == 1.0).all()


@pytest.mark.parametrize(
    ("mode", "right", "wrong"), [("flipped", 0.8, 0.2), ("rare", 0.2, 0.0), ("fractional", 2 / 3, 1 / 3)]
)
def test_noisy_rewards_have_the_stated_means(mode, right, wrong):
    assert mean_rewards(mode) == pytest.approx((right, wrong), abs=0.02)  # at least five standard errors


@pytest.mark.parametrize("mode", MODES)
def test_rewards_are_between_0_and_1_and_a_function_of_the_seed(mode):
    rewards = rewards_of(mode)
    assert rewards.shape == (N_EVENTS, N_ACTIONS)
    assert 0.0 <= rewards.min() <= rewards.max() <= 1.0
    assert (rewards == rewards_of(mode)).all()
    assert mode == "clean" or (rewards != rewards_of(mode, seed=1)).any()


def test_an_unknown_mode_is_refused():
    with pytest.raises(InvalidArgumentError, match="'mode'"):
        rewards_of("loud")


def test_a_paired_difference_knows_its_standard_error():
    difference = paired_difference([[0.5, 0.7], [0.9, 0.9]], [[0.4, 0.6], [0.6, 0.8]])
    assert difference.mean == pytest.approx(0.15)
    assert difference.standard_error == pytest.approx(0.05)
    assert difference.is_significant
    assert not paired_difference([0.5, 0.7], [0.6, 0.6]).is_significant
    assert not paired_difference([0.5, 0.7], [0.5, 0.7]).is_significant


def test_half_a_point_counts_unless_the_test_decides():
    differences = [Difference(0.006, 0.01), Difference(0.004, 0.001), Difference(-0.02, 0.001), Difference(0.0, 0.0)]
    assert standing(differences, by_test=False) == Standing(1, 2, 1)
    assert standing(differences, by_test=True) == Standing(1, 2, 1)
    assert str(standing(differences[:2], by_test=True)) == "1 / 1 / 0"


def test_pages_get_their_tables_between_the_markers():
    pages = ["# A\n<!-- one -->\nold\n<!-- end -->\ntext\n", "<!-- two -->\n<!-- end -->\n"]
    tables = {"two": "| 2 |", "one": "| 1 |"}
    filled = fill_pages(pages, tables)
    assert filled == ["# A\n<!-- one -->\n| 1 |\n<!-- end -->\ntext\n", "<!-- two -->\n| 2 |\n<!-- end -->\n"]
    assert fill_pages(filled, tables) == filled
    with pytest.raises(InvalidArgumentError, match="'<!-- three -->'"):
        fill_pages(pages, {"three": ""})


def test_a_row_that_was_cut_off_is_left_out(tmp_path):
    row = {"policy": "forest", "all": 0.5}
    append_row(tmp_path, row)
    with (tmp_path / "forest.jsonl").open("a") as file:
        file.write(json.dumps(row)[:9])
    assert list(read_rows(tmp_path)) == [row]
    drop_partial_rows(tmp_path)
    append_row(tmp_path, row)
    assert list(read_rows(tmp_path)) == [row, row]
