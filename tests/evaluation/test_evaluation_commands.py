"""The commands `evaluate` and `learn`: what they print, what they write, and how they end."""

from __future__ import annotations

import csv
import json
import sys

import numpy as np
import pytest
from logs import honest_log, offer_log

from bandit_forest import Bandit, BanditForest, PairBandit
from bandit_forest.cli import main
from bandit_forest.encoding import ContextEncoder
from bandit_forest.evaluation import always, evaluate, uniform
from bandit_forest.evaluation.readers import Columns, read_csv
from bandit_forest.evaluation.writers import write_dsjson, write_parquet, write_vw

COLUMNS = ["--column", "action=offer", "--column", "reward=bought", "--column", "propensity=chance"]


def run(monkeypatch, *arguments: object) -> object:
    """Run the command in this process; return its exit status, or the line that it ends with."""
    monkeypatch.setattr(sys, "argv", ["bandit-forest", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


@pytest.fixture
def tables(tmp_path):
    """Write two halves of a log in which young people buy with a discount, and others with a banner."""
    rng = np.random.default_rng(0)
    for name in ("first", "second"):
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["offer", "bought", "chance", "age", "city"])
            for _ in range(3000):
                age, city, action = int(rng.integers(18, 80)), rng.choice(["Paris", "Lannion"]), int(rng.integers(2))
                rows.writerow(
                    [
                        ["banner", "discount"][action],
                        int(rng.random() < (0.6 if action == (age < 45) else 0.2)),
                        0.5,
                        age,
                        city,
                    ]
                )
    return tmp_path


def test_from_a_table_to_a_decision(monkeypatch, capsys, tables):
    bandit, page = tables / "new.bandit", tables / "report.html"
    assert run(monkeypatch, "learn", tables / "first.csv", *COLUMNS, "--out", bandit, "--trees", 10) == 0
    printed = capsys.readouterr().out
    assert "Learned from 3,000 events" in printed
    assert Bandit.load(bandit).actions == {"banner": "enabled", "discount": "enabled"}
    assert Bandit.load(bandit).decide({"age": 30, "city": "Paris"}).action == "discount"
    policies = ["--policy", bandit, "--policy", "always:discount", "--policy", "uniform"]
    evaluate = ["evaluate", tables / "second.csv", *COLUMNS, *policies]
    assert run(monkeypatch, *evaluate, "--require", "new > logged", "--report", page) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("new is better than logged: +")
    assert "Looks without a fault: 20 of 20" in printed
    content = page.read_text()
    assert "new is better than logged" in content
    assert content.count("<svg") == 6
    assert "http://" not in content.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons.org", ""
    )
    assert run(monkeypatch, *evaluate, "--require", "uniform > new", "--require", "new > 0.9") == 3
    assert capsys.readouterr().err == "Not met: uniform > new\nNot met: new > 0.9\n"


