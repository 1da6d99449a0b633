#!/bin/sh
# Clawbench: prepares its own Python environment in .venv, then hands over.
#
#   ./run.sh demo            watch an agent do web and coding tasks, from start to score
#   ./run.sh test [GROUP…]   run the tests
#   ./run.sh bench NAME …    run benchmarks/NAME.py
#   ./run.sh COMMAND …       any clawbench command; `./run.sh --help` lists them
set -eu
here=$(dirname -- "$(readlink -f -- "$0")")
bin=$here/.venv/bin

die() { printf 'clawbench: %s\n' "$*" >&2; exit 2; }

find_python() {
    suits='import sys, importlib.util as u, shutil
sys.exit(sys.version_info < (3, 11) or not (u.find_spec("ensurepip") or u.find_spec("pip") or shutil.which("uv")))'
    for python in "$bin/python" python3.13 python3.12 python3.11 python3 \
        "${PYENV_ROOT:-${HOME:-}/.pyenv}"/versions/3.1[1-9]*/bin/python3; do
        ! "$python" -c "$suits" 2>/dev/null || return 0
    done
    return 1
}

install_python() {
    need="Python 3.11 or newer with venv is needed"
    command -v apt-get >/dev/null || die "$need: install it and start again"
    case $(. /etc/os-release && echo "$ID$VERSION_ID") in ubuntu22.04) package=python3.11 ;; *) package=python3 ;; esac
    line="apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends $package $package-venv"
    if [ "$(id -u)" = 0 ]; then as_root=
    elif sudo -n true 2>/dev/null; then as_root='sudo -n'
    elif command -v sudo >/dev/null; then die "$need. Run this, then start again: sudo sh -c '$line'"
    else die "$need. Run this, then start again: su -c '$line'"; fi
    echo "clawbench: $need: installing $package and $package-venv with apt-get" >&2
    $as_root sh -c "$line" >&2
}

prepare() {
    find_python || { install_python && find_python; } || die "Python 3.11 or newer with venv is needed: install it and start again"
    "$python" -I "$here/tools/prepare.py" "$1"
}

installable='import json, sys
print(*(row["name"] for row in json.load(sys.stdin) if row["installed"] is not None))'

install_harnesses() {
    for harness; do
        "$bin/clawbench" harness install "$harness" ||
            echo "clawbench: $harness could not be installed: its tests are skipped" >&2
    done
}

install_mmdebstrap() {
    command -v mmdebstrap >/dev/null || [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || {
        echo "clawbench: installing mmdebstrap with apt-get: it makes the root file system on which harnesses are tested" >&2
        DEBIAN_FRONTEND=noninteractive apt-get -qqy install --no-install-recommends mmdebstrap >/dev/null 2>&1 ||
            echo "clawbench: mmdebstrap could not be installed: tests that need it are skipped" >&2
    }
}

case ${1:-} in
'') exec sed -n '2,7s/^# \{0,1\}//p' "$here/run.sh" ;;
test)
    shift && cd "$here" && prepare requirements-dev.lock
    "$bin/clawbench" doctor --fix --for human
    "$bin/clawbench" doctor --fix --for mini-swe >/dev/null ||
        echo "clawbench: not every toolchain is there (doctor --for mini-swe tells more): tests that need it are skipped" >&2
    case " $* " in *" all "* | *" harnesses "*) install_mmdebstrap ;; esac
    case " $* " in
    *" all "*) install_harnesses $("$bin/clawbench" harness list --json | "$bin/python" -c "$installable") ;;
    *" harnesses "*) install_harnesses openclaw hermes hermes-mcp nanobot codex claude-code mini-swe-agent browser-use ;;
    esac
    exec "$bin/python" tests/groups.py "$@" ;;
bench)
    script=$here/benchmarks/${2:-}.py
    [ -f "$script" ] || die "no benchmark '${2:-}'; there are: $(cd "$here/benchmarks" && ls | sed -n 's/\.py$//p' | tr '\n' ' ')"
    shift 2 && prepare requirements.lock
    exec "$bin/python" "$script" "$@" ;;
esac
prepare requirements.lock
exec "$bin/clawbench" "$@"
