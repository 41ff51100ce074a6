"""A busy machine adds no lines to stderr: steps that take long say so in tests of their own."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def endless_patience(monkeypatch) -> None:
    monkeypatch.setattr("bayescal.cli._progress.PATIENCE", 3600.0)
    monkeypatch.setattr("bayescal.cli._progress.SECONDS", 3600.0)
