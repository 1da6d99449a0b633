from __future__ import annotations

import pytest

from clawbench.gateway.redaction import Redactor

SECRET = "sk-0123456789abcdef"


@pytest.mark.parametrize("cut", range(1, len(SECRET) + 8))
def test_secret_is_masked_wherever_a_stream_is_cut(cut: int) -> None:
    redactor = Redactor([SECRET])
    data = f"key={SECRET}; s".encode()
    passed = redactor.feed(data[:cut]) + redactor.feed(data[cut:]) + redactor.rest()
    assert passed == f"key={'*' * len(SECRET)}; s".encode()


def test_bytewise_stream_and_length() -> None:
    redactor = Redactor([SECRET])
    data = (f"sk-sk-{SECRET}" * 3 + "sk-").encode()
    passed = b"".join(redactor.feed(bytes([byte])) for byte in data) + redactor.rest()
    assert SECRET.encode() not in passed
    assert len(passed) == len(data)
    assert passed.endswith(b"sk-")


def test_event_ends_are_not_held_back() -> None:
    assert Redactor([SECRET]).feed(b"data: {}\n\n") == b"data: {}\n\n"


def test_values_and_placeholder_keys() -> None:
    redactor = Redactor([SECRET, "x", "EMPTY"])
    assert redactor.value({"a": [f"<{SECRET}>", 1, None]}) == {"a": [f"<{'*' * len(SECRET)}>", 1, None]}
    assert redactor.text("x EMPTY") == "x EMPTY"
    assert SECRET not in repr(redactor)
