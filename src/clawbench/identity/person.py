"""Alex Green: profile, mail account and résumé, written as the files an agent finds in /my-info."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROFILE_FILE = "alex_green_personal_info.json"
CREDENTIALS_FILE = "email_credentials.json"
RESUME_FILE = "alex_green_resume.pdf"
MAIL_DOMAIN = "mail.example"
"""A reserved domain: mail to it goes nowhere. A mailbox that can be read needs a mail provider."""


@dataclass(frozen=True)
class Person:
    """The synthetic user of one run."""

    profile: dict[str, Any]
    email: str
    password: str


def new_person(seed: str | None = None) -> Person:
    """Alex Green with a fresh address and password; the same ones for the same seed."""
    seed = seed or secrets.token_hex(16)
    profile = json.loads((Path(__file__).parent / "profile.json").read_text(encoding="utf-8"))
    email = f"alex.green.{_drawn(seed, 'address').hex()[:8]}@{MAIL_DOMAIN}"
    password = base64.urlsafe_b64encode(_drawn(seed, "password")[:12]).decode()
    return Person({**profile, "email": email}, email, password)


def write_my_info(person: Person, directory: Path) -> list[str]:
    """Write the person's files, the résumé still empty; returns their names as a prompt lists them."""
    directory.mkdir(parents=True, exist_ok=True)
    credentials = {"email": person.email, "password": person.password, "login_url": None}
    (directory / PROFILE_FILE).write_text(_json(person.profile), encoding="utf-8")
    (directory / CREDENTIALS_FILE).write_text(_json(credentials), encoding="utf-8")
    (directory / RESUME_FILE).touch()
    return [PROFILE_FILE, CREDENTIALS_FILE, RESUME_FILE]


def write_resume(person: Person, directory: Path) -> None:
    """Fill in the résumé, in place. Apart, because its library takes long to import."""
    from clawbench.identity.resume import resume_pdf

    (directory / RESUME_FILE).write_bytes(resume_pdf(person.profile))


def _drawn(seed: str, purpose: str) -> bytes:
    return hashlib.sha256(f"{purpose}/{seed}".encode()).digest()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
