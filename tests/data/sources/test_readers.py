"""Logs of answers, a JSON object a line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import bayescal as bc
from bayescal.errors import InputError

COLUMNS = ["correct", "confidence", "task", "question"]


def lines(path: Path, rows: list[dict]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)) + "\n\n", encoding="utf-8")
    return path


def test_plain_lines(tmp_path: Path) -> None:
    rows = [
        {"correct": True, "confidence": 0.9},
        {"correct": "I", "confidence": "85%"},
        {"correct": 1.0, "confidence": "0.25"},
    ]
    frame = bc.readers.jsonl(lines(tmp_path / "quiz.jsonl", rows))
    assert list(frame.columns) == COLUMNS
    assert frame.correct.tolist() == [True, False, True]
    assert frame.confidence.tolist() == [0.9, 0.85, 0.25]
    assert frame.question.tolist() == ["quiz/1", "quiz/2", "quiz/3"]
    table = bc.CalibrationData(frame.correct, frame.confidence, cluster=frame.question)
    assert table.n == 3


def test_fields_within_others_several_files_and_functions(tmp_path: Path) -> None:
    rows = [{"task": "a", "question": 7, "grade": {"right": False}, "p": [0.5, 0.2]}]
    plain = lines(tmp_path / "x.jsonl", rows)
    packed = tmp_path / "y.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    frame = bc.readers.jsonl(
        [plain, packed], correct="grade.right", confidence=lambda line: max(line["p"])
    )
    assert frame.values.tolist() == [[False, 0.5, "a", "a/7"]] * 2


GOOD = '{"correct": true, "confidence": 0.5}\n'
WRONG = [
    ("{", "line 2 of .* is not JSON"),
    ("[1]", "line 2 of .* holds no JSON object"),
    ('{"correct": true}', "line 2 of .*there is no 'confidence'.*drop_missing"),
    ('{"correct": 0.5, "confidence": 0.5}', "line 2 of .*neither right nor wrong"),
    ('{"correct": true, "confidence": 85}', "line 2 of .*the confidence is 85. Divide"),
    ('{"correct": true, "confidence": "high"}', "line 2 of .*the confidence is 'high'"),
]


@pytest.mark.parametrize(("line", "told"), WRONG)
def test_what_is_wrong_is_named_by_its_line(line: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(GOOD + line)
    with pytest.raises(InputError, match=told):
        bc.readers.jsonl(path)


def test_answers_without_a_confidence_are_left_out_where_asked(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(GOOD + '{"correct": true, "confidence": null}\n' + GOOD)
    frame = bc.readers.jsonl(path, drop_missing=True)
    assert frame.question.tolist() == ["x/1", "x/3"]


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        bc.readers.jsonl(tmp_path / "none.jsonl")
    broken = tmp_path / "log.jsonl"
    broken.write_bytes(b"\xff\x00")
    with pytest.raises(InputError, match=r"cannot be read|not JSON"):
        bc.readers.jsonl(broken)
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    with pytest.raises(InputError, match="hold no answers"):
        bc.readers.jsonl(empty)
