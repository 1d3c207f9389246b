"""The Open Bandit Dataset: its columns, and in its samples the random policy's value from the other policy's log."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bandit_forest import InvalidArgumentError, PairBandit
from bandit_forest.evaluation import as_it_stands, evaluate, learn_along, uniform
from bandit_forest.evaluation.readers import read_open_bandit

FOLDER = os.environ.get("BANDIT_FOREST_OPEN_BANDIT")

CSV = """,timestamp,item_id,position,click,propensity_score,user_feature_0,user-item_affinity_0
0,2019-11-24 00:00:17.004101+00:00,2,3,0,0.25,81ce,0.0
1,2019-11-24 00:00:18+00:00,0,1,1,0.5,cef3,0.0
"""


def test_the_columns(tmp_path):
    path = tmp_path / "all.csv"
    path.write_text(CSV)
    (tmp_path / "item_context.csv").write_text(",item_id,item_feature_0\n0,0,-0.5\n1,1,0.5\n2,2,0.5\n")
    source = read_open_bandit(path)
    assert source.action_names == ("0", "1", "2")
    (log,) = source.batches()
    assert log.actions.tolist() == [2, 0]
    assert log.rewards.tolist() == [0, 1]
    assert log.propensities.tolist() == [0.25, 0.5]
    assert log.features["position"].tolist() == ["3", "1"]
    assert list(log.features) == ["position", "user_feature_0"]


def test_items_are_offered_with_their_features(tmp_path):
    path = tmp_path / "all.csv"
    path.write_text(CSV)
    with pytest.raises(InvalidArgumentError, match=r"'offers' of read_open_bandit must be 'item_context\.csv' beside"):
        read_open_bandit(path, offers=True)
    head = ",item_id,item_feature_0,item_feature_1,item_feature_2,item_feature_3\n"
    (tmp_path / "item_context.csv").write_text(f"{head}0,0,-0.5,a,b,c\n1,1,0.5,a,d,e\n2,2,0.5,a,b,c\n")
    source = read_open_bandit(path, offers=True)
    assert (source.action_names, source.n_events) == (("0", "1", "2"), 2)
    (log,) = source.batches()
    assert log.actions.tolist() == [2, 0]
    assert log.offers[0].context == {"position": "3", "user_feature_0": "81ce"}
    assert log.offers[0].actions[1] == {
        **{"id": "1", "item_feature_0": 0.5, "item_feature_1": "a", "item_feature_2": "d", "item_feature_3": "e"}
    }
    assert log.available.all()


@pytest.mark.parametrize(
    ("items", "told"),
    [
        ("item_feature_0\n0.5\n", "'columns' of item_context.csv must be a table with the column 'item_id'"),
        ("item_id\n0\n", "'columns' of item_context.csv must be a table with the column 'item_feature_0'"),
        (
            "item_id,item_feature_0\n0,0.5\n1,\n",
            "'item_feature_0' of item_context.csv, line 3 must be a number. Got ''",
        ),
        ("item_id,item_feature_0\n0,big\n", "'item_feature_0' of item_context.csv, line 2 must be a number. Got 'big'"),
        ("item_id,item_feature_0\n0,1\n,2\n", "'item_id' of item_context.csv, line 3 must be an id that no other item"),
        (
            "item_id,item_feature_0\n2,1\n2,2\n",
            "'item_id' of item_context.csv, line 3 must be an id that no other item",
        ),
        ("item_id,item_feature_0,item_feature_0\n2,1,1\n", "'columns' of item_context.csv .* only one column"),
    ],
)
def test_faults_in_the_items_are_refused_by_line_and_column(tmp_path, items, told):
    (tmp_path / "all.csv").write_text(CSV)
    (tmp_path / "item_context.csv").write_text(items)
    with pytest.raises(InvalidArgumentError, match=told):
        read_open_bandit(tmp_path / "all.csv")


samples = pytest.mark.skipif(
    FOLDER is None, reason="needs BANDIT_FOREST_OPEN_BANDIT: the folder obp/dataset/obd of the sources of obp 0.5.7"
)


@samples
@pytest.mark.parametrize("campaign", ["all", "men", "women"])
def test_the_samples(campaign):
    folder = Path(FOLDER)
    played, logged = (read_open_bandit(folder / policy / campaign / f"{campaign}.csv") for policy in ("random", "bts"))
    truth = evaluate(played, [uniform()]).estimate("logged").value
    evaluation = evaluate(logged, [uniform()])
    assert evaluation.n_events == 10_000
    for estimator in ("snips", "dr"):
        estimate = evaluation.estimate("uniform", estimator)
        assert estimate.low <= truth <= estimate.high
    assert not evaluation.faults


@samples
@pytest.mark.parametrize("campaign", ["all", "men", "women"])
def test_a_bandit_over_pairs_learns_the_samples_and_claims_no_more_than_they_tell(campaign):
    folder = Path(FOLDER)
    played, logged = (
        read_open_bandit(folder / policy / campaign / f"{campaign}.csv", offers=True) for policy in ("random", "bts")
    )
    bandit = PairBandit(seed=1)
    along = learn_along(played, bandit)
    assert bandit.version == along.n_events == 10_000
    evaluation = evaluate(logged, [as_it_stands(bandit, name="bandit"), uniform()])
    assert not evaluation.faults
    assert not along.is_judged
    for policy in ("bandit", "uniform"):
        assert evaluation.verdict(policy).startswith("No verdict")  # some 40 clicks are too few
        assert not evaluation.is_better(policy)
        assert not evaluation.is_better("logged", policy)
    low, high = evaluation.gains["bandit"]
    assert low < 0 < high
    fixed = read_open_bandit(folder / "bts" / campaign / f"{campaign}.csv")
    assert evaluation.estimate("uniform") == evaluate(fixed, [uniform()]).estimate("uniform")
