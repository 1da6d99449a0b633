from pathlib import Path

import pytest

from clawbench.errors import InputError
from clawbench.models import ThinkingLevel, load_model, load_models, scripted_model

GOOD = """
claude:
  base_url: https://api.provider.example/v1
  api_type: anthropic-messages
  api_key: ${TEST_PROVIDER_KEY}
  thinking_level: high
  price: {input: 3, output: 15}
local:
  base_url: http://127.0.0.1:8000/v1
  api_type: openai-completions
  api_key: none
pool:
  base_url: https://api.provider.example/v1
  api_type: openai-completions
  api_keys: [sk-one, sk-two]
stand-in:
  base_url: scripted:policy.yaml
  api_type: openai-completions
"""

AT = "{base_url: https://x.example, api_type: openai-completions, api_key: k}"


def write(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "models.yaml"
    file.write_text(text)
    return file


def test_a_good_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_PROVIDER_KEY", "sk-planted-key")
    models = load_models(write(tmp_path, GOOD))
    assert [key.get_secret_value() for key in models["claude"].api_keys] == ["sk-planted-key"]
    assert models["local"].api_keys == ()
    assert len(models["pool"].api_keys) == 2
    assert models["stand-in"].scripted
    assert models["stand-in"].policy == tmp_path / "policy.yaml"


def test_thinking_can_be_off_as_yaml_reads_it(tmp_path: Path) -> None:
    text = GOOD.replace("thinking_level: high", "thinking_level: off").replace("${TEST_PROVIDER_KEY}", "none")
    assert load_models(write(tmp_path, text))["claude"].thinking_level is ThinkingLevel.OFF


def test_no_key_in_anything_that_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_PROVIDER_KEY", "sk-planted-key")
    for model in load_models(write(tmp_path, GOOD)).values():
        for shown in (repr(model), str(model), str(model.settings()), model.model_dump_json()):
            assert "sk-" not in shown


@pytest.mark.parametrize(
    ("text", "field", "words"),
    [
        (
            "m: {base_url: https://x.example, api_type: smoke-signals, api_key: k}",
            "m.api_type",
            "openai-completions",
        ),
        ("m: {base_url: https://x.example, api_type: openai-completions}", "m.api_key", "is missing"),
        ("m: {api_type: openai-completions, api_key: k}", "m.base_url", "is missing"),
        ("m: {base_url: https://x.example, api_type: openai-completions, api_key: 5}", "m.api_key", "string"),
        (
            "m: {base_url: https://x.example, api_type: openai-completions, api_key: '${NOT_SET_ANYWHERE}'}",
            "m.api_key",
            "NOT_SET_ANYWHERE",
        ),
        (
            "m: {base_url: https://x.example, api_type: openai-completions, api_key: k, colour: red}",
            "m.colour",
            "not a known field",
        ),
        ("m: 5", "m", "mapping"),
        (
            "m: {base_url: 'https://u:p@x.example', api_type: openai-completions, api_key: k}",
            "m.base_url",
            "write it as api_key",
        ),
        (
            "m: {base_url: 'https://x.example/v1?a=1&api-key=p', api_type: openai-completions, api_key: k}",
            "m.base_url",
            "write it as api_key",
        ),
        (
            "m: {base_url: x, api_type: openai-completions, api_key: k, price: {input: -1, output: 1}}",
            "m.price.input",
            "greater than or equal to 0",
        ),
        (
            "m: {base_url: x, api_type: openai-completions, api_key: k, price: {input: 1, output: .nan}}",
            "m.price.output",
            "finite number",
        ),
        *(
            (
                f"m: {{base_url: '{url}', api_type: openai-completions, api_key: k}}",
                "m.base_url",
                "write it as",
            )
            for url in ("https://sk-live-1@x.example/v1", "https://@x.example", "sk-live-1@x.example/v1")
        ),
        ('m: {base_url: "scripted:x\\0y", api_type: openai-completions}', "m.base_url", "is no usable path"),
        (
            "m: {base_url: scripted:x, api_type: openai-completions, name: z}",
            "m.name",
            "known",
        ),
        ("m: {base_url: x, api_type: openai-completions, api_key: k, 5: z}", "m.5", "should be strings"),
        (
            "m: {base_url: x, api_type: openai-completions, api_key: k, api_keys: [k]}",
            "m.api_key",
            "beside api_keys",
        ),
        (f"m: {AT}\nn: {AT}\nm: {AT}", None, "line 3, column 1: 'm' is there already, in line 1"),
        (f"1: {AT}\n'1': {AT}", "1", "is there twice"),
        (f'"\\ud800": {AT}', "\ud800.name", "is not Unicode"),
        ("[]", None, "names no model"),
        ("m: [", None, "is not YAML"),
    ],
)
def test_bad_files_are_named_by_file_and_field(
    tmp_path: Path, text: str, field: str | None, words: str
) -> None:
    file = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        load_models(file)
    assert caught.value.field == field
    assert words in caught.value.problem
    assert str(file) in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_policy_with_a_name_that_is_not_unicode() -> None:
    with pytest.raises(InputError, match="no record can hold"):
        scripted_model("scripted-x", Path("/\udcff/x.yaml"))


def test_a_bad_entry_never_shows_its_key(tmp_path: Path) -> None:
    text = "m: {base_url: 7, api_type: nope, api_key: sk-planted-key, temperature: hot}"
    with pytest.raises(InputError) as caught:
        load_models(write(tmp_path, text))
    assert "sk-planted" not in str(caught.value)


def test_one_model_can_be_used_where_another_has_no_key(tmp_path: Path) -> None:
    at = "base_url: https://x.example, api_type: openai-completions"
    other = f"other: {{{at}, api_key: '${{NOT_SET_ANYWHERE}}'}}"
    file = write(tmp_path, f"{other}\nmine: {{{at}, api_key: k}}")
    assert load_model(file, "mine").name == "mine"
    with pytest.raises(InputError, match="NOT_SET_ANYWHERE"):
        load_model(file, "other")
    with pytest.raises(InputError, match="no model called 'third'") as caught:
        load_model(file, "third")
    assert caught.value.remedy == "Known: mine, other"
