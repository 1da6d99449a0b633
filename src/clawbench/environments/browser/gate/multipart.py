"""Forms in parts: what browsers make of them, and what servers could that go by other rules. Pure."""

from __future__ import annotations

import binascii
import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice

from clawbench.environments.browser.gate.disposition import labels
from clawbench.environments.browser.gate.forms import Field, Fields, File, Form

OWN_BOUNDARY = re.compile(rb"^--([^\r\n]+)\r?\n[\w-]+:", re.MULTILINE)
REST_OF_BOUNDARY = re.compile(rb"(--)?[ \t]*(?:\r?\n|\Z)")
"""After what looks like a boundary; the value of a field may have a longer line that begins like one."""
LINE_END = rb"(?>\r\n|\r|\n)"
BLANK_LINE = re.compile(rb"(?:\A|" + LINE_END + rb")" + LINE_END)
LINE_LEFT = re.compile(rb"[^\r\n]*" + LINE_END + rb"?")
FOLD = re.compile(LINE_END + rb"(?:[ \t\v\f]+|(?=[^:\r\n]*(?:[\r\n]|\Z)))")
"""Before a line that goes on with a header: some servers take every line without a colon for one."""
DISPOSITION = re.compile(rb"content-disposition", re.IGNORECASE)
OF_BROWSERS = re.compile(
    rb'Content-Disposition: form-data; name="([^"\\%\r\n]*)"(?:; filename="([^"\\%\r\n]*)")?'
    rb"(?:\r\nContent-Type: ([^\r\n]*))?"
)
"""What is read in one way only."""
LARGEST_HEAD = 64 << 10
MOST_READINGS = 32
"""Of one part: it is held against the filter in each."""


@dataclass(frozen=True)
class Part:
    head: bytes | None
    """None: there is no blank line after which the content would begin."""
    content: bytes

    def readings(self, complete: bool) -> list[Field]:
        """All that it could be, up to one more than is allowed; what browsers mean by it comes first."""
        if self.head is None:
            return []
        if of_browsers := OF_BROWSERS.fullmatch(self.head):
            name, filename, kind = of_browsers.groups()
            return [(name, self._value(filename, (kind or b"").decode("latin-1"), complete))]
        if len(self.head) > LARGEST_HEAD:
            return []
        headers = _headers(self.head)
        kind = dict(headers).get("content-type", "")
        dispositions = [value for name, value in reversed(headers) if name == "content-disposition"]
        return list(
            islice(
                dict.fromkeys(
                    (name, self._value(label.filename, kind, complete))
                    for label in chain.from_iterable(map(labels, dispositions))
                    for name in label.names
                ),
                MOST_READINGS + 1,
            )
        )

    def _value(self, filename: bytes | None, kind: str, complete: bool) -> bytes | File:
        if filename is None:
            return self.content
        return File(filename, kind, self.content, len(self.content) if self.content or complete else None)

    def as_in_mail(self) -> Part:
        """As mail readers, and servers made of their parts, see it; browsers encode nothing."""
        if not self.head or OF_BROWSERS.fullmatch(self.head):
            return self
        encoding = dict(_headers(self.head)).get("content-transfer-encoding", "")
        return Part(self.head, _decoded(self.content, encoding.lower()))


def multipart(raw: bytes, boundary: bytes, complete: bool) -> Form:
    """`complete` is False where files may have been left out."""
    parts, rest, in_doubt = _parts(raw, boundary)
    in_mail = [part.as_in_mail() for part in parts]
    doubtful = _loose_parts(raw, boundary) if in_doubt else []
    found, *others = ([part.readings(complete) for part in some] for some in (parts, in_mail, doubtful))
    fields, decoded = _first_of_each(parts, found), _first_of_each(in_mail, others[0])
    every = dict.fromkeys(chain.from_iterable(readings[:MOST_READINGS] for readings in chain(found, *others)))
    return Form(
        fields,
        tuple(other for other in dict.fromkeys((decoded, tuple(every))) if other and other != fields),
        understood=all(0 < len(readings) <= MOST_READINGS for readings in found)
        and all(part.head is not None for part in doubtful)
        and not DISPOSITION.search(rest),
    )


def own_boundary(raw: bytes) -> bytes:
    """That of the first line that begins a part, whatever is declared; empty where there is none."""
    found = OWN_BOUNDARY.search(raw)
    return found[1].rstrip() if found else b""


def _first_of_each(parts: list[Part], found: list[list[Field]]) -> Fields:
    """What browsers mean; a part that they could not have written has no name."""
    pairs = zip(parts, found, strict=True)
    return tuple(
        readings[0] if readings else (b"", part.content) for part, readings in pairs if part.head is not None
    )


def _parts(raw: bytes, boundary: bytes) -> tuple[list[Part], bytes, bool]:
    """What stands between boundaries, what follows the last, and whether others could divide it otherwise.

    Lines end as that of the first boundary does: with CRLF, or LF alone.
    """
    delimiter = b"--" + boundary
    first = re.search(rb"^" + re.escape(delimiter) + rb"[ \t]*(\r?\n)", raw, re.MULTILINE)
    if first is None:
        return [], b"", False
    separator = first[1] + delimiter
    start, *pieces = raw[first.start(1) :].split(separator)
    contents, rest, seen = [[start.removeprefix(first[1])]], b"", 1
    for number, piece in enumerate(pieces):
        line = REST_OF_BOUNDARY.match(piece)
        if line is None:
            contents[-1].append(piece)
            continue
        seen += 1
        if line[1]:
            rest = separator.join(pieces[number:])
            break
        contents.append([piece[line.end() :]])
    else:
        contents[-1][-1], seen = _without_line_end(contents[-1][-1]), 0
    texts = [separator.join(content) for content in contents]
    in_doubt = raw.count(delimiter) != seen or b"\r" + separator in raw
    return [_part(text) for text in texts if text], rest, in_doubt


def _loose_parts(raw: bytes, boundary: bytes) -> list[Part]:
    """Whatever could be one: each line that begins like a boundary counts, and none is the last."""
    pieces = re.split(rb"(?:\A|" + LINE_END + rb")--" + re.escape(boundary), _without_line_end(raw))[1:]
    parts = (_part(piece[line.end() :]) for piece in pieces if (line := LINE_LEFT.match(piece)))
    return [part for part in parts if part.head or DISPOSITION.search(part.content)]


def _part(text: bytes) -> Part:
    blank = BLANK_LINE.search(text)
    return Part(text[: blank.start()], text[blank.end() :]) if blank else Part(None, text)


def _without_line_end(text: bytes) -> bytes:
    end = next((end for end in (b"\r\n", b"\n", b"\r") if text.endswith(end)), b"")
    return text.removesuffix(end)


def _decoded(content: bytes, encoding: str) -> bytes:
    match encoding:
        case "quoted-printable":
            return binascii.a2b_qp(content)
        case "base64":
            with suppress(binascii.Error):
                return binascii.a2b_base64(content)
    return content


def _headers(head: bytes) -> list[tuple[str, str]]:
    lines = re.split(LINE_END, FOLD.sub(b" ", head))
    pairs = (line.decode("latin-1").partition(":") for line in lines if b":" in line)
    return [(name.strip().lower(), value.strip()) for name, _, value in pairs]
