"""Change anything that shapes what checks say, and it is another rater."""

from __future__ import annotations

from calibrant.formats.rubric_file import load_rubric
from calibrant.raters.checks.run import Checker


def _card(*checks: dict[str, object]) -> Checker:
    rubric = load_rubric("coaching-conversation")
    stated = rubric.model_copy(update={"checks": checks}) if checks else rubric
    return Checker("conversation", stated)


def test_the_same_checks_have_the_same_card() -> None:
    assert _card().card.hash == _card().card.hash
    assert _card().card.name.startswith("checks-")
    assert _card().card.to_dict()["kind"] == "CODE"


def test_parameters_choice_showing_and_rubric_change_the_card() -> None:
    name = "conversation_endings"
    cards = [
        _card(),
        _card({"name": name, "parameters": {"share": "0.5"}}),
        _card({"name": name, "enabled": "false"}),
        _card({"name": name, "show_while_rating": "true"}),
        Checker("conversation"),
        Checker("response"),
    ]
    assert len({one.card.hash for one in cards}) == len(cards)
    assert len({one.card.name for one in cards}) == len(cards)


def test_the_card_says_what_ran() -> None:
    (entry,) = [
        one for one in _card().card.to_dict()["checks"] if one["name"] == "conversation_endings"
    ]
    assert entry["version"] == "1.0"
    assert entry["parameters"] == {"share": "0.75", "least_turns": "3"}
    assert entry["criteria"] == {"CP5": "CP5"}
    assert entry["lexicons"] == {}
    for one in _card().card.checks:
        assert all(value.startswith("sha256:") for value in one.lexicons.values())
