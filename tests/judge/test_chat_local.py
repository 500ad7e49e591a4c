"""A real model in this process: what it refuses, what it keeps to itself, how it ends."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest
from tests.judge.local_model import model
from tests.judge.test_chat_contract import ASK, closing

from calibrant.core.errors import ChatError
from calibrant.ports.chat import Trouble
from calibrant.raters.chat.local import MAGIC, LocalModel

pytestmark = pytest.mark.xdist_group("local model")
SHORT = replace(ASK, form="text", max_tokens=2)


def test_a_file_that_is_no_model_is_refused_with_its_name(tmp_path: Path) -> None:
    words = tmp_path / "words.gguf"
    words.write_text("nothing but words")
    for path, why in ((tmp_path / "none.gguf", "No such file"), (words, "not a GGUF")):
        with pytest.raises(ChatError, match=why) as caught:
            LocalModel(path)
        assert path.name in str(caught.value)


def test_a_damaged_model_is_refused_when_it_is_loaded(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "damaged.gguf"
    path.write_bytes(MAGIC + b"\x03\0\0\0" + b"damage" * 100)
    with pytest.raises(ChatError, match=r"cannot load .*damaged\.gguf"):
        asyncio.run(LocalModel(path).start())
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "wrong", [{"context": -1}, {"slots": 0}, {"threads": 0}, {"seed": -1}], ids=str
)
def test_numbers_that_mean_nothing_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ChatError):
        LocalModel(model(), **wrong)


def test_two_models_answer_side_by_side_silently_and_only_to_their_key(
    capfd: pytest.CaptureFixture[str],
) -> None:
    async def run() -> None:
        first = LocalModel(model(), context=256, threads=1)
        second = LocalModel(model(), context=256, threads=1)
        async with closing(first), closing(second):
            replies = await asyncio.gather(first.ask(SHORT), second.ask(SHORT))
            assert replies[0].text == replies[1].text
            address = first._server.listening_address
            assert address.startswith("http://127.0.0.1:")
            assert address != second._server.listening_address
            for path in ("/v1/chat/completions", "/slots", "/props"):
                with pytest.raises(urllib.error.HTTPError) as refused:
                    urllib.request.urlopen(address + path, data=b"{}", timeout=30)
                assert refused.value.code == 401
                refused.value.close()

    asyncio.run(run())
    assert capfd.readouterr() == ("", "")


def test_what_is_too_long_for_the_context_is_refused_and_says_so() -> None:
    async def run() -> Trouble:
        async with closing(LocalModel(model(), context=256, threads=1)) as chat:
            long = replace(SHORT.messages[1], content="word " * 2000)
            with pytest.raises(Trouble, match="context") as caught:
                await chat.ask(replace(SHORT, messages=(long,)))
            return caught.value

    assert asyncio.run(run()).why == "refused"


def test_closing_in_the_middle_of_a_question_ends_it() -> None:
    async def run() -> str:
        chat = LocalModel(model(), context=2048, threads=1)
        await chat.start()
        asking = asyncio.create_task(chat.ask(replace(SHORT, max_tokens=1500)))
        await asyncio.sleep(0.2)
        await chat.close()
        with pytest.raises(Trouble) as caught:
            await asking
        return caught.value.why

    assert asyncio.run(run()) == "connection"


def test_without_the_package_the_message_says_what_to_install() -> None:
    code = (
        "import asyncio, sys; sys.modules['xllamacpp'] = None\n"
        "from calibrant.raters.chat.local import LocalModel\n"
        "asyncio.run(LocalModel(sys.argv[1]).start())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(model())], capture_output=True, text=True, check=False
    )
    assert "pip install 'calibrant[local]'" in done.stderr.splitlines()[-1]