def test_an_encoder_makes_a_forest(monkeypatch, capsys, tables):
    names = ["offer", "bought", "chance", "age", "city"]
    with (tables / "first.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    features = {name: [row[name] for row in rows] for name in names[3:]}
    encoder = ContextEncoder().fit(features | {"age": list(map(float, features["age"]))})
    (tables / "given.json").write_text(encoder.to_json())
    learn = ["learn", tables / "first.csv", *COLUMNS, "--out", tables / "new.bf", "--trees", 5]
    assert run(monkeypatch, *learn, "--encoder", tables / "given.json") == 0
    assert "Its encoder: " in capsys.readouterr().out
    assert BanditForest.load(tables / "new.bf").action_names == ("banner", "discount")
    evaluate = ["evaluate", tables / "second.csv", *COLUMNS, "--policy", tables / "new.bf"]
    assert run(monkeypatch, *evaluate, "--require", "new > logged") == 0


def test_an_encoder_in_another_encoding_is_refused_by_its_line(monkeypatch, tables):
    BanditForest(n_variables=1, n_actions=2).save(tables / "new.bf")
    log, told = tables / "second.csv", "The 'text' of new.encoder.json, line 2 must be in UTF-8: save the file with"
    (tables / "new.encoder.json").write_bytes('{"columns":\n"größe"}'.encode("latin-1"))
    for given in (["new.bf"], ["uniform", "--encoder", "new.encoder.json"]):
        monkeypatch.chdir(tables)
        assert run(monkeypatch, "evaluate", log, *COLUMNS, "--policy", *given).startswith(f"bandit-forest: {told}")


def test_the_text_of_an_evaluation_is_what_is_printed(monkeypatch, capsys, tables):
    policies = ["--policy", "always:banner", "--policy", "uniform"]
    assert run(monkeypatch, "evaluate", tables / "second.csv", *COLUMNS, *policies) == 0
    printed = capsys.readouterr().out.replace("\u2500", "-")
    log = read_csv(tables / "second.csv", columns=Columns(action="offer", reward="bought", propensity="chance"))
    evaluation = evaluate(log, [always("banner"), uniform()])
    assert repr(evaluation) == str(evaluation) == "<Evaluation: 3,000 events, always banner, uniform beside logged>"
    text = evaluation.to_text()
    assert sorted(text.replace("-", "").split()) == sorted(printed.replace("-", "").split())
    verdict, _, _, heads, line, *rows = text.splitlines()
    assert verdict == evaluation.verdict("always banner")
    assert len(heads) == len(line) == len(rows[1])
    bad = evaluate(next(log.batches())[:100], [uniform()])
    assert "[stop] uniform: effective sample size: " in bad.to_text()


def test_json(monkeypatch, capsys, tables):
    assert run(monkeypatch, "evaluate", tables / "second.csv", *COLUMNS, "--policy", "always:banner", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["n_events"] == 3000
    assert "always banner" in document["policies"]


def test_other_formats(monkeypatch, capsys, tmp_path):
    log, _ = honest_log(2000)
    write_vw(log, tmp_path / "log.vw")
    write_parquet(log, tmp_path / "log.parquet")
    for name in ("log.vw", "log.parquet"):
        assert run(monkeypatch, "evaluate", tmp_path / name, "--policy", "always:1", "--policy", "uniform") == 0
        assert "uniform" in capsys.readouterr().out
    assert run(monkeypatch, "learn", tmp_path / "log.parquet", "--out", tmp_path / "forest.bf", "--trees", 5) == 0
    assert run(monkeypatch, "evaluate", tmp_path / "log.parquet", "--policy", f"new={tmp_path / 'forest.bf'}") == 0
    assert "new" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["log.vw", "log.dsjson"])
def test_a_log_with_offers(monkeypatch, capsys, tmp_path, name):
    write = write_vw if name == "log.vw" else write_dsjson
    for seed in (1, 2):
        write(offer_log(2000, seed), tmp_path / f"{seed} {name}")
    first, second = (tmp_path / f"{seed} {name}" for seed in (1, 2))
    out, page = tmp_path / "new.bandit", tmp_path / "report.html"
    assert run(monkeypatch, "learn", first, "--out", out, "--trees", 8) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Learned from 2,000 events" in printed
    assert "While it learned it would have earned 0." in printed
    assert PairBandit.load(out).version == 2000
    evaluate = ["evaluate", second, "--policy", out, "--policy", "uniform", "--report", page]
    assert run(monkeypatch, *evaluate, "--require", "new > logged") == 0
    assert capsys.readouterr().out.startswith("new is better than logged: +")
    assert "new is better than logged" in page.read_text()
    ended = run(monkeypatch, "learn", first, "--out", out, "--launcher", "local")
    assert ended.startswith("bandit-forest: The 'launcher' of learn must be left out for a log with offers.")


def test_a_log_that_cannot_tell(monkeypatch, capsys, tmp_path):
    log = offer_log(300, 1)
    write_vw(log[:100], tmp_path / "log.vw")
    assert run(monkeypatch, "learn", tmp_path / "log.vw", "--out", tmp_path / "new.bandit") == 0
    assert "The log cannot tell what it would have earned while it learned: an effective" in capsys.readouterr().out


def test_a_bandit_over_pairs_needs_a_log_with_offers(monkeypatch, tables):
    PairBandit().save(tables / "new.bandit")
    ended = run(monkeypatch, "evaluate", tables / "second.csv", *COLUMNS, "--policy", tables / "new.bandit")
    assert ended.startswith("bandit-forest: The 'log' of PairBandit must be one with offers.")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["log.what", "--policy", "uniform"], "'format'"),
        (["log.vw", "--policy", "nothing.bf"], "'policy'"),
        (["log.vw", "--policy", "uniform", "--require", "uniform"], "'require'"),
        (["log.vw", "--policy", "uniform", "--require", "uniform > many"], "'require'"),
        (["log.vw", "--policy", "uniform", "--encoder", "nowhere.json"], "'encoder'"),
        (["log.csv", "--policy", "uniform", "--column", "colour=red"], "'column'"),
        (["nowhere.vw", "--policy", "uniform"], "'path'"),
    ],
)
def test_refusals_are_one_line(monkeypatch, tmp_path, arguments, told):
    log, _ = honest_log(300)
    write_vw(log, tmp_path / "log.vw")
    (tmp_path / "log.csv").write_text("action,reward,propensity\n")
    monkeypatch.chdir(tmp_path)
    ended = run(monkeypatch, "evaluate", *arguments)
    assert ended.startswith("bandit-forest: The ")
    assert told in ended


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["log.vw", "--policy", "nothing.bf"],
            "a file that exists, of a saved Bandit, PairBandit or forest; or uniform",
        ),
        (["log.vw", "--policy", "new=nothing.bf"], "Got 'new=nothing.bf' instead"),
        (
            ["log.what", "--policy", "uniform"],
            "'format' of log.what must be told by the ending of the file, or given by --",
        ),
        (
            ["log.vw", "--policy", "uniform", "--report", "no/where.html"],
            "'report' of bandit-forest must be a file in a",
        ),
        (["nowhere.vw", "--policy", "uniform"], "'path' of the log must be the name of a file that exists"),
        (["log.csv", "--policy", "uniform"], "--reward-low and --reward-high. Got 7.0 instead"),
        (
            ["log.csv", "--policy", "uniform", "--column", "reward=win"],
            "column 'win', or another one given by Columns(rew",
        ),
        (["log.csv", "--policy", "uniform", "--format", "parquet"], "'format' of log.csv must be Parquet"),
        (
            ["log.csv", "--policy", "uniform", "--reward-low", "2"],
            "'reward_range' of log.csv must be two finite numbers",
        ),
    ],
)
def test_refusals_name_files_and_options(monkeypatch, tmp_path, arguments, told):
    (tmp_path / "log.vw").write_text("1:-1:0.5 | a\n")
    (tmp_path / "log.csv").write_text("action,reward,propensity\na,7,0.5\n")
    monkeypatch.chdir(tmp_path)
    ended = run(monkeypatch, "evaluate", *arguments)
    assert told in ended
    for internal in ("open_policy", "open_log", "CsvTable", "VwText"):
        assert internal not in ended


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_learned(monkeypatch, tables):
    ended = run(monkeypatch, "learn", tables / "first.csv", *COLUMNS, "--out", tables / "nowhere" / "new.bandit")
    assert "'out' of bandit-forest must be a file in a folder that exists" in ended


def test_a_report_that_cannot_be_drawn_is_refused_before_anything_is_read(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    ended = run(monkeypatch, "evaluate", "nowhere.csv", "--policy", "uniform", "--report", tmp_path / "report.html")
    assert ended == "bandit-forest: The report needs matplotlib.figure: pip install 'bandit-forest[cli,plot]'."


def test_a_forest_learned_in_shards_is_the_same_file(monkeypatch, tables):
    for name, launcher in (("alone", ()), ("shards", ("--launcher", "local:2"))):
        out = tables / f"{name}.bf"
        assert run(monkeypatch, "learn", tables / "first.csv", *COLUMNS, "--out", out, "--trees", 8, *launcher) == 0
    assert (tables / "alone.bf").read_bytes() == (tables / "shards.bf").read_bytes()
