"""Small real packages: a wheelhouse, and an npm registry on loopback."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def write_wheel(directory: Path, name: str, version: str, needs: tuple[str, ...] = ()) -> Path:
    """A package with a module and a program, both named like it."""
    info = f"{name}-{version}.dist-info"
    required = "".join(f"Requires-Dist: {need}\n" for need in needs)
    files = {
        f"{name}.py": f"def main() -> None:\n    print('{name} {version}')\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{required}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{name} = {name}:main\n",
    }
    record = "".join(f"{path},sha256={_urlsafe(text)},{len(text)}\n" for path, text in files.items())
    directory.mkdir(parents=True, exist_ok=True)
    wheel = directory / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as opened:
        for path, text in {**files, f"{info}/RECORD": record + f"{info}/RECORD,,\n"}.items():
            opened.writestr(path, text)
    return wheel


@contextlib.contextmanager
def npm_registry(packages: dict[str, dict[str, object]]) -> Iterator[str]:
    """Serves one version of each package: name -> its package.json."""
    tarballs = {name: _npm_tarball(manifest) for name, manifest in packages.items()}

    class Registry(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.strip("/").removesuffix(".tgz")
            if name not in packages:
                self.send_error(404)
                return
            data = tarballs[name] if self.path.endswith(".tgz") else self._document(name)
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(data)

        def _document(self, name: str) -> bytes:
            manifest, tarball = packages[name], tarballs[name]
            version = str(manifest["version"])
            integrity = f"sha512-{base64.b64encode(hashlib.sha512(tarball).digest()).decode()}"
            dist = {"tarball": f"http://{self.headers['Host']}/{name}.tgz", "integrity": integrity}
            document = {
                "name": name,
                "dist-tags": {"latest": version},
                "versions": {version: {**manifest, "dist": dist}},
            }
            return json.dumps(document).encode()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _npm_tarball(manifest: dict[str, object]) -> bytes:
    files = {
        "package.json": json.dumps(manifest),
        "index.js": f"console.log({json.dumps(manifest['name'])})\n",
    }
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return written.getvalue()


def _urlsafe(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
