"""The résumé as a one-page PDF."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from fpdf import FPDF
from fpdf.enums import XPos, YPos


def resume_pdf(profile: dict[str, Any]) -> bytes:
    """A plain, readable résumé made from the profile; the same profile gives the same bytes."""
    pdf = FPDF(format="Letter")
    pdf.set_creation_date(datetime(2026, 1, 1, tzinfo=UTC))
    pdf.set_margin(20)
    pdf.add_page()
    address = profile["address"]
    _line(pdf, profile["name"]["full"], size=22, style="B")
    _line(pdf, f"{address['street']}, {address['city']}, {address['state']} {address['zip']}")
    _line(pdf, f"{profile['email']} | {profile['phone']}")
    _heading(pdf, "Experience")
    for job in profile["work"]:
        _line(pdf, f"{job['title']}, {job['company']} ({job['from']} to {job['to'] or 'today'})", style="B")
        _line(pdf, job["summary"])
    _heading(pdf, "Education")
    for school in profile["education"]:
        _line(pdf, f"{school['degree']}, {school['school']} ({school['from']} to {school['to']})")
    _heading(pdf, "Skills")
    _line(pdf, ", ".join(profile["skills"]))
    _heading(pdf, "Languages")
    _line(pdf, ", ".join(profile["languages"]))
    return bytes(pdf.output())


def _heading(pdf: FPDF, text: str) -> None:
    pdf.ln(4)
    _line(pdf, text, size=14, style="B")


def _line(pdf: FPDF, text: str, *, size: int = 11, style: str = "") -> None:
    pdf.set_font("Helvetica", style=style, size=size)
    pdf.multi_cell(0, size * 0.5, text, new_x=XPos.LMARGIN, new_y=YPos.NEXT)
