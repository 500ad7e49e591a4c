"""A key goes to the server it belongs to, and is told to nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from calibrant.core.errors import SourceError
from calibrant.settings import Settings

SECRET = "sk-not-for-your-eyes"


def settings(folder: Path, **values: str) -> Settings:
    return Settings(values, folder)


def test_without_a_server_nothing_is_sent(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no server is named"):
        settings(tmp_path, OPENAI_API_KEY=SECRET).server(None)


def test_the_key_of_the_usual_server_goes_to_no_other(tmp_path: Path) -> None:
    set_up = settings(
        tmp_path, CALIBRANT_BASE_URL="https://one.example/v1", CALIBRANT_API_KEY=SECRET
    )
    assert set_up.server(None).key == SECRET
    assert set_up.server("https://one.example/v1/").key == SECRET
    assert set_up.server("https://two.example/v1").key is None
    assert set_up.server("http://one.example/v1").key is None
    assert set_up.server("https://one.example.two.example/v1").key is None


def test_a_second_server_does_not_get_the_general_key(tmp_path: Path) -> None:
    set_up = settings(tmp_path, CALIBRANT_API_KEY=SECRET)
    assert set_up.server("https://one.example/v1").key == SECRET
    assert set_up.server("https://two.example/v1", usual=False).key is None


def test_the_openai_key_goes_to_openai_alone(tmp_path: Path) -> None:
    set_up = settings(tmp_path, OPENAI_API_KEY=SECRET)
    assert set_up.server("https://api.openai.com/v1").key == SECRET
    assert set_up.server("https://api.openai.com.evil.example/v1").key is None
    assert set_up.server("http://127.0.0.1:8080/v1").key is None


def test_a_host_has_a_key_of_its_own(tmp_path: Path) -> None:
    set_up = settings(tmp_path, CALIBRANT_API_KEY="other", CALIBRANT_API_KEY_TWO_EXAMPLE=SECRET)
    assert set_up.server("https://two.example/v1").key == SECRET


def test_env_files_are_read_and_the_environment_goes_before(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "# keys\nexport CALIBRANT_API_KEY='from file'\n"
        "CALIBRANT_BASE_URL=http://127.0.0.1:1/v1 # it\n"
        'BROKEN LINE\nCALIBRANT_API_KEY_A_EXAMPLE="$HOME `id`"\n',
        "utf-8",
    )
    read = settings(tmp_path)
    assert read.server(None).url == "http://127.0.0.1:1/v1"
    assert read.server(None).key == "from file"
    assert read.server("https://a.example").key == "$HOME `id`"
    mine = settings(tmp_path, CALIBRANT_API_KEY="mine")
    assert mine.server("http://127.0.0.1:1/v1").key == "mine"


def test_a_file_that_names_a_server_gets_no_key_of_the_environment(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("CALIBRANT_BASE_URL=https://evil.example/v1\n", "utf-8")
    given = settings(tmp_path, CALIBRANT_API_KEY=SECRET, CALIBRANT_API_KEY_EVIL_EXAMPLE=SECRET)
    assert given.server(None).url == "https://evil.example/v1"
    assert given.server(None).key is None
    same = settings(
        tmp_path, CALIBRANT_BASE_URL="https://evil.example/v1", CALIBRANT_API_KEY=SECRET
    )
    assert same.server(None).key == SECRET


def test_a_key_is_never_shown(tmp_path: Path) -> None:
    server = settings(tmp_path, CALIBRANT_API_KEY=SECRET).server("http://far.example/v1")
    assert SECRET not in repr(server)
    assert server.tells_the_key
    assert not settings(tmp_path).server("http://far.example/v1").tells_the_key
    assert not settings(tmp_path, CALIBRANT_API_KEY=SECRET).server("http://[::1]:1").tells_the_key
