"""The site of the coverage suite: pages that send when they are told to."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from tests.environments.browser.conftest import Answer, html, redirect, script

OBEY = "onmessage = e => { if (typeof e.data === 'string') eval(e.data) };"
READY = "(opener || parent).postMessage({ready: true}, '*');"

START = """<title>Start</title>
<style>.large { position: fixed; left: 0; top: 0; width: 99px; height: 99px }</style>
<body><script>
const frame = (source, more) => new Promise(done => {
  const one = Object.assign(document.createElement('iframe'), more);
  addEventListener('message', e => {
    if (e.source === one.contentWindow && e.data.ready) done(one.contentWindow);
  });
  if (source) one.src = source;
  document.body.append(one);
});
const popup = (source, name) => new Promise(done => {
  const one = open(source, name || '_blank');
  addEventListener('message', e => { if (e.source === one && e.data.ready) done(one) });
});
const form = (fields, more) => {
  const one = Object.assign(document.createElement('form'), {method: 'POST', action: '/order'}, more);
  one.innerHTML = fields;
  document.body.append(one);
  return one;
};
const controlled = () => navigator.serviceWorker.register('/sw.js').then(() => navigator.serviceWorker.ready)
  .then(ready => navigator.serviceWorker.controller ? ready : new Promise(
    done => navigator.serviceWorker.oncontrollerchange = () => done(ready)));
const packed = (text, how) => new Response(
  new Blob([text]).stream().pipeThrough(new CompressionStream(how))).arrayBuffer();
</script>"""

SERVICE_WORKER = """
oninstall = () => skipWaiting();
onactivate = e => e.waitUntil(clients.claim());
onmessage = e => e.waitUntil(Promise.resolve(eval(e.data)).catch(() => 0));
onpush = e => e.waitUntil(fetch('/order', {method: 'POST', body: e.data.text()}).catch(() => 0));
onfetch = e => {
  if (e.request.url.endsWith('/moved')) return e.respondWith(Response.redirect('/order', 307));
  const to = new URL(e.request.url).searchParams.get('forward');
  if (to) e.respondWith(e.request.text().then(body => fetch(to, {method: 'POST', body})));
  else if (e.request.method === 'POST') e.respondWith(fetch(e.request));
};
"""

PRELOADING_WORKER = """
oninstall = () => skipWaiting();
onactivate = e => e.waitUntil(registration.navigationPreload.enable().then(() => clients.claim()));
onfetch = e => { if (e.request.mode === 'navigate')
  e.respondWith(e.preloadResponse.then(early => early || fetch(e.request))) };
"""


def with_header(name: str, value: str, body: str = "text") -> Answer:
    status, headers, content = html(body)
    return status, {**headers, name: value}, content


def pdf_with_form() -> bytes:
    """One page that is a single button, which sends the form."""
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [4 0 R 5 0 R] >> >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 600] /Annots [4 0 R 5 0 R] >>",
        b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (kind) /V (final) /Rect [9 9 90 30] /P 3 0 R >>",
        b"<< /Type /Annot /Subtype /Widget /FT /Btn /Ff 65536 /T (go) /Rect [0 0 600 600] /P 3 0 R"
        b" /A << /S /SubmitForm /F << /FS /URL /F (http://shop.example/order) >> >> >>",
    )
    document, places = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, 1):
        places.append(b"%010d 00000 n \n" % len(document))
        document += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, b"".join(places))
    end = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(document))
    return document + table + end


PAGES: dict[str, Any] = {
    "/": html(START),
    "/frame": html(f"<p>frame<script>{OBEY}{READY}</script>"),
    "/order": html("ordered"),
    "/free": html("free"),
    "/worker.js": script(OBEY),
    "/shared.js": script("onconnect = e => e.ports[0].onmessage = m => eval(m.data)"),
    "/sw.js": script(SERVICE_WORKER),
    "/preloading.js": script(PRELOADING_WORKER),
    "/echo.js": lambda asked: script(unquote(asked.path.partition("?")[2])),
    "/import.js": script("importScripts('/order?kind=final')"),
    "/upload": html(
        "<form method=post enctype=multipart/form-data action=/order>"
        "<input name=kind value=other><input type=file id=file name=file></form>"
    ),
    "/typed": html("<form method=post action=/order><input id=field name=kind value=fina></form>"),
    "/refresh": html("<meta http-equiv=refresh content='0;url=/order?kind=final'>"),
    "/charset": (
        "200 OK",
        {"Content-Type": "text/html; charset=shift_jis"},
        "<form method=post action=/order><input name=kind value=確定></form>".encode("shift_jis"),
    ),
    "/icon": html("<link rel=icon href='/order?kind=final'>"),
    "/manifest": html("<link rel=manifest href='/order?kind=final'>"),
    "/style": html("<style>body { background: url('/order?kind=final') }</style><p>text"),
    "/link-header": with_header("Link", "</order?kind=final>; rel=preload; as=script"),
    "/rules-header": with_header("Speculation-Rules", '"/order?kind=final"'),
    "/dictionary-header": with_header("Link", '</order?kind=final>; rel="compression-dictionary"'),
    "/refresh-header": with_header("Refresh", "0; url=/order?kind=final"),
    "/policy": with_header("Content-Security-Policy", "img-src 'none'; report-uri /order", "<img src=/free>"),
    "/form.pdf": ("200 OK", {"Content-Type": "application/pdf"}, pdf_with_form()),
    **{f"/to/{code}": redirect(f"{code} Moved", "/order") for code in (307, 308)},
    **{f"/to/{code}": redirect(f"{code} Moved", "/order?kind=final") for code in (301, 302, 303)},
    "/away": redirect("307 Away", "http://shop.example/order"),
}
