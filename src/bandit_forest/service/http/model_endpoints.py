"""Endpoints of the model: importance, trees, and the saved bandit."""

from __future__ import annotations

from msgspec import Struct

from bandit_forest import archive
from bandit_forest.bandit import Bandit
from bandit_forest.bandit.naming import tree_in_units
from bandit_forest.bandit.pairs import PairBandit
from bandit_forest.forest import BanditForest
from bandit_forest.forest.pairs import PairForest
from bandit_forest.service.domain.bandits import forest_of
from bandit_forest.service.domain.state import ServiceContext
from bandit_forest.service.errors import ServiceError, invalid
from bandit_forest.service.http.messages import LaterReply, Reply, Response

__all__ = ["Importance", "importance", "model", "raw_response", "tree"]


class Share(Struct):
    """The importance of a variable or a feature."""

    name: str
    importance: float


class Importance(Struct):
    """Shares that sum to one, once there is a split; largest first."""

    features: list[Share]
    variables: list[Share]


def importance(service: ServiceContext) -> Reply:
    """Answer with the importance of features and variables."""
    forest, learner = _forest(service), service.state.learner

    def make() -> Importance:
        shares = zip(forest.variable_names, forest.variable_importance().tolist(), strict=True)
        features = learner.importance() if isinstance(learner, Bandit) else _of_both_sides(learner)
        return Importance(_sorted(features), _sorted(dict(shares)))

    return LaterReply(make)


def tree(service: ServiceContext, text: str) -> Reply:
    """Answer with the drawing of a tree."""
    forest, learner = _forest(service), service.state.learner
    n_trees = forest.parameters["n_trees"]
    if not text.isascii() or not text.isdigit():
        raise invalid("$.number", "the number of a tree", text)
    number = int(text)
    if number >= n_trees:
        raise ServiceError("not_found", f"There are trees 0 to {n_trees - 1}.", path="$.number")

    def make() -> Response:
        view = tree_in_units(forest.tree(number), learner.rewards)
        return raw_response(view.to_svg().encode(), "image/svg+xml")

    return LaterReply(make)


def model(service: ServiceContext) -> Reply:
    """Answer with the saved bandit."""
    _forest(service)
    parts = service.state.learner.parts()
    more = 'content-disposition: attachment; filename="model.bandit"\r\n'
    return LaterReply(lambda: raw_response(archive.pack(*parts), "application/octet-stream", more))


def raw_response(content: bytes, media_type: str, more: str = "") -> Response:
    """Return a response that is not JSON; `more` are other headers."""
    return Response(content, 200, f"content-type: {media_type}\r\n{more}".encode())


def _forest(service: ServiceContext) -> BanditForest | PairForest:
    """Return the forest, or refuse while features are learned."""
    learner = service.state.learner
    forest = forest_of(learner)
    if forest is None:
        left = learner.model.warm_up_left
        raise ServiceError(
            "warming_up", f"The forest is made after {left} more lessons, from which the features are learned."
        )
    return forest


def _of_both_sides(bandit: PairBandit) -> dict[str, float]:
    """Return the importance of the features of contexts and of actions, by side and name."""
    sides = bandit.importance()
    return {f"{side}.{name}": share for side, shares in sides.items() for name, share in shares.items()}


def _sorted(shares: dict[str, float]) -> list[Share]:
    return [Share(*one) for one in sorted(shares.items(), key=lambda one: -one[1])]
