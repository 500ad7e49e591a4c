"""Cues: classes of words are weighed, and the words that spoke most are quoted."""

from __future__ import annotations

import pytest
from tests.checks.check_kit import checker, conversation, plan, signals

from calibrant.core.errors import RecordError
from calibrant.core.parts import Role
from calibrant.raters.checks.cues import ALWAYS, FOUND, Cues, names, scored, stretches
from calibrant.raters.checks.cues_sift import FIRM
from calibrant.raters.checks.lexicon import lexicon, lexicon_names, read_lexicon
from calibrant.raters.checks.reading import Reading, Scanner, readings

TEXT = """
id: storm
language: en
version: 1.0
what: bad weather
roles: user
entries:
  - {label: wind, phrase: (gale|gust~), for: A gale., against: A breeze.}
around:
  - {label: house, phrase: (roof|door), for: A roof., against: A tree.}
  - {label: film, phrase: film, for: A film., against: A tree.}
weights: {always: -1, wind: 0.4, house: 0.2, film: -2, wind > house: 0.5}
"""
STORM = read_lexicon(TEXT)


def _quotes(message: str) -> list[list[str]]:
    reading = Reading(conversation((message, "Go on.")), Scanner([STORM]))
    return [[hit.text for hit in one.hits] for one in scored(reading, Cues("storm", "user"))]


def test_weights_add_up() -> None:
    assert _quotes("The gale took the roof.") == [["gale"]]
    assert _quotes("The gale took a tree.") == []
    assert _quotes("In the film the gale took the roof.") == []


def test_a_pair_has_an_order_and_a_reach() -> None:
    assert _quotes("The roof was gone after the gale.") == []
    assert _quotes(f"The gale came {'on and on, ' * 9}and took the roof.") == []


def test_a_sentence_without_an_entry_is_not_looked_at() -> None:
    assert _quotes("The roof and the door. A gale took the door.") == [["gale"]]


def test_cues_around_others_are_found_in_the_sentence_where_they_stand() -> None:
    assert _quotes("  **Well.** Dr. Low's  gale\ntook the roof. A gust — it took the door…") == [
        ["gust"]
    ]


def _one_by_one(reading: Reading, cues: Cues) -> list[float]:
    """Scores from nought up, with no stretch left out beforehand."""
    one = reading.shelf.scanner.lexicons[cues.lexicon]
    small = {entry.label for entry in one.around}
    out = []
    for stretch in stretches(reading, cues):
        said = names(stretch.hits, one.weights)
        score = one.weights[ALWAYS] + sum(one.weights[name] for name in said)
        firm = sum(one.weights[name] for name in said if not small.issuperset(name.split(" > ")))
        if score >= 0 and firm >= FIRM:
            out.append(score)
    return out


@pytest.mark.parametrize("name", [one for one in lexicon_names() if lexicon(one).weights])
def test_what_is_sifted_out_would_not_be_raised(name: str) -> None:
    one = lexicon(name)
    said = [text for entry in (*one.entries, *one.around) for text in entry.found_in]
    texts = [" ".join((said[at], *said[at::7], said[-at])) for at in range(len(said))]
    texts += [text.replace(".", "") for text in texts] + [text.lower() * 40 for text in said[:3]]
    role: Role = "user" if "user" in one.roles else "action"
    items = [conversation((text, "Go on.")) if role == "user" else plan(text) for text in texts]
    cues, found = Cues(name, role), 0
    for reading in readings(items, Scanner([one])):
        scores = [raised.score for raised in scored(reading, cues)]
        assert scores == pytest.approx(_one_by_one(reading, cues))
        found += len(scores)
    assert found


def test_weights_belong_to_the_hash_and_must_be_numbers() -> None:
    assert STORM.hash != read_lexicon(TEXT.replace("0.4", "0.3")).hash
    with pytest.raises(RecordError, match=r"weights\.wind"):
        read_lexicon(TEXT.replace("0.4", "much"))


@pytest.mark.parametrize("name", [one for one in lexicon_names() if lexicon(one).weights])
def test_every_weight_is_of_a_class_that_there_is(name: str) -> None:
    every = (lexicon(one) for one in lexicon_names())
    labels = {entry.label for one in every for entry in (*one.entries, *one.around)}
    labels |= {ALWAYS, FOUND, "coin", "money"}
    assert {part for one in lexicon(name).weights for part in one.split(" > ")} <= labels


def test_what_is_denied_is_no_cue() -> None:
    assert checker("conversation")
    item = conversation(("I would never hurt myself.", "Go on."))
    assert not signals(item, "conversation_crisis")["crisis_signals"].measured
