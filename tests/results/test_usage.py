import pytest

from clawbench.results import Price, Usage


def test_buckets_are_disjoint_and_add_up() -> None:
    both = Usage(input=10, cache_read=20, cache_write=5, output=7, reasoning=3) + Usage(input=1, output=1)
    assert both == Usage(input=11, cache_read=20, cache_write=5, output=8, reasoning=3)
    assert both.prompt == 36
    assert both.total == 44


def test_cache_hit_rate_is_read_over_read_plus_input() -> None:
    assert Usage(input=50, cache_read=150).cache_hit_rate == 0.75
    assert Usage().cache_hit_rate is None


def test_cost_by_hand() -> None:
    usage = Usage(input=1000, cache_read=2000, cache_write=400, output=300, reasoning=100)
    full = Price(input=3, output=15, cached_input=0.3, cache_write=3.75)
    assert full.cost(usage) == pytest.approx((3000 + 600 + 1500 + 4500) / 1e6, abs=1e-12)
    plain = Price(input=3, output=15)
    assert plain.cost(usage) == pytest.approx((3000 + 6000 + 1200 + 4500) / 1e6, abs=1e-12)
