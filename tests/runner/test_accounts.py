from clawbench.results import Claim, Metered, Usage
from clawbench.runner.accounts import usage_report


def test_the_difference_is_claimed_minus_measured() -> None:
    measured = Metered(turns=4, usage=Usage(input=100, cache_read=50, output=10), cost_usd=0.5)
    claim = Claim(usage=Usage(input=150, output=10), turns=5, cost_usd=0.6)
    report = usage_report(measured, claim)
    assert report.difference["input"] == 50
    assert report.difference["cache_read"] == -50
    assert report.difference["turns"] == 1
    assert report.difference["cost_usd"] == 0.1


def test_parts_that_only_one_account_has() -> None:
    measured = Metered(usage=Usage(cache_write=9, cache_write_1h=9, output=4))
    report = usage_report(measured, Claim(usage=Usage(cache_write=9, output=4, output_image=4)))
    assert (report.difference["cache_write_1h"], report.difference["output_image"]) == (-9, 4)
    assert "input_audio" not in report.difference


def test_what_is_not_claimed_is_not_compared() -> None:
    assert usage_report(Metered(), None).difference == {}
    assert usage_report(Metered(cost_usd=None), Claim(cost_usd=1.0)).difference == {}
