"""Distributions of the contexts of a synthetic world, with draws and exact probabilities."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["BiasedBits", "ChainedBits", "ContextLaw", "CopiedBits", "FairBits", "neighbouring_bits"]

Bits = NDArray[np.uint8]
Floats = NDArray[np.float64]


class ContextLaw(Protocol):
    """A distribution of contexts."""

    @property
    def n_variables(self) -> int:
        """The number of binary variables of a context."""

    def draw(self, rng: np.random.Generator, n_events: int) -> Bits:
        """Draw contexts, one row per event."""

    def probabilities(self, contexts: Bits) -> Floats:
        """Return the probability of each context."""


class FairBits:
    """Independent variables, each 1 half of the time."""

    def __init__(self, n_variables: int) -> None:
        self.n_variables = n_variables

    def draw(self, rng: np.random.Generator, n_events: int) -> Bits:
        """Draw contexts, one row per event."""
        n_octets = -(-self.n_variables // 8)
        octets = np.frombuffer(rng.bytes(n_events * n_octets), dtype=np.uint8).reshape(n_events, n_octets)
        return np.unpackbits(octets, axis=1, count=self.n_variables)

    def probabilities(self, contexts: Bits) -> Floats:
        """Return the probability of each context."""
        return np.full(len(contexts), 0.5**self.n_variables)


class BiasedBits:
    """Independent variables, each with its own probability of being 1."""

    def __init__(self, shares: Floats) -> None:
        self.n_variables = len(shares)
        self._shares = shares

    def draw(self, rng: np.random.Generator, n_events: int) -> Bits:
        """Draw contexts, one row per event."""
        return _draw_bits(rng, n_events, self._shares)

    def probabilities(self, contexts: Bits) -> Floats:
        """Return the probability of each context."""
        odds: Floats = np.where(contexts, self._shares, 1.0 - self._shares).prod(axis=1)
        return odds


class ChainedBits:
    """Fair variables with correlated neighbours: two variables have the correlation correlation^distance."""

    def __init__(self, n_variables: int, correlation: float) -> None:
        self.n_variables = n_variables
        self._flips = BiasedBits(np.array([0.5] + [(1.0 - correlation) / 2.0] * (n_variables - 1)))

    def draw(self, rng: np.random.Generator, n_events: int) -> Bits:
        """Draw contexts, one row per event: each variable is its left neighbour, flipped now and then."""
        bits: Bits = np.bitwise_xor.accumulate(self._flips.draw(rng, n_events), axis=1)
        return bits

    def probabilities(self, contexts: Bits) -> Floats:
        """Return the probability of each context."""
        flips = contexts.copy()
        flips[:, 1:] ^= contexts[:, :-1]
        return self._flips.probabilities(flips)


class CopiedBits:
    """One fair variable, and others that agree with it with a given probability, independently of one another."""

    def __init__(self, n_variables: int, original: int, agreement: float) -> None:
        self.n_variables = n_variables
        self._original = original
        shares = np.full(n_variables, 1.0 - agreement)
        shares[original] = 0.5
        self._flips = BiasedBits(shares)

    def draw(self, rng: np.random.Generator, n_events: int) -> Bits:
        """Draw contexts, one row per event."""
        return self._flip(self._flips.draw(rng, n_events))

    def probabilities(self, contexts: Bits) -> Floats:
        """Return the probability of each context."""
        return self._flips.probabilities(self._flip(contexts))

    def _flip(self, bits: Bits) -> Bits:
        """Turn flips into contexts, or contexts into flips: every other variable is taken relative to the original."""
        flipped = bits ^ bits[:, [self._original]]
        flipped[:, self._original] = bits[:, self._original]
        return flipped


def neighbouring_bits(n_variables: int, correlation: float) -> ContextLaw:
    """Return the law of fair variables whose neighbours have this correlation; without any, the fast one."""
    return ChainedBits(n_variables, correlation) if correlation else FairBits(n_variables)


def _draw_bits(rng: np.random.Generator, n_events: int, shares: Floats) -> Bits:
    uniforms = rng.random((n_events, len(shares)), dtype=np.float32)
    return (uniforms < shares.astype(np.float32)).view(np.uint8)
