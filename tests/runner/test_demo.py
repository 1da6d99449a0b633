"""The demo as a user runs it, and everything it leaves."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops, ImageStat

from clawbench.results import Action, RequestEntry, RunRecord, read_json_lines


def web(records: list[dict[str, Any]]) -> Path:
    return Path(records[0]["directory"])


def test_four_runs_with_the_right_verdicts(records: list[dict[str, Any]]) -> None:
    assert [(r["kind"], r["verdict"]) for r in records] == [
        ("web", "pass"),
        ("web", "fail"),
        ("coding", "resolved"),
        ("coding", "unresolved"),
    ]
    assert [r["cause"] for r in records] == ["none", "agent", "none", "agent"]
    assert [r["stop_reason"] for r in records] == ["intercepted"] * 2 + ["agent_exited"] * 2
    for record in records:
        assert record["state"] == "done"
        assert record["scripted"] is True
        assert record["isolation"] == "full"
        assert record["error"] is None


def test_every_run_is_metered_and_the_claim_agrees(records: list[dict[str, Any]]) -> None:
    for record in records:
        measured = record["usage"]["measured"]
        assert measured["turns"] > 3
        assert measured["usage"]["input"] > 0
        assert measured["usage"]["output"] > 0
        assert record["cost_usd"] == pytest.approx(measured["cost_usd"])
        assert record["cost_usd"] > 0
        assert all(value == 0 for value in record["usage"]["difference"].values())


def test_every_file_that_applies_is_there_and_not_empty(records: list[dict[str, Any]]) -> None:
    both = ["run.json", "prompt.txt", "data/agent-messages.jsonl", "data/llm-calls.jsonl", "harness"]
    kinds = {
        "web": [
            "eval-schema.json",
            "data/actions.jsonl",
            "data/requests.jsonl",
            "data/recording.mp4",
            "data/interception.json",
            "data/cdp-commands.jsonl",
            "data/screenshots",
        ],
        "coding": ["data/git.patch", "data/git.patch.raw", "data/tests.json"],
    }
    for record in records:
        directory = Path(record["directory"])
        for name in (*both, *kinds[record["kind"]]):
            path = directory / name
            assert any(path.iterdir()) if path.is_dir() else path.stat().st_size > 0, path
        assert [p for p in directory.rglob("*") if p.is_file() and p.stat().st_size == 0] == []
        RunRecord.model_validate_json((directory / "run.json").read_bytes())


def test_actions_requests_and_screenshots_fit_the_formats(records: list[dict[str, Any]]) -> None:
    directory = web(records)
    actions = [Action.model_validate(line) for line in read_json_lines(directory / "data/actions.jsonl")]
    assert {"pageLoad", "click", "keydown", "keyup", "input", "change"} <= {a.type.value for a in actions}
    for action in actions:
        assert action.screenshot is not None
        assert (directory / "data/screenshots" / action.screenshot).exists()
        assert action.target is None or action.target.xpath.startswith("/html[1]")
    requests = [
        RequestEntry.model_validate(line) for line in read_json_lines(directory / "data/requests.jsonl")
    ]
    orders = [r for r in requests if r.method == "POST" and r.url.endswith("/api/orders")]
    assert len(orders) == 1
    assert orders[0].body["customer"]["name"] == "Alex Green"


def test_the_conversation_has_the_uniform_shape(records: list[dict[str, Any]]) -> None:
    for record in records:
        first, *rest = read_json_lines(Path(record["directory"]) / "data/agent-messages.jsonl")
        assert {"type", "version", "id", "timestamp"} <= set(first)
        messages = [line["message"] for line in rest if line["type"] == "message"]
        assert {message["role"] for message in messages} == {"user", "assistant", "toolResult"}
        assert messages[0]["content"][0]["text"] == (Path(record["directory"]) / "prompt.txt").read_text()


def test_the_video_is_h264_on_the_grid(records: list[dict[str, Any]]) -> None:
    video = web(records) / "data/recording.mp4"
    asked = ["-show_entries", "stream=codec_name,width,height:packet=pts_time", "-of", "json", str(video)]
    shown = json.loads(
        subprocess.run(["ffprobe", "-v", "error", *asked], capture_output=True, check=True).stdout
    )
    (stream,) = shown["streams"]
    assert (stream["codec_name"], stream["width"], stream["height"]) == ("h264", 1920, 1080)
    times = [float(packet["pts_time"]) for packet in shown["packets"]]
    assert len(times) > 20
    assert all(abs(t * 15 - round(t * 15)) < 1e-4 for t in times)


def test_the_video_shows_what_the_screenshots_show(records: list[dict[str, Any]], tmp_path: Path) -> None:
    directory = web(records)
    frame = tmp_path / "last.png"
    subprocess.run(
        [
            "ffmpeg",
            "-v",
            "error",
            "-sseof",
            "-0.2",
            "-i",
            str(directory / "data/recording.mp4"),
            "-update",
            "1",
            str(frame),
        ],
        check=True,
    )
    last = list(read_json_lines(directory / "data/actions.jsonl"))[-1]
    with Image.open(frame) as film, Image.open(directory / "data/screenshots" / last["screenshot"]) as still:
        assert film.size == still.size == (1920, 1080)
        body = (0, 200, 1920, 1080)
        film_part, still_part = film.convert("L").crop(body), still.convert("L").crop(body)
        assert ImageStat.Stat(still_part).stddev[0] > 5, "the page must not be blank"
        assert ImageStat.Stat(ImageChops.difference(film_part, still_part)).mean[0] < 25


def test_the_patch_is_the_change_and_nothing_else(records: list[dict[str, Any]]) -> None:
    patch = (Path(records[2]["directory"]) / "data/git.patch").read_text()
    assert patch.startswith("diff --git ")
    assert patch.endswith("\n")
    assert "tests/" not in patch


def test_prompts_are_the_same_for_every_policy(records: list[dict[str, Any]]) -> None:
    one, two, three, four = (Path(r["directory"], "prompt.txt").read_text() for r in records)
    assert one == two
    assert three == four
