"""Contexts packed in 64-bit words: bit i of word w is variable 64 w + i, as every policy takes them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["pack", "unpack"]


def pack(bits: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Pack rows of zeros and ones.

    Examples
    --------
    >>> pack(np.array([[1, 0, 1]], dtype=np.uint8))
    array([[5]], dtype=uint64)
    """
    n_rows, n_variables = bits.shape
    octets = np.zeros((n_rows, 8 * -(-n_variables // 64)), dtype=np.uint8)
    octets[:, : -(-n_variables // 8)] = np.packbits(bits, axis=1, bitorder="little")
    return octets.view("<u8").astype(np.uint64, copy=False)


def unpack(words: NDArray[np.uint64], n_variables: int) -> NDArray[np.uint8]:
    """Unpack rows of words.

    Examples
    --------
    >>> unpack(np.array([[5]], dtype=np.uint64), 3)
    array([[1, 0, 1]], dtype=uint8)
    """
    octets = np.ascontiguousarray(words, dtype="<u8").view(np.uint8)
    return np.unpackbits(octets, axis=1, count=n_variables, bitorder="little")
