"""Exact sums of weights, as whole-number digits: no sum depends on the order of its terms.

A weight is a sum of whole numbers, each times a power of 2**16. Whole numbers are added exactly,
and so is a weight times a whole number of parts of a cell. At the end the digits are carried over
and put together to doubles of 48 bits each, the same however the weights were split or ordered.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats

__all__ = [
    "Digits",
    "Totals",
    "add_digits",
    "as_integers",
    "carried",
    "digits_of",
    "map_digits",
    "terms_of",
]

Digits: TypeAlias = dict[int, NDArray[np.int64]]
"""Whole numbers by the power k of 2**16 that they are multiples of; arrays of one shape."""

BITS = 16
TERM = 3
"""Digits that make up one double of at most 48 bits."""
LARGEST_SHIFT = 1000
"""Powers of 2 below this, and their inverses, are doubles."""
MOST_EXACT = 2.0**53
"""Up to here every whole number is a double."""
MOST_WHOLE = 2.0**31
"""Whole weights up to here are one digit."""


def digits_of(values: Floats, width: int = 2) -> dict[int, Floats]:
    """Digits of numbers that are not negative; whole numbers below 2**31 are digits themselves.

    Parameters
    ----------
    values : ndarray
        Finite, at least 0.
    width : int
        How many digits, of 16 bits each, to take as one number.

    Returns
    -------
    dict of int to ndarray of the same shape
        Whole numbers d_k with `sum(d_k * 2**(16 * k)) == values`, exactly.
    """
    largest = values.max(initial=0.0)
    if largest < MOST_WHOLE and bool((np.rint(values) == values).all()):
        return {0: values}
    digits: dict[int, Floats] = {}
    rest = values.copy()
    while largest > 0:
        power = (int(np.frexp(largest)[1]) - 1) // (width * BITS) * width
        digit = np.floor(_shifted(rest, -BITS * power))
        digits[power] = digit
        rest -= _shifted(digit, BITS * power)
        largest = rest.max()
    return digits


def as_integers(digits: dict[int, Floats]) -> Digits:
    """Digits as integers, to be added up."""
    return {power: digit.astype(np.int64) for power, digit in digits.items()}


def add_digits(first: Digits, second: Digits) -> Digits:
    """Digits of the sums, not carried over; the arrays of `first` may be changed."""
    for power, digit in second.items():
        if power in first:
            first[power] += digit
        else:
            first[power] = digit
    return first


def map_digits(digits: Digits, function: Any) -> Digits:
    """The same function of every digit's array."""
    return {power: function(digit) for power, digit in digits.items()}


def carried(digits: Digits) -> Digits:
    """The same sums with every digit from 0 to 2**16 - 1, which no two ways of adding change."""
    if not digits:
        return digits
    result: Digits = {}
    power = min(digits)
    carry = np.zeros_like(digits[power])
    while power <= max(digits) or carry.any():
        digit = carry + digits.get(power, 0)
        result[power], carry = digit & ((1 << BITS) - 1), digit >> BITS
        power += 1
    return result


def terms_of(digits: Digits) -> Floats:
    """The sums as doubles that add up to them exactly, smallest first, of shape (terms, ...)."""
    if set(digits) == {0} and digits[0].max(initial=0) < MOST_EXACT:
        return digits[0][None].astype(np.float64)
    terms: dict[int, Floats] = {}
    for power, digit in carried(digits).items():
        part = np.ldexp(digit.astype(np.float64), BITS * power)
        terms[power // TERM] = terms.get(power // TERM, 0.0) + part
    return np.stack([terms[index] for index in sorted(terms)])


class Totals(NamedTuple):
    """Rounded sums, and the terms that add up to them exactly.

    Attributes
    ----------
    value : ndarray
        Sums of the terms.
    terms : ndarray of shape (terms, ...)
        Smallest first.
    """

    value: Floats
    terms: Floats

    @classmethod
    def of(cls, digits: Digits, shape: tuple[int, ...]) -> Totals:
        """The sums of digits; without any, zeros of this shape."""
        return cls.of_terms(terms_of(digits) if digits else np.zeros((1, *shape)))

    @classmethod
    def of_terms(cls, terms: Floats) -> Totals:
        """The sums of terms."""
        value = terms[0].copy()
        for term in terms[1:]:
            value += term
        return cls(value, terms)

    def part(self, which: slice = slice(None)) -> tuple[Floats, Floats | None]:
        """Some of the sums, and those of their terms that are not 0; None if the sums are exact."""
        value = self.value[..., which]
        if len(self.terms) == 1:
            return value, None
        terms = self.terms[..., which]
        needed = [term for term in terms if term.any()]
        if len(needed) < 2 or (value.max() < MOST_EXACT and not (needed[0] % 1).any()):
            return value, None
        return value, np.stack(needed)


def _shifted(values: Floats, bits: int) -> Floats:
    """Values times 2**bits."""
    return values * 2.0**bits if abs(bits) < LARGEST_SHIFT else np.ldexp(values, bits)
