"""One page of text as a PDF, in the fonts that every viewer has: no library needed. Pure."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, MARGIN = 612, 792, 57
"""Points; US Letter."""
LINE_HEIGHT = 1.42
BOLD_IS_WIDER = 1.08
UNKNOWN_WIDTH = 600

_WIDTHS = (
    "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 "
    "556 556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 "
    "667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 "
    "556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 260 334 584 "
)
WIDTHS = dict(zip(map(chr, range(32, 127)), map(int, _WIDTHS.split()), strict=True))
"""Helvetica's printable ASCII, in thousandths of the font's size."""


@dataclass(frozen=True)
class Paragraph:
    text: str
    size: int = 11
    bold: bool = False
    space_before: int = 0


def page_pdf(paragraphs: Sequence[Paragraph]) -> bytes:
    """The same paragraphs give the same bytes. What does not fit on the page is an error."""
    content = zlib.compress("\n".join(_drawn(paragraphs)).encode("cp1252", "replace"))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Contents 4 0 R"
        " /Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> >>".encode(),
        f"<< /Length {len(content)} /Filter /FlateDecode >>\nstream\n".encode() + content + b"\nendstream",
        *(
            f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>".encode()
            for name in ("Helvetica", "Helvetica-Bold")
        ),
    ]
    return _file(objects)


def _drawn(paragraphs: Sequence[Paragraph]) -> list[str]:
    commands, y = [], float(HEIGHT - MARGIN)
    for paragraph in paragraphs:
        y -= paragraph.space_before
        for line in wrapped(paragraph):
            y -= paragraph.size * LINE_HEIGHT
            if y < MARGIN:
                raise ValueError("the text does not fit on one page")
            font = f"/{'F2' if paragraph.bold else 'F1'} {paragraph.size} Tf"
            commands.append(f"BT {font} {MARGIN} {y:.1f} Td ({_escaped(line)}) Tj ET")
    return commands


def wrapped(paragraph: Paragraph) -> list[str]:
    """The paragraph's lines, each as wide as the page allows."""
    lines = [""]
    for word in paragraph.text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and _width(longer, paragraph) > WIDTH - 2 * MARGIN:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _width(text: str, paragraph: Paragraph) -> float:
    width = sum(WIDTHS.get(letter, UNKNOWN_WIDTH) for letter in text) * paragraph.size / 1000
    return width * BOLD_IS_WIDER if paragraph.bold else width


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _file(objects: Sequence[bytes]) -> bytes:
    """Objects one after the other, and the table of where each begins."""
    data, starts = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"), []
    for number, content in enumerate(objects, 1):
        starts.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % start for start in starts)
    data += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, table)
    return bytes(data)
