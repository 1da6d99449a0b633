from __future__ import annotations

import pytest

from clawbench.environments.browser.vnc.access import Access, is_own_page


def test_the_token_is_worth_something_once() -> None:
    access = Access()
    assert access.exchange("guess") is None
    cookie = access.exchange(access.token)
    assert cookie
    assert access.exchange(access.token) is None
    assert access.admits({access.cookie_name: cookie})


def test_nothing_but_the_cookie_admits() -> None:
    access, other = Access(), Access()
    cookie = other.exchange(other.token)
    assert cookie
    assert not access.admits({})
    assert not access.admits({access.cookie_name: ""})
    assert not access.admits({access.cookie_name: access.token})
    assert not access.admits({access.cookie_name: cookie, other.cookie_name: cookie})
    assert not access.admits({access.cookie_name: "café"})


@pytest.mark.parametrize(
    ("origin", "host", "own"),
    [
        ("http://127.0.0.1:6080", "127.0.0.1:6080", True),
        ("http://localhost:8000", "localhost:8000", True),  # through a tunnel
        ("http://127.0.0.1:3000", "127.0.0.1:6080", False),
        ("http://evil.example", "127.0.0.1:6080", False),
        ("null", "127.0.0.1:6080", False),
        (None, "127.0.0.1:6080", False),
        ("http://127.0.0.1:6080", None, False),
    ],
)
def test_only_a_page_of_the_view_itself_may_open_its_screen(
    origin: str | None, host: str | None, own: bool
) -> None:
    assert is_own_page(origin, host) is own
