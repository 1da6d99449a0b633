from pathlib import Path

from clawbench.results import RunDirectory, slug


def create(output: Path, **names: str) -> RunDirectory:
    given = {"batch": "b", "suite": "s", "task": "t", "harness": "h", "model": "m", **names}
    return RunDirectory.create(output, **given)


def test_slug_keeps_only_safe_characters() -> None:
    assert slug("a/b c:é.json") == "a_b_c__.json"
    assert slug("../x") == "_._x"
    assert slug("..") == "_."
    assert slug("") == "_"


def test_attempts_count_up(tmp_path: Path) -> None:
    first, second = create(tmp_path), create(tmp_path)
    assert first.path == tmp_path / "b" / "s" / "t" / "h--m" / "1"
    assert second.path.name == "2"
    assert first.data.is_dir()
    assert first.harness.is_dir()


def test_names_with_one_slug_get_two_directories(tmp_path: Path) -> None:
    one, two = create(tmp_path, model="org/m"), create(tmp_path, model="org:m")
    again = create(tmp_path, model="org:m")
    assert one.path.parent.name == "h--org_m"
    assert two.path.parent.name.startswith("h--org_m-")
    assert again.path.parent == two.path.parent


def test_present_lists_files_but_not_the_record(tmp_path: Path) -> None:
    run = create(tmp_path)
    run.record.write_text("{}")
    run.prompt.write_text("hello")
    assert run.present() == {"prompt.txt": 5}
