"""Python patterns in RE2's words; Python can run these as well, so both can be held against each other."""

from __future__ import annotations

import re

import pytest

from clawbench.environments.browser.api.re2 import re2_patterns

SAME = {
    r"^https?://(www\.)?shop\.example/api/orders$": [
        "https://www.shop.example/api/orders",
        "http://shop.example/api/orders",
        "http://shop.example/api/orders/2",
        "http://shopXexample/api/orders",
    ],
    r"/(?:cart|order)s?/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}\b": [
        "/order/0123abcd-1111-2222-3333",
        "/carts/0123abcd-1111-2222-3333?x",
        "/order/0123abcd-1111-2222",
    ],
    r"(?i)CHECKOUT[^/?#]*\Z": ["/checkOut", "/checkout-2", "/checkout/x"],
    r"(?x) /a \d{2,} # comment": ["/a12", "/a1"],
    r"[\w.-]+@[^\s@]+": ["a.b-c@d", "@"],
    r"a.c|(?s:d.f)|": ["abc", "nothing"],
    r"(?i:A)b": ["ab", "aB"],
    r"x{2}y*?z": ["xxz", "xz"],
}

WIDER = {
    r"/order(?!s)": ["/order", "/orderly"],
    r"(?<=v1)/pay": ["/v1/pay"],
    r"/(\w+)/\1$": ["/a/a", "/pay/pay"],
    r"(?P<q>\?)?x(?(q)y|z)": ["?xy", "xz"],
    r"/a{3,4000}b": ["/" + "a" * 2000 + "b"],
    r"(?>/a|/ab)c": ["/ac"],
    r"/x++y": ["/xxxy"],
    r"[ü-ÿ]?/caf(é|e)": ["/cafe"],
    "(?i)/\u212aelvin": ["/kelvin"],
}


@pytest.mark.parametrize(("pattern", "addresses"), SAME.items())
def test_what_re2_knows_means_the_same(pattern: str, addresses: list[str]) -> None:
    exact = as_python(re2_patterns(pattern)[0])
    for address in addresses:
        assert bool(re.search(exact, address)) == bool(re.search(pattern, address)), address


@pytest.mark.parametrize(("pattern", "addresses"), [*SAME.items(), *WIDER.items()])
def test_whatever_the_pattern_matches_every_translation_matches(pattern: str, addresses: list[str]) -> None:
    matched = [address for address in addresses if re.search(pattern, address)]
    assert matched
    for translated in re2_patterns(pattern):
        assert translated.isascii()
        assert not re.search(r"\(\?[=!<P>(]|\\[1-9Z]", translated), translated
        for address in matched:
            assert re.search(as_python(translated), address), (translated, address)


def test_the_coarse_translation_counts_nothing() -> None:
    exact, coarse = re2_patterns(r"^/[^/]{1,300}/(x|y){2,50}$")
    assert "{1,300}" in exact
    assert "{" not in coarse
    assert re.search(coarse, "/abc/xy")


def as_python(pattern: str) -> str:
    """RE2's two words that Python spells differently."""
    return pattern.replace(r"\z", r"\Z").replace(r"\x{10FFFF}", r"\U0010FFFF")
