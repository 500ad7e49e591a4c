"""The living page, and whether its colours can be read."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import resources

import pytest
from tests.web.conftest import Signed

from calibrant.web.contrast import LINES, NEEDED, PAIRS, Theme, pairs, ratio, read_colours


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_text_can_be_read_on_its_ground(theme: Theme) -> None:
    found = pairs(theme)
    assert len(found) == len(PAIRS) + len(LINES)
    assert [(one.ink, one.ground, round(one.ratio, 2)) for one in found if not one.is_enough] == []
    assert all(one.needed == NEEDED for one in found[: len(PAIRS)])


def test_contrast_is_measured_as_the_standard_has_it() -> None:
    assert ratio("#000000", "#ffffff") == pytest.approx(21)
    assert ratio("#777777", "#ffffff") == pytest.approx(4.478, abs=0.001)
    assert ratio("#123456", "#123456") == 1


def test_a_colour_is_stated_once_for_both_themes() -> None:
    css = """/* --ink: light-dark(#999999, #888888); */
    :root { --ink: light-dark(#111111, #eeeeee); --s1: 1rem; }"""
    assert read_colours(css) == {"light": {"ink": "#111111"}, "dark": {"ink": "#eeeeee"}}
    file = resources.files("calibrant.web") / "static" / "css" / "tokens.css"
    stated = re.findall(r"--([a-z-]+):", file.read_text("utf-8"))
    assert sorted(one for one in set(stated) if stated.count(one) > 1) == ["paper"], "on paper"


def test_the_living_page_shows_every_component(client: Callable[..., Signed]) -> None:
    shown = client("zoe").get("/components")
    assert shown.status_code == 200
    for part in ("Buttons", "Badges", "Notices", "Fields", "Tables", "Cards", "Dialog", "Progress",
                 "words", "quotations", "criterion", "Colours", "Type"):  # fmt: skip
        assert part in shown.text
    assert '<span class="hidden-sign">U+202E</span>' in shown.text
    assert "&lt;script&gt;" in shown.text and "<script>alert" not in shown.text
    assert "style=" not in shown.text
    assert client().get("/components", follow_redirects=False).status_code == 303
