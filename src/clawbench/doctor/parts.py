"""The list of parts: what each is for, which packages bring it, and how it is checked."""

from __future__ import annotations

from clawbench.doctor import browser, capacity, isolation, media, toolchains, viewing
from clawbench.doctor.part import Part

REMOTE = "web-elsewhere"
PURPOSES = frozenset({"web", REMOTE, "coding", "bwrap", "containers", "human", toolchains.PURPOSE})
"""What a part can be needed for: the kinds of task (web tasks in a browser that runs elsewhere need less),
the kinds of sandbox, live views (`human`), the languages of a bundled suite."""

_WEB = frozenset({"web"})
_BWRAP = frozenset({"web", "bwrap"})  # the browser is shut in by it whatever the harness runs in
_HUMAN = frozenset({"human"})
_CONTAINERS = frozenset({"containers"})

PARTS: tuple[Part, ...] = (
    Part("Python", "Clawbench is written in it", (), PURPOSES, True, capacity.check_python),
    Part(
        "git",
        "coding tasks start from a commit and end in a patch",
        capacity.GIT_PACKAGES,
        frozenset({"coding"}),
        True,
        capacity.check_git,
    ),
    Part(
        "Chromium or Chrome",
        "web tasks run in a real browser",
        browser.PACKAGES,
        _WEB,
        True,
        browser.check_browser,
    ),
    Part("Xvfb", "the browser's screen", media.XVFB_PACKAGES, _WEB, True, media.check_xvfb),
    Part(
        "ffmpeg",
        "records the screen as H.264 video",
        media.FFMPEG_PACKAGES,
        _WEB | {REMOTE},
        True,
        media.check_ffmpeg,
    ),
    Part("fonts", "pages without letters cannot be read", media.FONT_PACKAGES, _WEB, True, media.check_fonts),
    Part(
        "jq and file",
        "two of the commands that web agents may use",
        media.COMMAND_PACKAGES,
        _WEB,
        False,
        media.check_commands,
    ),
    Part(
        "user namespaces",
        "a sandbox without root is made of them",
        (),
        _BWRAP,
        True,
        isolation.check_user_namespaces,
    ),
    Part(
        "bubblewrap",
        "shuts the agent in: no network, no foreign files",
        isolation.BWRAP_PACKAGES,
        _BWRAP,
        True,
        isolation.check_bubblewrap,
    ),
    Part(
        "control groups",
        "limit what an agent may take of the machine",
        (),
        _BWRAP,
        False,
        isolation.check_control_groups,
    ),
    Part("disk", "a web run writes some tens of MB", (), PURPOSES, False, capacity.check_disk),
    Part("memory", "browser and harness need about 1 GB per run", (), PURPOSES, False, capacity.check_memory),
    Part(
        "x11vnc",
        "only for --human and --watch: shares the browser's screen",
        viewing.X11VNC_PACKAGES,
        _HUMAN,
        False,
        viewing.check_x11vnc,
    ),
    Part(
        "noVNC",
        "only for --human and --watch: shows that screen in your browser",
        viewing.NOVNC_PACKAGES,
        _HUMAN,
        False,
        viewing.check_novnc,
    ),
    Part(
        "container engine",
        "only for container sandboxes and SWE-bench's own images",
        isolation.ENGINE_PACKAGES,
        _CONTAINERS,
        False,
        isolation.check_container_engine,
    ),
    *(toolchain.part() for toolchain in toolchains.TOOLCHAINS),
)
