"""
The compiled engine. Arguments are checked by bandit_forest.forest, not here.
"""

import enum
from typing import Annotated, Any, overload

import numpy
from numpy.typing import NDArray


class Remaining(enum.Enum):
    all = 0

    path = 1

    inherited = 2

class Estimate(enum.Enum):
    plays = 0

    visits = 1

    scaled = 2

    weights = 3

class Exploration(enum.Enum):
    round_robin = 0

    union_draw = 1

    tree_draw = 2

class Settings:
    def __init__(self, *, n_variables: int, n_actions: int, n_trees: int, min_max_depth: int, max_max_depth: int, variable_share: float, max_nodes: int, seed: int) -> None: ...

class EliminationSettings(Settings):
    def __init__(self, settings: Settings, *, delta: float, min_tolerance: float, max_tolerance: float, test_interval: int, quorum: float, remaining: Remaining, estimate: Estimate, exploration: Exploration) -> None: ...

class GreedySettings(Settings):
    def __init__(self, settings: Settings, *, min_events: int, min_gain: float, shrinkage: float, learning_share: float, log_capacity: int, greed: float) -> None: ...

class EliminationForest:
    @overload
    def __init__(self, settings: EliminationSettings) -> None: ...

    @overload
    def __init__(self, settings: EliminationSettings, saved: bytes) -> None: ...

    def save(self) -> bytes: ...

    def decide(self, context: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], available: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[int, float]: ...

    def learn(self, context: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], action: int, reward: float, propensity: float) -> None: ...

    def decide_many(self, contexts: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], available: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

    def learn_many(self, contexts: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], actions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rewards: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], propensities: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def play(self, contexts: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], rewards: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

    def propensities(self, context: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], available: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def votes(self, context: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], available: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    def mean_rewards(self, context: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def nodes(self, tree: int) -> dict[str, Any]: ...

    def max_depth(self, tree: int) -> int: ...

    @property
    def n_events(self) -> int: ...

    @property
    def n_nodes(self) -> int: ...

    @property
    def n_bytes(self) -> int: ...

class GreedyForest:
    @overload
    def __init__(self, settings: GreedySettings) -> None: ...

    @overload
    def __init__(self, settings: GreedySettings, saved: bytes) -> None: ...

    def save(self) -> bytes: ...

    def decide(self, context: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], available: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[int, float]: ...

    def learn(self, context: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], action: int, reward: float, propensity: float) -> None: ...

    def decide_many(self, contexts: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], available: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

    def learn_many(self, contexts: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], actions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rewards: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], propensities: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def play(self, contexts: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], rewards: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

    def propensities(self, context: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], available: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def votes(self, context: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], available: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    def mean_rewards(self, context: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def nodes(self, tree: int) -> dict[str, Any]: ...

    def max_depth(self, tree: int) -> int: ...

    @property
    def n_events(self) -> int: ...

    @property
    def n_nodes(self) -> int: ...

    @property
    def n_bytes(self) -> int: ...
