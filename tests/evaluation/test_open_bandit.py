"""The Open Bandit Dataset: its columns, and in its samples the random policy's value from the other policy's log."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bandit_forest.evaluation import evaluate, uniform
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


@pytest.mark.skipif(
    FOLDER is None, reason="needs BANDIT_FOREST_OPEN_BANDIT: the folder obp/dataset/obd of the sources of obp 0.5.7"
)
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
