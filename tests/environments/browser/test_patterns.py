"""Wildcard patterns from regular expressions: whatever an expression finds, a pattern fits."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest

from clawbench.environments.browser.gate.matching import concerns
from clawbench.environments.browser.gate.patterns import ANYTHING, held_requests, url_patterns
from clawbench.environments.browser.gate.spellings import UNRESERVED, odd_spellings
from clawbench.tasks import EvalSchema

Sample = Callable[[], str]
"""Makes a string that an expression matches."""


def fits(pattern: str, url: str) -> bool:
    """As Chromium does it, as far as our patterns go: `*` stands for any characters."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), url, re.DOTALL) is not None


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (r"shop\.example/api/orders(\?|$)", ("*shop.example/api/orders*",)),
        (r"^https?://(www\.)?x\.com/[^/]+/buy$", ("*http*://*x.com/*/buy*",)),
        (r"/(cart|basket)/checkout", ("*/cart/checkout*", "*/basket/checkout*")),
        (r"/v[12]/pay", ("*/v1/pay*", "*/v2/pay*")),
        (r"(?i)/Order/\d+", ("*/*/*",)),
        (r"(?i:pay)/now", ("*/now*",)),
        (r"(?i:p(?-i:q)r)/d", ("*q*/d*",)),
        (r"(?x) / pay  # the last step", ("*/pay*",)),
        (r"x{2}y", ("*x*y*",)),
        (r"(?=.*token)/send(?!/draft)", ("*/send*",)),
        (r"(?P<site>x)\.com/(?P=site)", ("*x.com/*",)),
        (r"what\?a=\*", ("*what*a=*",)),
        (r"/caf\u00e9", ("*/caf*",)),
        (r"/caf%C3%A9/%20", ("*/caf%*3%*9/%20*",)),
        (r"/caf%C[0-9]%A9/order", ("*/caf%*%*9/order*",)),
        (r"C3%9Fe/order", ("*3%9*e/order*",)),
        (r"/\w+/decade", ("*/*/decade*",)),
        (r"/.decade", ("*/*cade*",)),
        (r"(?i:%c)Ae", ("*%*e*",)),
        (r"\?decade", ("*decade*",)),
        (r"(?:)", (ANYTHING,)),
        (r".*", (ANYTHING,)),
        (r"[a-z]+", (ANYTHING,)),
        (r"a|", (ANYTHING,)),
    ],
)
def test_what_an_expression_needs_is_in_its_patterns(expression: str, expected: tuple[str, ...]) -> None:
    assert url_patterns(expression) == expected


def test_many_alternatives_become_one_wildcard() -> None:
    assert url_patterns("".join(f"({n}a|{n}b)" for n in range(8)) + "/end")[0].count("*") > 1
    assert len(url_patterns("|".join(f"site{n}" for n in range(500)))) == 1


def test_what_is_no_expression_holds_everything() -> None:
    assert url_patterns("(") == (ANYTHING,)


