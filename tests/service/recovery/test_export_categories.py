"""Categories in the export: whole numbers stay whole numbers, texts stay texts, also in one column."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from offered_projects import make_offered_project, rank
from projects import Decider, make_project, opened

from bandit_forest import Bandit, InvalidArgumentError, PairBandit
from bandit_forest.bandit import BooleanFeature, CategoricalFeature, Feature, TimeFeature
from bandit_forest.cli import main
from bandit_forest.evaluation import as_it_stands, evaluate, learn_along, uniform
from bandit_forest.evaluation.readers import read_export
from bandit_forest.evaluation.writers import write_parquet
from bandit_forest.service.recovery.export import export_journal

INTS, TEXTS, BOTH = [1, 2, 3], ["1", "2", "three"], [1, "1", "two"]
LARGE = [1, 2, 2**64]


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["bandit-forest", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code


def typed(values: Iterable[Any]) -> set[tuple[type, Any]]:
    """Return values with their types: 1 and '1' are two."""
    return {(type(value), value) for value in values}


def visits(decider: Decider, stores: list[Any], n_events: int = 240) -> None:
    """Decide and reward events: the first action is good in the first store, the second one elsewhere."""
    for number in range(n_events):
        store = stores[number % 3]
        given = {"store": store, "member": number % 2 == 0}
        decided = decider.decide(given, event_id=f"e{number}")
        decider.reward(f"e{number}", float((decided.action == "a") == (store == stores[0])))


@pytest.mark.parametrize(
    ("feature", "stores", "column"),
    [
        (CategoricalFeature(values=(1, 2, 3)), INTS, pa.int64()),
        (CategoricalFeature(values=(1, 2, 3), missing=True), [1, 2, None], pa.int64()),
        (CategoricalFeature(values=(1, 2), open=True), INTS, pa.int64()),
        (CategoricalFeature(values=("1", "2", "three")), TEXTS, pa.string()),
        (CategoricalFeature(values=(1, "1", "two")), BOTH, pa.string()),
        (CategoricalFeature(values=(1,), open=True), BOTH, pa.string()),
        (CategoricalFeature(), INTS, pa.int64()),
        (CategoricalFeature(), TEXTS, pa.string()),
        (CategoricalFeature(), BOTH, pa.string()),
        (CategoricalFeature(), LARGE, pa.string()),
    ],
)
def test_the_bandit_of_a_service_is_evaluated_on_its_own_export(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, feature: Feature, stores: list[Any], column: pa.DataType
) -> None:
    context = {"store": feature, "member": BooleanFeature()}
    project = make_project(tmp_path / "data", context=context, warm_up_events=30)
    with opened(project) as decider:
        visits(decider, stores)
        decider.state.bandit.save(tmp_path / "service.bandit")
    file = tmp_path / "events.parquet"
    assert export_journal(project, file) == 240
    assert pq.read_schema(file).field("context.store").type == column
    source = read_export(file)
    (log,) = source.batches()
    assert log.features is not None
    assert log.features["store"].tolist() == stores * 80
    assert typed(log.features["store"].tolist()) == typed(stores)
    bandit = Bandit.load(tmp_path / "service.bandit")
    evaluation = evaluate(source, [as_it_stands(bandit, name="service")])
    assert evaluation.effective_sample_size("service") > 20
    run(monkeypatch, "evaluate", file, "--policy", f"service={tmp_path / 'service.bandit'}")
    run(monkeypatch, "learn", file, "--out", tmp_path / "learned.bandit")
    learned = Bandit.load(tmp_path / "learned.bandit")
    known = learned.model.schema.encoder.columns_["store"].values  # type: ignore[union-attr]
    assert typed(known) == typed(store for store in stores if store is not None)


def test_categories_of_both_types_are_written_again(tmp_path: Path) -> None:
    project = make_project(tmp_path / "data", context={"store": CategoricalFeature(), "member": BooleanFeature()})
    with opened(project) as decider:
        visits(decider, BOTH)
    export_journal(project, tmp_path / "events.parquet")
    write_parquet(read_export(tmp_path / "events.parquet"), tmp_path / "again.parquet")
    again = read_export(tmp_path / "again.parquet")
    (log,) = again.batches()
    assert log.features is not None
    assert log.features["store"].tolist() == BOTH * 80
    assert again.kinds == read_export(tmp_path / "events.parquet").kinds == log.kinds
    table = pq.read_table(tmp_path / "again.parquet")
    place = table.schema.get_field_index("context.store")
    altered = table.set_column(place, table.schema.field(place), [["two"] * len(table)])
    pq.write_table(altered, tmp_path / "altered.parquet")
    with pytest.raises(InvalidArgumentError, match=r"The 'context.store' of altered.parquet, row 1 must be a text or"):
        list(read_export(tmp_path / "altered.parquet").batches())


def test_events_that_come_during_an_export_may_bring_other_categories(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    project = make_project(tmp_path / "data", context={"store": CategoricalFeature(), "member": BooleanFeature()})
    with opened(project) as decider:
        visits(decider, INTS, 3)
        told = export_journal.__globals__["_entries"]
        texts = iter(["two", "three"])

        def read_again(*given: Any) -> Any:
            decider.decide({"store": next(texts, 4), "member": True}).commit.result()
            return told(*given)

        monkeypatch.setitem(export_journal.__globals__, "_entries", read_again)
        n_rows = export_journal(project, tmp_path / "events.parquet")
    (log,) = read_export(tmp_path / "events.parquet").batches()
    assert log.features is not None
    assert log.features["store"].tolist()[:5] == [1, 2, 3, "two", "three"]
    assert len(log) == n_rows


def test_offered_actions_have_their_categories(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    features: dict[str, Feature] = {"store": CategoricalFeature(), "member": BooleanFeature()}
    offered: dict[str, Feature] = {"size": CategoricalFeature(values=(36, 38, "one size"))}
    project = make_offered_project(tmp_path / "data", context=features, offered=offered, warm_up_events=30)
    sizes = [{"id": f"a{number}", "size": size} for number, size in enumerate((36, 38, "one size"))]
    with opened(project) as decider:
        for number in range(240):
            given = {"store": BOTH[number % 3], "member": True}
            ranked = rank(decider.context, given, sizes, event_id=f"e{number}")
            decider.reward(f"e{number}", float(ranked.action == f"a{number % 3}"))
        decider.state.pairs.save(tmp_path / "service.bandit")
    file = tmp_path / "events.parquet"
    export_journal(project, file)
    source = read_export(file)
    (log,) = source.batches()
    assert log.offers is not None
    assert [offer.context["store"] for offer in log.offers[:3]] == BOTH
    assert {action["size"] for offer in log.offers for action in offer.actions} == {36, 38, "one size"}
    taken = pq.read_table(file)["action.size"].to_pylist()
    assert set(taken) == {"36", "38", '"one size"'}
    bandit = PairBandit.load(tmp_path / "service.bandit")
    evaluation = evaluate(source, [as_it_stands(bandit, name="service"), uniform()])
    assert evaluation.n_events == 240
    learned = PairBandit(context_features=source.kinds.context, action_features=source.kinds.action)
    learn_along(log, learned)
    run(monkeypatch, "learn", file, "--out", tmp_path / "learned.bandit")
    for one in (learned, PairBandit.load(tmp_path / "learned.bandit")):
        for number, store in enumerate(BOTH):
            means = one.mean_rewards({"store": store, "member": True}, actions=sizes)
            assert max(means, key=means.__getitem__) == f"a{number}"


def test_an_export_with_moments_is_evaluated(tmp_path: Path) -> None:
    project = make_project(tmp_path / "data", context={"seen": TimeFeature(missing=True), "member": BooleanFeature()})
    begin = datetime(2026, 1, 1)
    items = [{"seen": (begin + number * timedelta(minutes=17)).isoformat(), "member": True} for number in range(2200)]
    with opened(project) as decider:
        for number, given in enumerate([{"member": True}, *items]):
            decided = decider.decide(given, event_id=f"e{number}")
            decider.reward(f"e{number}", float(decided.action == "a"))
        decider.state.bandit.save(tmp_path / "service.bandit")
    export_journal(project, tmp_path / "events.parquet")
    bandit = Bandit.load(tmp_path / "service.bandit")
    evaluation = evaluate(read_export(tmp_path / "events.parquet"), [as_it_stands(bandit, name="service")])
    assert evaluation.n_events == 2201  # moments that are all different are no identifier
