"""What must hold after a fault, whatever it was."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from urllib.parse import urlsplit

from tests.environments.browser.faults import processes
from tests.environments.browser.faults.plan import BROKEN_BROWSER, KINDS, Fault
from tests.environments.browser.faults.rehearsal import Rehearsal

LINE_FILES = ("data/actions.jsonl", "data/requests.jsonl", "data/cdp-commands.jsonl", "data/llm-calls.jsonl")
CLEARED_WITHIN_S = 5.0
LOST_BY_A_KILL_S = 0.5
LOST_BY_A_BROWSER_S = 0.1
"""A browser tells of its requests on another thread than it sends them on: one in a hundred leaves some
milliseconds before its line. None that is held does."""
BEHIND_AT_MOST_S = 2.0
"""An encoder on a busy machine; on a quiet one it is a frame or two."""
EXIT_CODES = {"intercepted": 0, "error": 1, "browser_crashed": 1, "cancelled": 130}
LEFT_BY_THE_KILLED = ("session killed", "session aborted", "runner killed")


def check(one: Rehearsal, fault: Fault, exit_code: int) -> None:
    assert one.site.final() == [], "a final request reached the server"
    if fault.kind == "runner killed":
        assert exit_code == -9
        assert one.json("run.json")["state"] != "done"
    else:
        check_record(one, fault, exit_code)
    check_interception(one)
    check_lines(one, cut=fault.kind in LEFT_BY_THE_KILLED)
    check_all_logged(one, lost_s(fault))
    check_pictures(one)
    if fault.moment != "starting":
        check_video(one)
    check_nothing_left(one)


def lost_s(fault: Fault) -> float:
    """How long before the fault a request may have left of which there is no line."""
    if fault.kind in LEFT_BY_THE_KILLED:
        return LOST_BY_A_KILL_S
    return LOST_BY_A_BROWSER_S if KINDS[fault.kind].reasons & BROKEN_BROWSER else 0.0


def check_record(one: Rehearsal, fault: Fault, exit_code: int) -> None:
    record = one.json("run.json")
    told = {name: record[name] for name in ("stop_reason", "stop_description", "cause", "error", "notices")}
    intercepted = one.json("data/interception.json")["intercepted"]
    reasons = KINDS[fault.kind].reasons
    # A run that somebody ends stays cancelled when its last request is caught on the way.
    expected = {"intercepted"} | (reasons & {"cancelled"}) if intercepted else set(reasons)
    if fault.moment == "starting" and not intercepted:
        expected.add("error")
    assert record["state"] == "done", told
    assert record["stop_reason"] in expected, told
    assert exit_code == EXIT_CODES[record["stop_reason"]], told
    if record["stop_reason"] in ("error", "browser_crashed"):
        assert record["cause"] == "infrastructure", told
        assert record["error"], told
    else:
        assert record["cause"] == "none", told
        assert record["error"] is None, told
    if record["stop_reason"] == "error" and fault.kind == "disk full":
        assert "No space left" in record["error"], told
        assert "Free space" in record["error"], told
    if KINDS[fault.kind].notice:
        assert any(KINDS[fault.kind].notice in notice for notice in record["notices"]), told


def check_interception(one: Rehearsal) -> None:
    found = one.json("data/interception.json")
    if found["intercepted"]:
        assert found["request"]["method"] == "POST"
        assert "final" in json.dumps(found["request"]["body"])
    else:
        assert found["stop_reason"]
        assert found["stop_description"]


def check_lines(one: Rehearsal, *, cut: bool) -> None:
    """What was there is still there, and all of it is JSON; only a writer that was killed leaves a part."""
    for name in LINE_FILES:
        after = one.read(name)
        kept = zip(whole_lines(one.before.get(name, b"")), whole_lines(after), strict=False)
        # At the end, what became of a request is added to its line: nothing else may change.
        assert all(now.startswith(then.removesuffix(b"}")) for then, now in kept), f"{name} was changed"
        assert after.count(b"\n") >= one.before.get(name, b"").count(b"\n"), f"{name} lost what it had"
        assert cut or after in (b"",) or after.endswith(b"\n"), f"{name} ends in the middle of a line"
        for line in whole_lines(after):
            json.loads(line)


def whole_lines(content: bytes) -> list[bytes]:
    return content[: content.rfind(b"\n") + 1].splitlines()


def check_all_logged(one: Rehearsal, lost_s: float) -> None:
    """Whatever reached the server is in the log, but for a killed writer's last moment."""
    queries = {
        urlsplit(json.loads(line)["url"]).query for line in whole_lines(one.read("data/requests.jsonl"))
    }
    missing = {query: at for query, at in one.site.numbers().items() if query not in queries}
    early = [query for query, at in missing.items() if not lost_s or at < one.fault_at - lost_s]
    assert not early, f"passed without a line: {early}"


def check_pictures(one: Rehearsal) -> None:
    """One that has its name is whole; a session whose runner was killed may still be writing others."""
    assert one.run_dir is not None
    for path in one.run_dir.glob("data/screenshots/[!.]*.png"):
        assert path.read_bytes()[-8:-4] == b"IEND", f"{path} is cut short"


def check_video(one: Rehearsal) -> None:
    """It can be decoded without a complaint, up to the fault at least."""
    assert one.run_dir is not None
    video = one.run_dir / "data/recording.mp4"
    asked = ["-show_entries", "packet=pts_time", "-of", "json"]
    shown = subprocess.run(["ffprobe", "-v", "error", *asked, video], capture_output=True, check=True)
    times = [float(packet["pts_time"]) for packet in json.loads(shown.stdout)["packets"]]
    assert len(times) > 1
    decoded = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", video, "-f", "null", "-"], capture_output=True, check=True
    )
    assert decoded.stderr == b"", decoded.stderr.decode()
    started = one.json("run.json").get("video_started_at")
    if started is not None:
        assert started + max(times) > one.fault_at - BEHIND_AT_MOST_S, "the video ends before the fault"


def check_nothing_left(one: Rehearsal) -> None:
    deadline = time.monotonic() + CLEARED_WITHIN_S
    while left := leftovers(one):
        assert time.monotonic() < deadline, f"left behind: {left}"
        time.sleep(0.02)


def leftovers(one: Rehearsal) -> list[str]:
    alive = [" ".join(process.words)[:200] for process in one.seen if process.running]
    pids = {one.runner.pid, *(process.pid for process in one.seen)}
    scratch = [str(path) for path in (one.base / "t").iterdir()]
    groups = [str(path) for path in processes.control_groups(pids, one.started_at)]
    mounted = [line for line in Path("/proc/mounts").read_text().splitlines() if str(one.base / "t") in line]
    assert one.run_dir is not None
    hidden = [str(path) for path in one.run_dir.rglob(".*")]
    return [*alive, *scratch, *groups, *mounted, *(hidden if one.runner.returncode != -9 else [])]
