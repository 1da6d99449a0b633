"""What test runners print, as a status for each test, with the names that SWE-bench's rows use.

A log is what the tested code printed too. Kinds of runners that report over a channel are to be preferred;
these are for runners that we cannot get into, and for logs of others.
"""

from collections.abc import Callable

from clawbench.scoring.parsers.found import FAILED, PASSED, SKIPPED
from clawbench.scoring.parsers.go import parse_go
from clawbench.scoring.parsers.java import parse_ant, parse_gradle, parse_junit_xml, parse_maven
from clawbench.scoring.parsers.javascript import parse_jest, parse_mocha, parse_node, parse_vitest
from clawbench.scoring.parsers.native import (
    parse_automake,
    parse_ctest,
    parse_googletest,
    parse_micropython,
    parse_redis,
)
from clawbench.scoring.parsers.php import parse_phpunit
from clawbench.scoring.parsers.ruby import parse_cucumber, parse_minitest, parse_rspec, parse_test_unit
from clawbench.scoring.parsers.rust import parse_cargo
from clawbench.scoring.parsers.tap import parse_tap

__all__ = ["FAILED", "OF_SWEBENCH", "PARSERS", "PASSED", "SKIPPED", "Parser"]

Parser = Callable[[str], dict[str, str]]

PARSERS: dict[str, Parser] = {
    "go": parse_go,
    "cargo": parse_cargo,
    "jest": parse_jest,
    "vitest": parse_vitest,
    "mocha": parse_mocha,
    "node": parse_node,
    "tap": parse_tap,
    "junit-xml": parse_junit_xml,
    "maven": parse_maven,
    "gradle": parse_gradle,
    "ant": parse_ant,
    "ctest": parse_ctest,
    "googletest": parse_googletest,
    "rspec": parse_rspec,
    "minitest": parse_minitest,
    "test-unit": parse_test_unit,
    "cucumber": parse_cucumber,
    "phpunit": parse_phpunit,
    "automake": parse_automake,
    "redis": parse_redis,
    "micropython": parse_micropython,
}

OF_SWEBENCH = {
    "parse_log_gotest": "go",
    "parse_log_cargo": "cargo",
    "parse_log_jest": "jest",
    "parse_log_vitest": "vitest",
    "parse_log_tap": "tap",
    "parse_log_maven": "maven",
    "parse_log_gradle_custom": "gradle",
    "parse_log_ant": "ant",
    "parse_log_googletest": "googletest",
    "parse_log_rspec_transformed_json": "rspec",
    "parse_log_minitest": "minitest",
    "parse_log_cucumber": "cucumber",
    "parse_log_ruby_unit": "test-unit",
    "parse_log_phpunit": "phpunit",
    "parse_log_jq": "automake",
    "parse_log_redis": "redis",
    "parse_log_micropython_test": "micropython",
}
"""A row's `log_parser`, and ours that gives the same names."""
