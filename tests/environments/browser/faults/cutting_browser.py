"""Stands between a session and its browser and carries their debugging pipe, until a signal breaks it.

SIGUSR1: what goes to the session ends, while the browser keeps running. SIGUSR2: the session is sent what is
no message. `install` makes a program of it, to be named by CLAWBENCH_BROWSER.
"""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

BROWSER = "/usr/bin/chromium"
FROM_SESSION, TO_SESSION = 3, 4


def install(directory: Path) -> Path:
    program = directory / "cutting-browser"
    interpreter = Path(sys.base_prefix, "bin", "python3").resolve()
    program.write_text(f"#!{interpreter} -IS\n{Path(__file__).read_text()}\nmain()\n")
    program.chmod(0o755)
    return program


def carry(source: int, sink: int) -> None:
    try:
        while data := os.read(source, 1 << 16):
            view = memoryview(data)
            while view:
                view = view[os.write(sink, view) :]
    except OSError:
        return
    os.close(sink)


def main() -> None:
    if "--version" in sys.argv:
        os.execv(BROWSER, [BROWSER, "--version"])
    for_browser, to_browser = os.pipe()
    from_browser, of_browser = os.pipe()

    def place() -> None:
        os.dup2(for_browser, FROM_SESSION)
        os.dup2(of_browser, TO_SESSION)

    signal.signal(signal.SIGUSR1, lambda *_: os.close(TO_SESSION))
    signal.signal(signal.SIGUSR2, lambda *_: os.write(TO_SESSION, b"{ no message\0"))
    command = [BROWSER, *sys.argv[1:]]
    browser = subprocess.Popen(command, pass_fds=(3, 4), preexec_fn=place)  # noqa: PLW1509 - no thread yet
    os.close(for_browser)
    os.close(of_browser)
    for source, sink in ((FROM_SESSION, to_browser), (from_browser, TO_SESSION)):
        threading.Thread(target=carry, args=(source, sink), daemon=True).start()
    sys.exit(browser.wait())
