"""Streams of random numbers by label."""

from __future__ import annotations

from bayescal.validation import batches


def test_streams_differ_by_label_and_by_its_kind() -> None:
    first = {batches.stream(0, *labels).random() for labels in (("a", 1), ("a", "1"), ("a1",))}
    assert len(first) == 3