class Maker:
    """Random expressions, each with a sample of what it matches."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)

    def make(self, depth: int) -> tuple[str, Sample]:
        kinds = [self.literal, self.literal, self.some_of, self.any_one, self.escape]
        if depth > 0:
            kinds += [self.in_turn, self.in_turn, self.either, self.repeated, self.ignoring_case, self.ahead]
        return self.dice.choice(kinds)(depth - 1)

    def literal(self, _depth: int) -> tuple[str, Sample]:
        text = "".join(self.dice.choices("aB/.?*=-_~%7&\\k", k=self.dice.randint(1, 3)))
        text += self.dice.choice(("", "", "%C3", "%e9", "%aB"))
        return re.escape(text), lambda: text

    def escape(self, _depth: int) -> tuple[str, Sample]:
        """An escape of which each character may be said in another way, or not at all."""
        text = "%" + self.dice.choice(("C3", "a9", "9F", "eb", "AD"))
        ways = [re.escape, re.escape, lambda _: ".", lambda _: r"[%\w]", lambda one: f"[{one}]"]
        start = self.dice.randint(0, 2)
        expression = "".join(self.dice.choice(ways)(one) for one in text[start:])
        return expression, lambda: text[start:] if self.dice.random() < 0.2 else text

    def some_of(self, _depth: int) -> tuple[str, Sample]:
        letters = self.dice.sample("abXY/_5", self.dice.randint(1, 5))
        return f"[{''.join(letters)}]", lambda: self.dice.choice(letters)

    def any_one(self, _depth: int) -> tuple[str, Sample]:
        choices = [(".", "a/?"), (r"\d", "059"), (r"\w", "aZ_"), ("[^/]", "ab.")]
        expression, letters = self.dice.choice(choices)
        return expression, lambda: self.dice.choice(letters)

    def in_turn(self, depth: int) -> tuple[str, Sample]:
        parts = [self.make(depth) for _ in range(self.dice.randint(1, 3))]
        return "".join(e for e, _ in parts), lambda: "".join(sample() for _, sample in parts)

    def either(self, depth: int) -> tuple[str, Sample]:
        parts = [self.make(depth) for _ in range(self.dice.randint(2, 3))]

        def sample() -> str:
            return self.dice.choice(parts)[1]()

        return f"(?:{'|'.join(e for e, _ in parts)})", sample

    def repeated(self, depth: int) -> tuple[str, Sample]:
        expression, sample = self.make(depth)
        sign, least, most = self.dice.choice(
            [("?", 0, 1), ("*", 0, 3), ("+", 1, 3), ("{2}", 2, 2), ("+?", 1, 3)]
        )
        return f"(?:{expression}){sign}", lambda: "".join(
            sample() for _ in range(self.dice.randint(least, most))
        )

    def ignoring_case(self, depth: int) -> tuple[str, Sample]:
        expression, sample = self.make(depth)
        return f"(?i:{expression})", lambda: sample().swapcase()

    def ahead(self, depth: int) -> tuple[str, Sample]:
        expression, sample = self.make(depth)
        return f"(?={expression}){expression}", sample


def test_whatever_an_expression_finds_a_pattern_fits() -> None:
    found = narrow = 0
    for seed in range(4000):
        maker = Maker(seed)
        expression, sample = maker.make(3)
        patterns = url_patterns(expression)
        narrow += patterns != (ANYTHING,)
        for _ in range(5):
            url = maker.dice.choice(["https://x.example/", ""]) + sample() + maker.dice.choice(["", "&z=1"])
            if re.search(expression, url):
                found += 1
                assert any(fits(pattern, url) for pattern in patterns), (expression, patterns, url)
    assert found > 15_000, "the samples are to match"
    assert narrow > 1_500, "the patterns are to say something"


def in_other_cases(dice: random.Random, url: str) -> str:
    """With the letters of its escapes in either case."""
    return re.sub(
        "%[0-9A-Fa-f]{2}",
        lambda escape: "".join(dice.choice((one.upper(), one.lower())) for one in escape[0]),
        url,
    )


def misspelled(dice: random.Random, url: str) -> str:
    """The same address in another spelling."""
    scheme, rest = url.split("://")
    host, _, path = rest.partition("/")
    path = "".join(
        dice.choice((f"%{ord(one):02X}", f"%{ord(one):02x}"))
        if one in UNRESERVED and dice.random() < 0.2
        else one
        for one in path
    )
    path = in_other_cases(dice, path)
    return scheme + "://" + dice.choice(("", "me@", "me:x@")) + host + dice.choice(("", ".")) + "/" + path


def test_whatever_matches_in_another_spelling_is_held() -> None:
    dice, other = random.Random(1), 0
    for seed in range(1500):
        expression, sample = Maker(seed).make(3)
        schema = EvalSchema.model_validate({"url_pattern": expression, "method": "POST"})
        patterns = [one for one in held_requests(schema) if one.get("resourceType", "XHR") == "XHR"]
        for _ in range(3):
            url = misspelled(dice, "https://shop.example/" + sample())
            if concerns(schema, url, "POST"):
                other += re.search(expression, url) is None
                assert any(fits(one["urlPattern"], url) for one in patterns), (expression, url)
    assert other > 500, "the spellings are to make a difference"


def test_whatever_matches_with_its_escapes_in_another_case_is_held() -> None:
    dice, other = random.Random(2), 0
    odd_parts = [pattern.strip("*") for pattern in odd_spellings()]
    for seed in range(6000):
        expression, sample = Maker(seed).make(2)
        schema = EvalSchema.model_validate({"url_pattern": expression, "method": "POST"})
        patterns = url_patterns(expression)
        for _ in range(3):
            url = in_other_cases(dice, "https://shop.example/" + sample())
            if not any(odd in url for odd in odd_parts) and concerns(schema, url, "POST"):
                other += re.search(expression, url) is None
                assert any(fits(pattern, url) for pattern in patterns), (expression, patterns, url)
    assert other > 300, "the cases are to make a difference"


def test_of_a_schema_all_that_could_match_is_held_and_what_network_events_may_miss() -> None:
    schema = EvalSchema.model_validate({"url_pattern": "/order", "method": "POST"})
    held = held_requests(schema)
    assert held[:5] == [
        {"urlPattern": "*/order*"},
        {"urlPattern": "*", "resourceType": "Document"},
        {"urlPattern": "*", "resourceType": "Ping"},
        {"urlPattern": "*", "resourceType": "CSPViolationReport"},
        {"urlPattern": "*", "resourceType": "Other"},
    ]
    assert {one["resourceType"] for one in held[5:]} == {"XHR"}
    assert not any(fits(one["urlPattern"], "https://x.example/a.b/c?d=%20%2F%3A") for one in held[5:])
    final_get = EvalSchema.model_validate({"url_pattern": "/order", "method": "GET"})
    assert held_requests(final_get) == [{"urlPattern": "*"}]
