"""Trees as drawings: well-formed, self-contained, and true to their nodes."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from bandit_forest import BanditForest, BanditTree, Greedy, InvalidArgumentError
from bandit_forest.forest.drawing import Box, draw
from bandit_forest.worlds import HiddenTree

SVG = "{http://www.w3.org/2000/svg}"
WORLD = HiddenTree(n_variables=20, n_actions=4, depth=3, noise=0.05)
SIZES = {"n_variables": 20, "n_actions": 4}


def played(forest, n_events=8000):
    for batch in WORLD.batches(n_events, seed=0):
        forest.play(batch.contexts, batch.rewards)
    return forest


@pytest.fixture(scope="module", params=["greedy", "paper", "tree"])
def forest(request):
    make = {
        "greedy": lambda: played(BanditForest(**SIZES, n_trees=2, seed=1, growth=Greedy())),
        "paper": lambda: played(BanditForest.paper(**SIZES, n_trees=2, max_depth=5, seed=1), n_events=20_000),
        "tree": lambda: played(BanditTree(**SIZES, max_depth=4, seed=1)),
    }
    return make[request.param]()


def texts(drawing, kind):
    root = ElementTree.fromstring(drawing)
    return [element.text for element in root.iter(f"{SVG}text") if element.get("class") == kind]


def boxes(drawing, kind):
    root = ElementTree.fromstring(drawing)
    return [element for element in root.iter(f"{SVG}rect") if element.get("class") == kind]


def test_the_whole_tree_is_drawn(forest):
    view = forest.tree(0)
    drawing = view.to_svg(max_depth=40)
    inner = int((view.nodes.variable >= 0).sum())
    assert len(boxes(drawing, "test")) == inner
    assert len(boxes(drawing, "box")) == inner + 1
    assert not boxes(drawing, "more")
    assert sorted(texts(drawing, "label")) == ["no"] * inner + ["yes"] * inner


def test_each_box_speaks_of_its_node(forest):
    view = forest.tree(0)
    said = iter(zip(texts(view.to_svg(max_depth=40), "title"), texts(view.to_svg(max_depth=40), "note"), strict=False))

    def check(node):
        title, note = next(said)
        if view.nodes.variable[node] >= 0:
            assert title == f"x{view.nodes.variable[node]}"
            check(view.nodes.child[node] + 1)
            check(view.nodes.child[node])
            return
        assert note.endswith(f"{view.nodes.visits[node]:,} events")
        remaining = view.nodes.open_actions(node)
        if len(remaining) == 1:
            assert title == f"action {remaining[0]}"
            mean = view.nodes.mean_rewards[node, remaining[0]]
            assert np.isnan(mean) or note.startswith(f"{mean:.3f} ")
        else:
            assert title == f"exploring {len(remaining)} actions"

    check(0)


def test_what_is_deeper_is_summed_up(forest):
    view = forest.tree(0)
    n_leaves = int((view.nodes.variable < 0).sum())
    for max_depth in range(4):
        drawing = view.to_svg(max_depth=max_depth)
        summed = [title for title in texts(drawing, "title") if title.endswith(" leaves")]
        assert len(boxes(drawing, "box")) + sum(int(title.split()[0]) for title in summed) == n_leaves
        assert len(boxes(drawing, "more")) == len(summed)
        assert texts(drawing, "note")[0].endswith(f"{forest.n_events:,} events")


def test_a_tree_of_one_leaf():
    drawing = BanditTree(n_variables=2, n_actions=3).tree(0).to_svg()
    assert texts(drawing, "title") == ["exploring 3 actions"]
    drawing = BanditForest(n_variables=2, n_actions=3).tree(0).to_svg()
    assert texts(drawing, "title") == ["action 0"]


def test_a_drawing_needs_nothing_else(forest):
    drawing = forest.tree(0).to_svg()
    assert re.findall(r"https?://[^\"]+", drawing) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"<script|url\(|@import|href|\bon\w+=", drawing)


def test_names_cannot_break_out():
    evil = "</text><script>alert(1)</script>&\"'"
    names = [f"{evil}{number}" for number in range(20)]
    tree = played(BanditTree(**SIZES, max_depth=2, variable_names=names, action_names=names[:4], seed=1))
    drawing = tree.tree(0).to_svg()
    assert "<script" not in drawing
    titles = [element.text for element in ElementTree.fromstring(drawing).iter(f"{SVG}title")]
    assert any(title.startswith(evil) for title in titles)


@pytest.mark.parametrize("name", ["n" * 200, "名" * 80])
def test_long_names_are_shortened_and_told_in_full(name):
    drawing = draw(Box(name, "note", 1), caption="one box")
    (title,) = texts(drawing, "title")
    assert title.endswith("…")
    assert name.startswith(title[:-1])
    assert f"<title>{name}: note</title>" in drawing
    assert int(ElementTree.fromstring(drawing).get("width")) < 400


def test_edges_are_as_wide_as_their_share():
    root = Box("x", "", 100, kind="test", children=(Box("a", "", 100), Box("b", "", 0)))
    wide, narrow = (
        float(path.get("stroke-width")) for path in ElementTree.fromstring(draw(root, caption="")).iter(f"{SVG}path")
    )
    assert wide > 5 * narrow > 0


def test_no_box_covers_another(forest):
    places = set()
    for element in boxes(forest.tree(0).to_svg(), "box") + boxes(forest.tree(0).to_svg(), "more"):
        y = float(element.get("y"))
        assert all(abs(y - other) >= float(element.get("height")) for other in places)
        places.add(y)


def test_a_wrong_depth_is_refused(forest):
    with pytest.raises(InvalidArgumentError, match=r"The 'max_depth' of TreeView.to_svg must be"):
        forest.tree(0).to_svg(max_depth=-1)


def test_control_characters_are_drawn_as_unknown_ones():
    drawing = draw(Box("a\x00b", "\ufffe<", 1), caption="\x1b")
    assert texts(drawing, "title") == ["a\ufffdb"]
    assert texts(drawing, "note") == ["\ufffd<", "\ufffd"]


def test_a_very_long_name_is_cut_at_once():
    (title,) = texts(draw(Box("long " * 100_000, "", 1), caption=""), "title")
    assert title.startswith("long long")
    assert len(title) < 40
