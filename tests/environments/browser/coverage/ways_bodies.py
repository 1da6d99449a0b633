"""Bodies of every kind."""

from __future__ import annotations

from typing import Any

from tests.environments.browser.coverage.way import BODY, FINAL, Way

LARGE = 10 * 1024 * 1024
DEEP = 100_000
QUERY = "mutation PlaceOrder($id: ID!) { order(id: $id) { id } }"


def post(body: str, headers: str = "{}") -> str:
    return f"await fetch('/order', {{method: 'POST', headers: {headers}, body: {body}}})"


def graphql(name: str, value: Any, script: str) -> Way:
    schema = {"body": {"operationName": "PlaceOrder"}}
    return Way(f"graphql-{name}", post(f"JSON.stringify({script})"), body=value, schema=schema)


def method(name: str, body: Any) -> Way:
    schema = {"method": name} | ({"body": FINAL} if body else {})
    more = ", body: 'BODY_'" if body else ""
    return Way(
        f"method-{name.lower()}", f"await fetch('/order', {{method: '{name}'{more}}})", body, schema=schema
    )


WAYS = [
    Way(
        "body-of-10-mb",
        post(f"JSON.stringify({{kind: 'final', text: 'x'.repeat({LARGE})}})"),
        body=FINAL | {"text": "x" * LARGE},
    ),
    Way(
        "body-of-10-mb-in-a-blob",
        post(f'new Blob([\'{{"kind": "final", "text": "\', \'y\'.repeat({LARGE}), \'"}}\'])'),
        body=FINAL | {"text": "y" * LARGE},
    ),
    Way("body-blob", post("new Blob(['{\"kind\":', '\"final\"}'])")),
    Way("body-bytes", post("new TextEncoder().encode('BODY_')")),
    Way(
        "body-binary",
        post("new Uint8Array([0, 255, 1, 254])"),
        schema={},
        body="data:application/octet-stream;base64,AP8B/g==",
    ),
    Way("body-gzip", post("await packed('BODY_', 'gzip')", "{'content-encoding': 'gzip'}")),
    Way("body-gzip-undeclared", post("await packed('BODY_', 'gzip')")),
    Way(
        "body-gzip-of-two-members",
        "const halves = await Promise.all(['{\"kind\":', '\"final\"}'].map(half => packed(half, 'gzip')));"
        + post("new Blob(halves)", "{'content-encoding': 'gzip'}"),
    ),
    Way("body-deflate-undeclared", post("await packed('BODY_', 'deflate')"), rare=True),
    Way("body-deflate", post("await packed('BODY_', 'deflate')", "{'content-encoding': 'deflate'}")),
    Way("body-deflate-raw", post("await packed('BODY_', 'deflate-raw')", "{'content-encoding': 'deflate'}")),
    Way(
        "body-brotli",
        post("'not to be read'", "{'content-encoding': 'br'}"),
        body="not to be read",
        undecidable=True,
    ),
    Way(
        "body-stream",
        "await fetch('/order', {method: 'POST', duplex: 'half', body: new Blob(['BODY_']).stream()})",
        body=None,
        undecidable=True,
    ),
    Way("body-under-a-false-type", post("'BODY_'", "{'content-type': 'text/css'}")),
    Way(
        "body-parameters",
        post("new URLSearchParams({kind: 'final', n: 1})"),
        body=FINAL | {"n": "1"},
        schema={"body": {"kind": "final", "n": 1}},
    ),
    Way(
        "body-form-data-with-file",
        "const d = new FormData(); d.set('kind', 'final'); d.set('cv', new File(['abc'], 'ü.txt'));"
        + post("d"),
        body=FINAL | {"cv": {"filename": "ü.txt", "content_type": "application/octet-stream", "size": 3}},
    ),
    Way(
        "body-form-data-with-json-in-a-file",
        "const d = new FormData(); d.set('order', new Blob(['BODY_'], {type: 'application/json'}));"
        + post("d"),
        body={"order": {"filename": "blob", "content_type": "application/json", "size": 17}},
        schema={"body": {"order.kind": "final"}},
    ),
    Way(
        "body-form-data-with-odd-names",
        "const d = new FormData(); d.set('a\"b\\r\\nc\\\\', 'é');"
        "d.set('größe', new File(['x'], '\"日;本\\n'));" + post("d"),
        body={
            'a"b\r\nc\\': "é",
            "größe": {"filename": '"日;本\n', "content_type": "application/octet-stream", "size": 1},
        },
        schema={"body": {'a"b\r\nc\\': "é"}},
    ),
    Way("body-with-byte-order-mark", post("'\\ufeffBODY_'"), rare=True),
    Way(
        "body-with-half-a-letter",
        post('\'{"kind": "final", "n": "\\\\ud800"}\''),
        body=FINAL | {"n": "\ud800"},
        shown=FINAL | {"n": "\ufffd"},
    ),
    Way(
        "body-too-deep",
        post(f"'[0, '.repeat({DEEP}) + 'BODY_' + ']'.repeat({DEEP})"),
        body=f"{'[0, ' * DEEP}{BODY}{']' * DEEP}",
        undecidable=True,
        rare=True,
    ),
    Way(
        "body-of-100-mb",
        post(f'new Blob([\'{{"kind": "final", "text": "\', \'y\'.repeat({10 * LARGE}), \'"}}\'])'),
        body=FINAL | {"text": "y" * 10 * LARGE},
        rare=True,
    ),
    Way(
        "body-nested",
        post("JSON.stringify({order: {lines: [{id: 7}], paid: true}})"),
        body={"order": {"lines": [{"id": 7}], "paid": True}},
        schema={"body": {"order.lines.0.id": "7", "order.paid": "true"}},
    ),
    graphql(
        "single",
        {"operationName": "PlaceOrder", "query": QUERY},
        f"{{operationName: 'PlaceOrder', query: '{QUERY}'}}",
    ),
    Way(
        "graphql-without-json",
        post(f"'{QUERY}'", "{'content-type': 'application/graphql'}"),
        body=QUERY,
        schema={"body": {"operationName": "PlaceOrder"}},
        rare=True,
    ),
    graphql("named-in-the-query", {"query": QUERY}, f"{{query: '{QUERY}'}}"),
    graphql(
        "batched",
        [{"query": "query Me { me }"}, {"query": QUERY}],
        f"[{{query: 'query Me {{ me }}'}}, {{query: '{QUERY}'}}]",
    ),
    method("PUT", dict(FINAL)),
    method("PATCH", dict(FINAL)),
    method("DELETE", None),
]
