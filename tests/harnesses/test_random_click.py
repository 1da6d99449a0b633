from __future__ import annotations

import random

import pytest

from clawbench.errors import InputError
from clawbench.harnesses import get_harness
from clawbench.harnesses.random_click import RandomClickHarness
from clawbench.harnesses.reference.agent.wandering import choose, start_of

START = "http://teahouse.example/"
PAGE = """url: http://teahouse.example/products/earl-grey-decaf

# Earl Grey Decaf
[9] radio "50 g" checked
[12] select "Style" value="Loose leaf" options: "Loose leaf", "Pyramid bags (+ $1.50)"
[13] textbox "Quantity" type=number value="1" required
[14] button "Add to basket"
"""


def test_it_acts_on_what_the_page_has() -> None:
    chance = random.Random(1)
    acts = [choose(chance, PAGE, START) for _ in range(500)]
    assert {action for action, _ in acts} == {"open", "scroll", "click", "type", "select"}
    assert {given["element"] for action, given in acts if action == "click"} == {9, 14}
    assert {given["element"] for action, given in acts if action == "type"} == {13}
    chosen = {given["value"] for action, given in acts if action == "select"}
    assert chosen == {"Loose leaf", "Pyramid bags (+ $1.50)"}


def test_a_page_without_elements_is_scrolled_or_left() -> None:
    chance = random.Random(1)
    assert {choose(chance, "url: about:blank\n", START)[0] for _ in range(50)} == {"open", "scroll"}


def test_the_same_seed_makes_the_same_choices() -> None:
    first, second = (random.Random(7) for _ in range(2))
    assert [choose(first, PAGE, START) for _ in range(50)] == [choose(second, PAGE, START) for _ in range(50)]


@pytest.mark.parametrize(
    ("prompt", "address"),
    [
        ("Order at Lantern & Leaf, http://teahouse.example/: two tins", "http://teahouse.example/"),
        ("Go to “https://shop.example/a?b=c”.", "https://shop.example/a?b=c"),
        ("Buy tea.", None),
    ],
)
def test_it_begins_where_the_task_says(prompt: str, address: str | None) -> None:
    assert start_of(prompt) == address


def test_the_seed_is_given_like_a_version() -> None:
    harness = get_harness("random-click@7")
    assert isinstance(harness, RandomClickHarness)
    assert harness.seed == 7
    assert harness.version == get_harness("random-click").version
    with pytest.raises(InputError, match="'x' is no seed"):
        get_harness("random-click@x")
