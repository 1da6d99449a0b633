"""The résumé as a one-page PDF."""

from __future__ import annotations

from typing import Any

from clawbench.identity.pdf import Paragraph, page_pdf


def resume_pdf(profile: dict[str, Any]) -> bytes:
    """A plain, readable résumé made from the profile; the same profile gives the same bytes."""
    address = profile["address"]
    page = [
        Paragraph(profile["name"]["full"], size=22, bold=True),
        Paragraph(f"{address['street']}, {address['city']}, {address['state']} {address['zip']}"),
        Paragraph(f"{profile['email']} | {profile['phone']}"),
        _heading("Experience"),
    ]
    for job in profile["work"]:
        title = f"{job['title']}, {job['company']} ({job['from']} to {job['to'] or 'today'})"
        page += [Paragraph(title, bold=True), Paragraph(job["summary"])]
    page.append(_heading("Education"))
    for school in profile["education"]:
        page.append(Paragraph(f"{school['degree']}, {school['school']} ({school['from']} to {school['to']})"))
    page += [_heading("Skills"), Paragraph(", ".join(profile["skills"]))]
    page += [_heading("Languages"), Paragraph(", ".join(profile["languages"]))]
    return page_pdf(page)


def _heading(text: str) -> Paragraph:
    return Paragraph(text, size=14, bold=True, space_before=10)
