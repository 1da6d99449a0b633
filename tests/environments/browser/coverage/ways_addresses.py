"""The site's address, spelled as patterns do not expect it."""

from __future__ import annotations

from typing import Any

from tests.environments.browser.coverage.way import FINAL, Way

PATTERN = r"^http://shop\.example/order(\?|$)"


def address(name: str, send: str, url: str, pattern: str = PATTERN, **more: Any) -> Way:
    return Way(f"address-{name}", send, url=url, schema={"url_pattern": pattern, "body": FINAL}, **more)


def post(url: str) -> str:
    return f"await fetch('{url}', {{method: 'POST', body: 'BODY_', mode: 'no-cors'}})"


WAYS = [
    address(
        "with-credentials",
        "const x = new XMLHttpRequest(); x.open('POST', '/order', true, 'me', 'secret'); x.send('BODY_')",
        "http://me:secret@shop.example/order",
    ),
    address(
        "with-credentials-form",
        "form('<input name=kind value=final>', {action: 'http://me:secret@shop.example/order'}).submit()",
        "http://me:secret@shop.example/order",
        rare=True,
    ),
    address("with-a-dot", post("http://shop.example./order"), "http://shop.example./order"),
    address("escaped", post("/%6F%72der"), "http://shop.example/%6F%72der", at_path="/%6F%72der"),
    address(
        "in-other-letters",
        post("HTTP:\\\\\\\\SHOP.Example:80\\\\x/%2e%2e/order#part"),
        "http://shop.example/order",
    ),
    address(
        "beyond-ascii",
        post("http://münchen.example/order?ü"),
        "http://xn--mnchen-3ya.example/order?%C3%BC",
        r"^http://münchen\.example/order\?ü$",
        rare=True,
    ),
]
