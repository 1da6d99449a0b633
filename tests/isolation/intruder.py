"""Runs inside the sandbox and tries everything an agent must not be able to do.

Standard library only. Reads targets from HOME/targets.json, writes what it could get hold of to
HOME/findings.json: name -> what was found (empty: nothing).
"""

import json
import os
import socket
import sys
import urllib.request
from pathlib import Path

SKIPPED = ("/proc", "/sys", "/dev", "/usr", sys.base_prefix)  # the last two: the system itself, from packages
MOST_BYTES = 4_000_000


def readable_files(roots):
    for root in roots:
        for directory, names, files in os.walk(root, onerror=lambda error: None):
            if any(directory == skip or directory.startswith(skip + "/") for skip in SKIPPED):
                names[:] = []
                continue
            for name in files:
                path = os.path.join(directory, name)
                if not os.path.islink(path) and os.path.isfile(path):
                    yield path


def search(needles, own):
    """Which secret words stand in which readable file, outside what this program was given itself."""
    found = {name: [] for name in needles}
    for path in readable_files(["/"]):
        if path in own:
            continue
        try:
            with open(path, "rb") as file:
                text = file.read(MOST_BYTES)
        except OSError:
            continue
        for name, needle in needles.items():
            if needle.encode() in text:
                found[name].append(path)
    return found


def processes(needles):
    """Which secret words stand in the environment, arguments or memory map of a process in sight."""
    found = {name: [] for name in needles}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for part in ("environ", "cmdline", "maps", "mountinfo"):
            try:
                text = Path("/proc", pid, part).read_bytes()
            except OSError:
                continue
            for name, needle in needles.items():
                if needle.encode() in text:
                    found[name].append(f"{pid}/{part}")
    return found


def existing(paths):
    return [path for path in paths if os.path.exists(path)]


def connects(addresses):
    """Which of (host, port) can be connected to."""
    got = []
    for host, port in addresses:
        try:
            socket.create_connection((host, port), timeout=2).close()
            got.append(f"{host}:{port}")
        except OSError:
            pass
    return got


def open_ports():
    """Every TCP port of the loopback that answers."""
    got = []
    for port in range(1, 65536):
        with socket.socket() as probe:
            reached = probe.connect_ex(("127.0.0.1", port)) == 0
            if reached and probe.getsockname() != probe.getpeername():  # TCP can connect to itself
                got.append(port)
    return got


def unix_sockets(paths):
    got = []
    for path in paths:
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect("\0" + path[1:] if path.startswith("@") else path)
                got.append(path)
            except OSError:
                pass
    return got


def writable(paths):
    got = []
    for path in paths:
        try:
            with open(os.path.join(path, "planted"), "w") as file:
                file.write("x")
            got.append(path)
        except OSError:
            pass
    return got


def resolves(name):
    try:
        return [str(socket.getaddrinfo(name, 80)[0][4])]
    except OSError:
        return []


def gateway_refuses(base, token):
    """Whether the gateway gives anything to another token or on another path."""
    got = []
    for path, key in (("/v1/chat/completions", "cb-other"), ("/v1/keys", token), ("/v1/files", token)):
        request = urllib.request.Request(base + path, b"{}", {"Authorization": f"Bearer {key}"})
        try:
            got.append(f"{path}: {urllib.request.urlopen(request, timeout=5).status}")
        except urllib.error.HTTPError as error:
            error.close()
        except OSError:
            pass
    return got


def main():
    home = Path(os.environ["HOME"])
    targets = json.loads((home / "targets.json").read_text())
    needles = targets["needles"]
    own = {str(home / "targets.json"), os.path.abspath(sys.argv[0])}
    findings = {
        "files": search(needles, own),
        "processes": processes(needles),
        "paths": existing(targets["paths"]),
        "hosts": connects(targets["addresses"]),
        "ports": open_ports(),
        "sockets": unix_sockets(targets["sockets"]),
        "writable": writable(targets["directories"]),
        "names": resolves("example.org"),
        "gateway": gateway_refuses(os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"]),
        "root": sorted(os.listdir("/")),
    }
    (home / "findings.json").write_text(json.dumps(findings))


if __name__ == "__main__":
    main()
