import json
from pathlib import Path

from clawbench.identity import new_person, write_my_info, write_resume


def test_each_person_has_an_address_of_its_own_in_every_file(tmp_path: Path) -> None:
    one, two = new_person(), new_person()
    assert one.email != two.email
    assert write_my_info(one, tmp_path) == [
        "alex_green_personal_info.json",
        "email_credentials.json",
        "alex_green_resume.pdf",
    ]
    profile = json.loads((tmp_path / "alex_green_personal_info.json").read_text())
    credentials = json.loads((tmp_path / "email_credentials.json").read_text())
    assert profile["email"] == credentials["email"] == one.email
    assert profile["address"]["zip"] == "62704"


def test_the_resume_is_a_pdf_that_holds_the_address(tmp_path: Path) -> None:
    import re
    import zlib

    person = new_person()
    write_my_info(person, tmp_path)
    write_resume(person, tmp_path)
    raw = (tmp_path / "alex_green_resume.pdf").read_bytes()
    assert raw.startswith(b"%PDF-")
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", raw, re.DOTALL)
    text = b"".join(zlib.decompress(s) for s in streams if s[:1] == b"x")
    assert person.email.encode() in text
