"""Builds the test program of one Go package with a TestMain of ours: it reports each test over descriptor 3.

Started with `-I -B`, so it must not import anything but the standard library.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ADDED = "clawbench_main_test.go"
MAIN = """\
package %(package)s

import (
	"encoding/json"
	"flag"
	"os"
	"syscall"
	"testing"
)

func TestMain(m *testing.M) {
	const channel = 3
	nonce := make([]byte, 0, 32)
	for len(nonce) < cap(nonce) {
		count, err := syscall.Read(channel, nonce[len(nonce):cap(nonce)])
		if err != nil || count <= 0 {
			os.Exit(70)
		}
		nonce = nonce[:len(nonce)+count]
	}
	syscall.CloseOnExec(channel)
	send := func(frame map[string]interface{}) {
		text, _ := json.Marshal(frame)
		line := append(append(append([]byte{}, nonce...), ' '), append(text, '\\n')...)
		for len(line) > 0 {
			count, err := syscall.Write(channel, line)
			if err != nil {
				os.Exit(70)
			}
			line = line[count:]
		}
	}
	flag.Parse()
	send(map[string]interface{}{"hello": "go"})
	bodies := []testing.InternalTest{
%(tests)s
	}
	statuses := map[string]string{}
	tests := make([]testing.InternalTest, 0, len(bodies))
	for _, test := range bodies {
		test := test
		tests = append(tests, testing.InternalTest{Name: test.Name, F: func(t *testing.T) {
			// Registered first, so it comes last: after subtests and what the test itself cleans up.
			t.Cleanup(func() {
				switch {
				case t.Failed():
					statuses[test.Name] = "failed"
				case t.Skipped():
					statuses[test.Name] = "skipped"
				default:
					statuses[test.Name] = "passed"
				}
			})
			test.F(t)
		}})
	}
	// Run no test in the ordinary way, only what belongs to the beginning of a run.
	flag.Set("test.run", "^$")
	m.Run()
	every := func(string, string) (bool, error) { return true, nil }
	testing.RunTests(every, tests)
	for _, test := range bodies {
		status, known := statuses[test.Name]
		if !known {
			status = "missing"
		}
		send(map[string]interface{}{"test": test.Name, "status": status})
	}
	send(map[string]interface{}{"end": len(bodies)})
	syscall.Exit(0)
}
"""


def main(root: Path, output: Path, file: str, names: list[str]) -> None:
    output.mkdir(parents=True, exist_ok=True)
    source = (root / file).read_text(encoding="utf-8")
    package = re.search(r"(?m)^package (\w+)", source)
    known = [name for name in names if re.fullmatch(r"Test\w*", name)]
    listed = "\n".join(f'\t\t{{Name: "{name}", F: {name}}},' for name in known)
    (output / ADDED).write_text(MAIN % {"package": package[1] if package else "main", "tests": listed})
    overlay = {"Replace": {str((root / file).with_name(ADDED)): str(output / ADDED)}}
    (output / "overlay.json").write_text(json.dumps(overlay))
    command = ["go", "test", "-c", "-vet=off", "-overlay", str(output / "overlay.json")]
    command += ["-o", str(output / "tests"), f"./{Path(file).parent}"]
    sys.exit(subprocess.run(command, cwd=root, check=False).returncode)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4:])
