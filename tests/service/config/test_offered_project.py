"""Project files whose actions are offered: what they hold, and what is refused, at its line."""

from __future__ import annotations

import pytest

from bandit_forest.bandit import BooleanFeature, CategoricalFeature, NumericFeature
from bandit_forest.bandit.pairs.settings import PairBanditSettings
from bandit_forest.errors import InvalidArgumentError
from bandit_forest.service.config.project_file import example_project, parse_project

OFFERED = """[context.member]
kind = 'boolean'
[offered.price]
kind = 'numeric'
bins = 4
[offered.kind]
kind = 'categorical'
values = ['phone', 'case']
"""


def test_offered_features_are_of_the_kinds_of_the_context() -> None:
    project = parse_project(OFFERED, name="x.toml")
    assert project.offered == {
        "price": NumericFeature(n_bins=4),
        "kind": CategoricalFeature(values=("phone", "case")),
    }
    assert (project.actions, project.action_names) == (None, ())
    assert (project.limits.offered_actions, project.limits.offered_bytes) == (256, 2**18)
    assert isinstance(project.settings, PairBanditSettings)


def test_the_example_of_offered_actions_is_right_also_where_it_is_commented_out() -> None:
    text = example_project(is_offered=True)
    project = parse_project(text, name="articles.toml")
    assert set(project.context) == {"age", "country", "member"}
    assert project.offered == {
        "price": NumericFeature(),
        "kind": CategoricalFeature(max_values=20),
        "reduced": BooleanFeature(),
    }
    names = ("n_names", "max_nodes", "[forest.", "log_capacity", "gamma_scale", "offered_", "default")
    wanted = tuple(f"# {name}" for name in names)
    lines = [line.removeprefix("# ") if line.startswith(wanted) else line for line in text.splitlines()]
    whole = parse_project("\n".join(lines), name="all.toml")
    forest = whole.settings.forest
    assert forest["growth"].pop("log_capacity") == 2**21
    own = project.settings.forest
    assert own["growth"].pop("log_capacity") is None
    assert forest == own  # what else is commented out are the defaults
    assert (whole.limits, whole.reward.default) == (project.limits, 0.0)


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("[actions]\nnames = ['a', 'b']\n" + OFFERED, 1, "either fixed, by [actions], or offered by each event"),
        (
            "[context.member]\nkind = 'boolean'\n",
            1,
            "by [offered.NAME] tables of their features.",
        ),
        (OFFERED + "[offered.id]\nkind = 'numeric'\n", 9, "The 'id' of [offered] must be left out: it names"),
        ("[context.member]\nkind = 'boolean'\n[offered]\n", 1, "at least one feature, such as [offered.price]"),
        (OFFERED + "[offered.size]\nkind = 'large'\n", 10, "The 'kind' of [offered.size] must be one of 'numeric'"),
        (OFFERED + "[offered.size]\nkind = 'numeric'\nbin = 3\n", 11, "Did you mean 'bins'?"),
        (
            OFFERED + "[project]\nmode = 'shadow'\n",
            10,
            "The 'mode' of [project] must be 'decide' where actions are offered",
        ),
        (OFFERED + "[storage]\njournal = 'postgresql://h/d'\n", 10, "replicas have fixed actions only"),
        (OFFERED + "[forest]\nn_tree = 3\n", 10, "Did you mean 'n_trees'?"),
        (OFFERED + "[forest]\nn_names = 3\n", 10, "The 'n_names' of PairForest must be"),
        (OFFERED + "[forest.growth]\nrule = 'Elimination'\n", 9, "The 'growth' of PairForest must be Greedy()"),
        (OFFERED + "[forest.growth]\nmin_event = 3\n", 9, "The parameters of [forest.growth] do not fit Greedy"),
        (OFFERED + "[limits]\noffered_actions = 0\n", 10, "`int` >= 1"),
        (OFFERED + "[limits]\noffered_actions = 5000\n", 10, "`int` <= 4096"),
        (OFFERED + "[limits]\noffered_bytes = 0\n", 10, "`int` >= 1"),
    ],
)
def test_what_does_not_fit_is_refused_at_its_line(text: str, line: int, sentence: str) -> None:
    with pytest.raises(InvalidArgumentError) as refused:
        parse_project(text, name="x.toml")
    assert sentence in str(refused.value)
    assert f"line {line}" in str(refused.value)


def test_a_fixed_project_has_no_parameters_of_pairs() -> None:
    text = "[actions]\nnames = ['a', 'b']\n[context.member]\nkind = 'boolean'\n[forest]\nn_names = 64\n"
    with pytest.raises(InvalidArgumentError, match=r"'n_names' is unknown to \[forest\]"):
        parse_project(text, name="x.toml")


def test_the_address_of_a_database_is_not_shown() -> None:
    with pytest.raises(InvalidArgumentError) as refused:
        parse_project(OFFERED + "[storage]\njournal = 'postgresql://me:secret@h/d'\n", name="x.toml")
    assert "secret" not in str(refused.value)
