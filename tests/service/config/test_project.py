"""The project file: what it may say, and how a wrong one is refused."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from projects import make_project

from bandit_forest.bandit import BooleanFeature, CategoricalFeature, NumericFeature, TimeFeature
from bandit_forest.errors import InvalidArgumentError
from bandit_forest.service.config.access import Keys, Server
from bandit_forest.service.config.project import Project
from bandit_forest.service.config.project_file import example_project, load_project, parse_project
from bandit_forest.service.config.storage_identity import StorageIdentity, adopt
from bandit_forest.service.config.tables import Actions, RewardRule

SMALLEST = "[actions]\nnames = ['a', 'b']\n[context.member]\nkind = 'boolean'\n"


def test_the_example_loads_and_says_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "offers.toml").write_text(example_project())
    project = load_project(tmp_path / "offers.toml")
    assert project.actions.names == ("discount", "free shipping", "nothing")
    assert project.context["age"] == NumericFeature(thresholds=(25.0, 35.0, 50.0, 65.0), missing=True)
    assert project.context["basket"] == NumericFeature()
    assert project.context["country"] == CategoricalFeature(values=("FR", "DE", "ES", "IT"), open=True)
    assert project.context["member"] == BooleanFeature()
    assert project.storage.folder == tmp_path / "bandit-forest-data"
    assert project.server.is_loopback


def test_what_is_commented_out_in_the_example_is_right_too() -> None:
    lines = example_project().splitlines()
    names = ("capacity", "default", "max_nodes", "[forest.", "log_capacity", "lifetime", "gamma_scale", "rotate_")
    wanted = tuple(f"# {name}" for name in names)
    text = "\n".join(line.removeprefix("# ") if line.startswith(wanted) else line for line in lines)
    project = parse_project(text, name="all.toml")
    assert (project.actions.capacity, project.reward.default) == (16, 0.0)
    assert project.forest["exploration"] == {"gamma_scale": 100.0}


def test_the_smallest_project_has_defaults() -> None:
    project = parse_project(SMALLEST, name="small.toml")
    assert project.settings.capacity == 16
    assert project == Project(actions=Actions(names=("a", "b")), context={"member": BooleanFeature()})


@pytest.mark.parametrize(
    ("change", "line", "words"),
    [
        (("n_trees = 32", "n_trees = 0"), "n_trees", "[1, 1048576]"),
        (("n_trees = 32", "n_tree = 32"), "n_tree", "Did you mean 'n_trees'?"),
        (("[reward]", "[rewards]"), "[rewards]", "Did you mean 'reward'?"),
        (('names = ["discount"', 'name = ["discount"'), "name =", "Did you mean 'names'?"),
        (("high = 1.0", "high = -1"), "high", "above 'low'"),
        (("window_seconds = 86400 ", "window_seconds = 0"), "window_seconds", "> 0.0"),
        (('on_duplicate = "refuse"', 'on_duplicate = "learn"'), "on_duplicate", "'refuse' or 'ignore'"),
        (("thresholds = [25, 35, 50, 65]", "thresholds = [25, 25]"), "thresholds", "increasing"),
        (("thresholds = [25, 35, 50, 65]", "edges = [25, 25]"), "edges", "increasing"),
        (("thresholds = [25, 35, 50, 65]", "bin = 5 "), "bin =", "Did you mean 'bins'?"),
        (('kind = "boolean"', 'kind = "bool"'), 'kind = "bool"', "'numeric', 'categorical', 'boolean'"),
        (('host = "127.0.0.1"', 'host = "0.0.0.0"'), "host", "unless [keys] has both"),
        (("port = 8420", "port = 84200"), "port", "<= 65535"),
        (('names = ["discount", ', 'names = ["nothing", '), "names", "different"),
        (("waiting_events = 100000", "waiting_events = 'many'"), "waiting_events", "expected `int`, got `str`"),
        (('mode = "decide"', 'mode = "learn"'), "mode", "'decide' or 'shadow'"),
        (("[forest]", "[forest]\ngrowth = { rule = 'Fast' }"), "growth", "one of Elimination, Greedy"),
        (("[forest]", "[forest]\n[forest.growth]\nspeed = 3"), "[forest.growth]", "speed"),
        (("[context.member]", "['context'.member]\nmising = true"), "mising", "Did you mean 'missing'?"),
        (("[context.member]", "[context.member"), "[context.member", "']'"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(change: tuple[str, str], line: str, words: str) -> None:
    assert change[0] in example_project()
    text = example_project().replace(*change, 1)
    with pytest.raises(InvalidArgumentError) as refusal:
        parse_project(text, name="offers.toml")
    assert words in str(refusal.value)
    assert str(refusal.value).startswith("offers.toml")
    told = re.search(r"line (\d+)", str(refusal.value))
    assert told
    assert line in text.splitlines()[int(told[1]) - 1]


def test_a_missing_file_or_table_names_the_cure(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="bandit-forest init"):
        load_project(tmp_path / "none.toml")
    with pytest.raises(InvalidArgumentError, match=r"needs a table \[context\]"):
        parse_project("[actions]\nnames = ['a']", name="x.toml")
    with pytest.raises(InvalidArgumentError, match=r"\[actions\] is not complete"):
        parse_project(SMALLEST.replace("names = ['a', 'b']", ""), name="x.toml")


def test_keys_are_told_by_name_or_digest_and_never_shown() -> None:
    digest = hashlib.sha256(b"open sesame, please").hexdigest()
    keys = Keys(decide=("env:KEY",), admin=(f"sha256:{digest}",))
    sesame, barley = bytes.fromhex(digest), hashlib.sha256(b"open, barley, please").digest()
    for value in ("open, barley, please", " open, barley, please\n"):  # as files end
        assert keys.digests({"KEY": value}) == {"decide": (barley,), "admin": (sesame,)}
    for nothing in ({}, {"KEY": " "}):
        with pytest.raises(InvalidArgumentError, match="export KEY="):
            keys.digests(nothing)
    with pytest.raises(InvalidArgumentError) as refusal:
        Keys(decide=("open sesame, please",))
    assert "open sesame, please" not in str(refusal.value)


def test_short_keys_and_one_key_for_both_roles_are_refused() -> None:
    keys = Keys(decide=("env:KEY",), admin=("env:ADMIN",))
    for short in ("a", "fifteen letters"):
        with pytest.raises(InvalidArgumentError, match="a key of at least 16 characters") as refusal:
            keys.digests({"KEY": short, "ADMIN": "a key that is long"})
        assert repr(short) not in str(refusal.value)
    with pytest.raises(InvalidArgumentError, match="none of which is also under 'decide'"):
        keys.digests({"KEY": "one key for both", "ADMIN": "one key for both"})


def test_any_other_host_than_loopback_needs_both_keys(tmp_path: Path) -> None:
    outside = Server(host="0.0.0.0")
    with pytest.raises(InvalidArgumentError, match="loopback"):
        make_project(tmp_path, server=outside, keys=Keys(decide=("env:KEY",)))
    assert make_project(tmp_path, server=outside, keys=Keys(decide=("env:KEY",), admin=("env:ADMIN",)))


def test_rewards_are_mapped_to_the_unit_interval() -> None:
    rule = RewardRule(low=-2, high=6).range
    assert [rule.scale(reward) for reward in (-2, 0, 6)] == [0.0, 0.25, 1.0]
    assert rule.unscale(0.25) == 0.0


def test_a_folder_keeps_what_it_was_made_with(tmp_path: Path) -> None:
    project = make_project(tmp_path, actions=Actions(names=("a", "b")), forest={"n_trees": 5})
    identity = StorageIdentity.from_text(StorageIdentity.of(project.settings).to_text())
    more_names = make_project(tmp_path, actions=Actions(names=tuple("abcdefghijk")), forest={})
    adopted = adopt(more_names, identity).settings
    assert adopted.capacity == 16  # and not the 19 that eleven names would get
    assert adopted.forest["n_trees"] == 5
    for wrong in ({"forest": {"n_trees": 6}}, {"reward": RewardRule(high=2)}, {"warm_up_events": 3}):
        with pytest.raises(InvalidArgumentError, match="as when the storage folder was made"):
            adopt(make_project(tmp_path, actions=project.actions, **wrong), identity)
    with pytest.raises(InvalidArgumentError, match="context"):
        adopt(make_project(tmp_path, actions=project.actions, context={"member": BooleanFeature()}), identity)
    with pytest.raises(InvalidArgumentError, match="capacity"):
        adopt(make_project(tmp_path, actions=Actions(names=("a",), capacity=20)), identity)


OLD_FIELDS = {
    "age": {"edges": None, "kind": "NumericField", "missing": True, "n_bins": 5},
    "basket": {"edges": [10.0, 20.0], "kind": "NumericField", "missing": False, "n_bins": 5},
    "member": {"kind": "BooleanField", "missing": False},
}
ELIMINATION = {"growth": {"rule": "Elimination"}, "exploration": {"rule": "RoundRobin"}}


@pytest.mark.parametrize("forest", [{}, ELIMINATION])
def test_a_folder_from_before_numbers_were_ordered_keeps_its_bins(tmp_path: Path, forest: dict[str, Any]) -> None:
    features = {
        "age": NumericFeature(missing=True),
        "basket": NumericFeature(edges=(10, 20)),
        "member": BooleanFeature(),
    }
    explicit = features | {"age": NumericFeature(n_bins=5, missing=True)}
    settings = make_project(tmp_path, context=explicit, forest=forest).settings
    made = settings.to_json() | {"context": OLD_FIELDS, "order": list(OLD_FIELDS)}
    identity = StorageIdentity.from_text(json.dumps(made))
    adopted = adopt(make_project(tmp_path, context=features, forest=forest), identity).settings.features
    assert adopted is not None
    assert adopted["age"] == NumericFeature(n_bins=5, missing=True)
    assert adopted["basket"] == NumericFeature(edges=(10, 20), n_bins=5)
    assert adopt(make_project(tmp_path, context=explicit, forest=forest), identity).settings.features == adopted
    for wrong in (NumericFeature(n_bins=4, missing=True), NumericFeature(thresholds=(5, 6), missing=True)):
        with pytest.raises(InvalidArgumentError, match="as when the storage folder was made"):
            adopt(make_project(tmp_path, context=features | {"age": wrong}, forest=forest), identity)


def test_a_project_and_a_folder_may_have_the_name_that_a_parameter_had_before(tmp_path: Path) -> None:
    old, new = ({"growth": {"rule": "Elimination", name: "path"}} for name in ("remaining", "remaining_actions"))
    identity = StorageIdentity.of(make_project(tmp_path, forest=new).settings)
    assert identity.settings.forest["growth"]["remaining_actions"] == "path"
    assert adopt(make_project(tmp_path, forest=old), identity) == identity
    text = identity.to_text().replace('"remaining_actions"', '"remaining"')
    assert adopt(make_project(tmp_path, forest=new), StorageIdentity.from_text(text)).to_text() == text


def test_a_new_folder_keeps_numbers_in_order(tmp_path: Path) -> None:
    project = make_project(tmp_path, context={"age": NumericFeature()})
    identity = StorageIdentity.from_text(StorageIdentity.of(project.settings).to_text())
    assert adopt(project, identity).settings.features == {"age": NumericFeature()}


def test_thresholds_are_declared_or_left_open_and_exclude_bins() -> None:
    table = '[context.age]\nkind = "numeric"\n'
    project = parse_project(SMALLEST + table, name="small.toml")
    assert project.context["age"] == NumericFeature()
    project = parse_project(SMALLEST + table + "thresholds = [18, 38]", name="small.toml")
    assert project.context["age"] == NumericFeature(thresholds=(18.0, 38.0))
    for wrong in (
        "thresholds = [38, 18]",
        "thresholds = []",
        "thresholds = [1]\nbins = 5",
        "thresholds = [1]\nedges = [1]",
    ):
        with pytest.raises(InvalidArgumentError, match=r"small\.toml, line \d+: The 'thresholds' of a numeric feature"):
            parse_project(SMALLEST + table + wrong, name="small.toml")


def test_numbers_in_order_need_greedy_growth(tmp_path: Path) -> None:
    for feature in (NumericFeature(), TimeFeature()):
        with pytest.raises(InvalidArgumentError, match="only Greedy growth takes numbers in order"):
            _ = make_project(tmp_path, context={"age": feature}, forest=ELIMINATION).settings
    assert make_project(tmp_path, context={"age": NumericFeature(n_bins=5)}, forest=ELIMINATION).settings


def test_features_whose_names_clash_are_refused_with_their_line() -> None:
    text = '[actions]\nnames = ["a", "b"]\n[context.t]\nkind = "time"\n[context."t hour"]\nkind = "numeric"\n'
    with pytest.raises(InvalidArgumentError, match=r"^shop.toml, line 5: The 't hour' of the context must be renamed"):
        parse_project(text, name="shop.toml")
