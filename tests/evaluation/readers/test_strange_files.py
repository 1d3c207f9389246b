"""Files as they come from elsewhere: another encoding, another format, too few events to learn from."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from logs import changed, honest_log

from bandit_forest import Bandit, InvalidArgumentError
from bandit_forest.evaluation import Log, evaluate, learn_along, uniform
from bandit_forest.evaluation.opening import open_policy
from bandit_forest.evaluation.readers import (
    Columns,
    read_csv,
    read_dsjson,
    read_frame,
    read_open_bandit,
    read_parquet,
    read_vw,
)
from bandit_forest.evaluation.writers import write_parquet

HEADER = "action,reward,propensity,city\n"
ROW = "a,1,0.5,Paris\n"


@pytest.mark.parametrize("n_before", [0, 3, 5000])
def test_a_table_in_another_encoding_is_refused_by_its_line(tmp_path, n_before):
    path = tmp_path / "latin.csv"
    path.write_bytes((HEADER + ROW * n_before + "a,1,0.5,München\n").encode("latin-1"))
    line = rf"line {n_before + 2} must be in UTF-8: save the file with this encoding. Got b'.*M\\xfcnchen' instead"
    with pytest.raises(InvalidArgumentError, match=line):
        read_csv(path)


def test_a_header_in_another_encoding_is_refused(tmp_path):
    (tmp_path / "latin.csv").write_bytes("action,reward,propensity,größe\n".encode("latin-1"))
    for read in (read_csv, read_open_bandit):
        with pytest.raises(InvalidArgumentError, match=r"'text' of latin.csv, line 1 must be in UTF-8"):
            read(tmp_path / "latin.csv")


@pytest.mark.parametrize("read", [read_dsjson, read_vw])
def test_lines_in_another_encoding_are_refused_by_their_number(tmp_path, read):
    line = '{"_label_Action": 1, "_label_cost": 0, "_label_probability": 1}' if read is read_dsjson else "1:0:1 | a"
    (tmp_path / "log").write_bytes((f"{line}\n" * 700 + "München\n").encode("latin-1"))
    with pytest.raises(InvalidArgumentError, match="log, line 701 must be in UTF-8"):
        read(tmp_path / "log")


def test_a_parquet_file_with_the_wrong_ending_is_refused(tmp_path):
    write_parquet(honest_log(50)[0], tmp_path / "log.csv")
    with pytest.raises(InvalidArgumentError, match=r"'format' of log.csv must be a CSV file; .* Got 'a Parquet file'"):
        read_csv(tmp_path / "log.csv")


@pytest.mark.parametrize(("content", "told"), [("", "header"), (f'{HEADER}{ROW}a,1,0.5,"b"c\n', "line 3")])
def test_what_is_no_table_is_refused(tmp_path, content, told):
    (tmp_path / "log.csv").write_text(content)
    with pytest.raises(InvalidArgumentError, match=told):
        read_csv(tmp_path / "log.csv")


@pytest.mark.parametrize("name", ["cost", "_label_cost"])
def test_a_cost_outside_the_range_is_told_as_it_was_written(tmp_path, name):
    line = '{"_label_Action": 1, "_label_cost": 2, "_label_probability": 0.5}' if name[0] == "_" else "1:2:0.5 | a"
    read = read_dsjson if name[0] == "_" else read_vw
    (tmp_path / "bad").write_text(f"{line}\n")
    with pytest.raises(InvalidArgumentError) as refused:
        list(read(tmp_path / "bad").batches())
    told = str(refused.value)
    assert told.startswith(f"The '{name}' of bad, line 1")
    assert "must be in [-1, 0]: a cost of 2 is a reward of -2, which is outside the range of rewards [0, 1]; " in told
    assert told.endswith("reward_range, or by --reward-low and --reward-high. Got 2 instead.")
    (log,) = read(tmp_path / "bad", reward_range=(-3, 0)).batches()
    assert log.rewards.tolist() == [-2.0]


def test_a_reward_outside_the_range_names_the_cure(tmp_path):
    (tmp_path / "log.csv").write_text(HEADER + "a,7,0.5,Paris\n")
    told = r"'reward' of log.csv, line 2 must be in \[0, 1\], or NaN; another .* --reward-low and .* Got 7.0 instead"
    with pytest.raises(InvalidArgumentError, match=told):
        list(read_csv(tmp_path / "log.csv").batches())


@pytest.mark.parametrize("n_events", [1, 3, 12_000])
def test_a_log_whose_features_do_not_vary_is_evaluated_without_contexts(tmp_path, n_events):
    path = tmp_path / "log.vw"
    path.write_text("1:-1:0.5 | a\n2:0:0.5 | a\n3:0:0.5 | a\n"[: 13 * n_events] * max(n_events // 3, 1))
    source = read_vw(path, actions=3)
    evaluation = evaluate(source, [uniform()])
    assert evaluation.n_events == n_events
    bare = changed(next(source.batches(n_events)), contexts=None)
    assert bare.features is None
    same = evaluate(bare, [uniform()])
    assert evaluation.estimate("uniform", "dr") == same.estimate("uniform", "dr")


def test_a_log_of_one_event_is_learned(tmp_path):
    (tmp_path / "log.vw").write_text("1:-1:0.5 | a\n")
    source = read_vw(tmp_path / "log.vw")
    bandit = Bandit(actions=list(source.action_names))
    assert not learn_along(source, bandit).is_judged
    assert bandit.model.warm_up_left == 199


def test_an_action_of_thousands_of_digits_is_a_name_like_others(tmp_path):
    long = "9" * 5000
    (tmp_path / "log.csv").write_text(HEADER + "".join(f"{name},1,0.5,Paris\n" for name in ("b", long, "10", "9")))
    source = read_csv(tmp_path / "log.csv")
    assert source.action_names == ("9", "10", long, "b")
    assert evaluate(source, [open_policy(f"always:{long}")]).n_events == 4
    with pytest.raises(InvalidArgumentError, match=r"'action' of always must be one of .* Got '8888"):
        evaluate(source, [open_policy(f"always:{'8' * 5000}")])


def test_numbers_beyond_all_floats_are_refused(tmp_path):
    huge = 10**400
    (tmp_path / "log.csv").write_text(f'{HEADER}a,1,0.5,"[{huge}]"\n')
    with pytest.raises(InvalidArgumentError, match=r"'city' of log.csv, line 2 must be lists with the probability"):
        list(read_csv(tmp_path / "log.csv", columns=Columns(probabilities="city")).batches())
    with pytest.raises(InvalidArgumentError, match="'reward' of read_frame, row 0 must be a number"):
        read_frame([{"action": "a", "reward": huge, "propensity": 0.5}])
    for given in ({"rewards": [huge]}, {"reward_range": (0, huge)}):
        with pytest.raises(InvalidArgumentError, match=f"'{next(iter(given))}' of Log"):
            Log(**({"actions": [0], "rewards": [1], "propensities": [1], "action_names": 1} | given))


@pytest.mark.parametrize("name", ["city", "reward"])
def test_two_columns_of_one_name_are_refused(tmp_path, name):
    (tmp_path / "log.csv").write_text(f"action,reward,propensity,city,{name}\na,1,0.5,Paris,0\n")
    table = pa.table([["a"], [1], [0.5], ["Paris"], [0]], names=["action", "reward", "propensity", "city", name])
    parquet.write_table(table, tmp_path / "log.parquet")
    for read, file in ((read_csv, "log.csv"), (read_parquet, "log.parquet")):
        with pytest.raises(
            InvalidArgumentError, match=f"'columns' of {file} must be a table with only one .* '{name}'"
        ):
            read(tmp_path / file)
