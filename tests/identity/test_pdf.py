import re
import zlib

import pytest

from clawbench.identity.pdf import MARGIN, WIDTH, WIDTHS, Paragraph, page_pdf, wrapped


def content(pdf: bytes) -> str:
    found = re.search(rb"stream\n(.*?)\nendstream", pdf, re.DOTALL)
    assert found
    return zlib.decompress(found[1]).decode("cp1252")


def test_long_paragraphs_are_wrapped_to_the_page_and_lose_no_word() -> None:
    text = "plans regional deliveries and keeps the reporting pipeline " * 5
    lines = wrapped(Paragraph(text))
    assert len(lines) > 2
    assert " ".join(lines) == text.strip()
    assert all(sum(WIDTHS[letter] for letter in line) * 11 / 1000 <= WIDTH - 2 * MARGIN for line in lines)


def test_every_object_is_where_the_table_says() -> None:
    pdf = page_pdf([Paragraph("One"), Paragraph("Two", bold=True)])
    table = int(re.search(rb"startxref\n(\d+)", pdf)[1])  # type: ignore[index]
    assert pdf[table:].startswith(b"xref\n0 7\n")
    starts = [int(row) for row in re.findall(rb"(?m)^(\d{10}) 00000 n ", pdf)]
    assert [pdf[start:].split(b" ", 1)[0] for start in starts] == [b"1", b"2", b"3", b"4", b"5", b"6"]
    length = int(re.search(rb"/Length (\d+)", pdf)[1])  # type: ignore[index]
    assert pdf.partition(b"stream\n")[2][length:].startswith(b"\nendstream")


def test_brackets_accents_and_what_the_font_lacks() -> None:
    text = content(page_pdf([Paragraph("é (x) \\ 茶")]))
    assert "(é \\(x\\) \\\\ ?) Tj" in text


def test_the_same_page_gives_the_same_bytes_and_too_much_is_refused() -> None:
    assert page_pdf([Paragraph("a")]) == page_pdf([Paragraph("a")])
    with pytest.raises(ValueError, match="one page"):
        page_pdf([Paragraph("a")] * 100)
