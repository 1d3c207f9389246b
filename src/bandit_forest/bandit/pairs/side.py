"""One side of a pair: the features of contexts or of actions, declared, or learned from the first lessons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bandit_forest.bandit.errors import FeatureError
from bandit_forest.bandit.features.kinds import Feature, feature_from_json, feature_to_json
from bandit_forest.bandit.features.learned_kinds import LearnedKinds
from bandit_forest.bandit.features.schema import Schema
from bandit_forest.bandit.features.values import as_context
from bandit_forest.bandit.pairs.decisions import Read
from bandit_forest.encoding import ContextEncoder
from bandit_forest.errors import refuse

__all__ = ["Side"]


class Side:
    r"""Read contexts, or actions, strictly; refusals name the side and the feature.

    Parameters
    ----------
    noun
        Name of what is read: "context" or "action".
    features
        Declared features. None: names and kinds are learned too, and each feature may be missing.
    ignored
        A field that is not a feature, such as an id.

    Examples
    --------
    >>> side = Side("action", None)
    >>> rows = [side.read({"price": price}) for price in (1.0, 2.0, 3.0)]
    >>> side.fit(rows)
    >>> side.read({"price": 2.5})
    b'\x01\x00'
    """

    def __init__(self, noun: str, features: Mapping[str, Feature] | None, *, ignored: str | None = None) -> None:
        self.noun = noun
        self._ignored = ignored
        self.features = None if features is None else dict(features)
        self._adopt(Schema(features or {}, None))
        self._kinds = LearnedKinds()

    @property
    def is_open(self) -> bool:
        """Whether anything is to be learned before rows can be encoded."""
        return self.features is None or any(feature.is_learned for feature in self.features.values())

    @property
    def n_variables(self) -> int:
        """The number of variables."""
        assert self.schema.encoder is not None
        return self.schema.encoder.n_variables

    def read(self, given: Any, *, row: int | None = None) -> Read:
        """Check a row and return what is to be remembered of it; `row` is its number among those that were given."""
        if self._read is not None:
            variables = self._read(given)
            if variables is not None:
                return variables
        try:
            features = {name: value for name, value in as_context(given).items() if name != self._ignored}
            if self.schema.is_learned:
                return self.schema.encode_plainly(features)
            if self.features is not None:
                return self.schema.check(features)
            if not features:
                raise FeatureError(None, "a mapping with at least one feature", features)
            return self._kinds.check(features)
        except FeatureError as error:
            raise error.at(row=row, noun=self.noun) from None

    def checked(self, rows: Sequence[Read], *, n_first: int, waiting: Sequence[Read]) -> list[Read]:
        """Return rows that can be learned in this order, or refuse one with its number; nothing changes.

        Parameters
        ----------
        rows
            Rows that were read.
        n_first
            Number of them that are to wait until the features are learned.
        waiting
            Rows that wait already.
        """
        kinds, schema, checked = self._kinds.copy(), self.schema, list(rows)
        for number, row in enumerate(rows):
            if number == n_first > 0:
                schema = self._fitted(kinds, [*waiting, *checked[:n_first]])
            if isinstance(row, bytes) and (number < n_first or not schema.holds(row)):
                refuse("decision", "PairBandit.learn", f"one of this bandit; row {number} is of another", row)
            try:
                if number < n_first:
                    checked[number] = self.read(row)
                    self._note(kinds, row)
                elif not isinstance(row, bytes):
                    checked[number] = schema.encode_plainly(row)
            except FeatureError as error:
                raise error.at(row=number, noun=self.noun) from None
        return checked

    def check_kinds(self, read: Read) -> None:
        """Refuse a row that contradicts the rows which were noted, while the kinds of features are learned."""
        if self.features is None and isinstance(read, dict):
            self._kinds.check(read)

    def note(self, read: Read) -> None:
        """Remember the kinds of the features of a lesson, while they are learned."""
        self._note(self._kinds, read)

    def fit(self, rows: Sequence[Read]) -> None:
        """Learn what is open from checked rows."""
        for row in rows:
            self.note(row)
        self._adopt(self._fitted(self._kinds, rows))

    def encode(self, read: Read) -> bytes:
        """Return the variables of a checked row, one byte each."""
        return read if isinstance(read, bytes) else self.schema.encode_plainly(read)

    def to_json(self) -> dict[str, Any]:
        """Return what a file holds of a side."""
        encoder = self.schema.encoder
        return {
            "features": [[name, feature_to_json(feature)] for name, feature in self.schema.features.items()],
            "encoder": None if encoder is None else encoder.to_json(),
            "kinds": self._kinds.to_json(),
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Take over what `to_json` gave."""
        self._kinds.restore(saved["kinds"])
        if saved["encoder"] is not None:
            features = {name: feature_from_json(feature) for name, feature in saved["features"]}
            columns = ContextEncoder.from_json(saved["encoder"]).columns_
            self._adopt(Schema(features, columns, never_seen=self._kinds.never_seen, parameter=self._parameter))

    @property
    def _parameter(self) -> str:
        return f"{self.noun}_features"

    def _note(self, kinds: LearnedKinds, read: Read) -> None:
        if self.features is None and isinstance(read, dict):
            kinds.note(read)

    def _fitted(self, kinds: LearnedKinds, rows: Sequence[Read]) -> Schema:
        features = kinds.features(ordered=True) if self.features is None else self.features
        known = [row for row in rows if isinstance(row, dict)]
        return Schema.fit(features, known, never_seen=kinds.never_seen, parameter=self._parameter)

    def _adopt(self, schema: Schema) -> None:
        self.schema = schema
        reader = schema.reader(ignored=self._ignored)
        self._read = None if reader is None else reader.read
