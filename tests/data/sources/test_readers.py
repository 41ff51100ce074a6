"""Logs of evaluations, as the frameworks write them."""

from __future__ import annotations

import gzip
import json
import zipfile
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


def test_samples_of_multiple_choice(tmp_path: Path) -> None:
    rows = [
        {"doc_id": 0, "acc": 1.0, "filtered_resps": [["-1.0", "True"], ["-2.0", "False"]]},
        {"doc_id": 1, "acc": 0.0, "filtered_resps": [[-3.0, False], [-3.0, False]]},
    ]
    path = lines(tmp_path / "samples_arc_easy_2026-01-31T10-00-00.123.jsonl", rows)
    frame = bc.readers.lm_eval(path)
    assert frame.correct.tolist() == [True, False]
    assert frame.confidence.tolist() == pytest.approx([1 / (1 + 2.718281828459045**-1), 0.5])
    assert frame.task.tolist() == ["arc_easy"] * 2
    assert frame.question.tolist() == ["arc_easy/0", "arc_easy/1"]


def test_samples_that_were_generated_state_their_confidence(tmp_path: Path) -> None:
    answers = ["42. Confidence: 80%", "7. Confidence: 60%"]
    rows = [
        {"doc_id": k, "exact_match": k, "filter": name, "resps": [[text]]}
        for k, text in enumerate(answers)
        for name in ("strict", "flexible")
    ]
    path = lines(tmp_path / "samples_gsm8k.jsonl", rows)
    stated = {"confidence": lambda sample: sample["resps"][0][0].split(": ")[1]}
    with pytest.raises(InputError, match=r"filters flexible, strict.*filter_name="):
        bc.readers.lm_eval(path, **stated)
    frame = bc.readers.lm_eval(path, filter_name="strict", **stated)
    assert frame.values.tolist() == [
        [False, 0.8, "gsm8k", "gsm8k/0"],
        [True, 0.6, "gsm8k", "gsm8k/1"],
    ]
    with pytest.raises(InputError, match=r"line 1 of .*no log-likelihoods of several choices"):
        bc.readers.lm_eval(path)
    with pytest.raises(InputError, match="metric='acc_norm' was given without confidence"):
        bc.readers.lm_eval(path, metric="acc_norm")
    with pytest.raises(InputError, match=r"has no metric 'f1'.*It has the fields doc_id"):
        bc.readers.lm_eval(path, metric="f1", **stated)


SAMPLES = [
    {"id": "q1", "epoch": 1, "scores": {"choice": {"value": "C", "metadata": {"confidence": 0.7}}}},
    {"id": "q1", "epoch": 2, "scores": {"choice": {"value": "I"}}, "metadata": {"confidence": 0.9}},
]


def as_json(folder: Path) -> Path:
    path = folder / "log.json"
    path.write_text(json.dumps({"version": 2, "eval": {"task": "arc"}, "samples": SAMPLES}))
    return path


def as_zip(folder: Path) -> Path:
    path = folder / "log.eval"
    with zipfile.ZipFile(path, "w") as log:
        log.writestr("header.json", json.dumps({"eval": {"task": "arc"}}))
        for sample in SAMPLES:
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            log.writestr(name, json.dumps(sample))
    return path


@pytest.mark.parametrize("written", [as_json, as_zip])
def test_logs_of_inspect(written, tmp_path: Path) -> None:
    path = written(tmp_path)
    frame = bc.readers.inspect(path)
    assert frame.values.tolist() == [[True, 0.7, "arc", "arc/q1"], [False, 0.9, "arc", "arc/q1"]]
    by_epoch = bc.readers.inspect(path, confidence=lambda sample: sample["epoch"] / 4)
    assert by_epoch.confidence.tolist() == [0.25, 0.5]
    with pytest.raises(InputError, match="there is no 'sure'"):
        bc.readers.inspect(path, confidence="sure")


def test_two_scorers_need_a_name(tmp_path: Path) -> None:
    sample = {"id": 1, "scores": {"a": {"value": 1}, "b": {"value": 0}}, "metadata": {"c": 0.5}}
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"eval": {"task": "t"}, "samples": [sample]}))
    with pytest.raises(InputError, match="scorers a, b"):
        bc.readers.inspect(path, confidence="c")
    assert not bc.readers.inspect(path, scorer="b", confidence="c").correct[0]


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
    broken = tmp_path / "log.eval"
    broken.write_bytes(b"\xff\x00")
    with pytest.raises(InputError, match=r"cannot be read|not JSON"):
        bc.readers.inspect(broken)
    empty = tmp_path / "log.json"
    empty.write_text('{"samples": []}')
    with pytest.raises(InputError, match="has no samples"):
        bc.readers.inspect(empty)
