"""What every store promises, tried on memory, on a file and on a server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
from tests.store.store_kit import (
    HASH,
    a_draft,
    a_key,
    a_member,
    a_rating,
    a_round,
    a_rubric,
    a_study,
    an_entry,
    an_item,
    assignments,
    at,
    begin,
    put_draft,
)

from calibrant.core.errors import Doubled, StoreError, VersionError
from calibrant.core.study import Assignment, Key, Progress, Rating
from calibrant.ports.store import AnswerRow, Reading, Store, Writing

OTHER = "sha256:" + "1" * 64


@pytest.fixture
def study(store: Store) -> int:
    return store.write(begin)


def test_studies_come_back_by_name(store: Store) -> None:
    names = ["z", "B", "a", "é", "\U0001f600"]

    def add(name: str) -> int:
        return store.write(lambda w: w.add_study(a_study(name, seed=-(2**63))))

    numbers = {name: add(name) for name in names}
    found = store.read(lambda r: r.studies())
    assert [(number, record.name) for number, record in found] == [
        (numbers[name], name) for name in sorted(names)
    ]
    assert store.read(lambda r: r.study("a")) == (numbers["a"], a_study("a", seed=-(2**63)))
    assert store.read(lambda r: r.study("none")) is None
    with pytest.raises(Doubled, match="study a is there already"):
        store.write(lambda w: w.add_study(a_study("a")))


def test_versions_of_a_rubric_never_change_their_content(store: Store) -> None:
    store.write(lambda w: w.add_rubric(a_rubric("2.0")))
    store.write(lambda w: w.add_rubric(a_rubric("2.0", added_at=at(9))))
    store.write(lambda w: w.add_rubric(a_rubric("1.0", hash=OTHER)))
    with pytest.raises(VersionError, match=r"small 2\.0"):
        store.write(lambda w: w.add_rubric(a_rubric("2.0", hash="sha256:2")))
    assert store.read(lambda r: r.rubrics("small")) == [
        a_rubric("2.0"),
        a_rubric("1.0", hash=OTHER),
    ]
    assert store.read(lambda r: r.rubric(OTHER)) == a_rubric("1.0", hash=OTHER)
    assert store.read(lambda r: r.rubric("none")) is None


def test_items_come_back_by_position(store: Store) -> None:
    study = store.write(lambda w: w.add_study(a_study()))
    items = [an_item(n, id=name) for n, name in enumerate(["z", "a", "ü", "\U0001f9ed"], 1)]
    assert store.write(lambda w: w.add_items(study, reversed(items))) == 4
    assert store.read(lambda r: list(r.items(study))) == items
    assert store.read(lambda r: list(r.items(study, ["ü", "z", "none", "nul\0"]))) == [
        items[0],
        items[2],
    ]
    assert store.read(lambda r: list(r.items(study, []))) == []
    assert store.read(lambda r: r.item(study, "a")) == items[1]
    assert store.read(lambda r: r.item(study, "none")) is None
    assert store.read(lambda r: r.item(study + 1, "a")) is None
    assert store.read(lambda r: r.count_items(study)) == 4
    assert store.read(lambda r: r.item_keys(study)) == [(one.id, one.hash) for one in items]
    assert store.read(lambda r: r.measures(study)) == {one.id: one.measures for one in items}


def test_items_come_a_part_at_a_time(store: Store) -> None:
    study = store.write(lambda w: w.add_study(a_study()))
    names = ["c-9", "Straße", "C-10", "b", "🧭 c-1"]
    items = [an_item(n, id=name) for n, name in enumerate(names, 1)]
    store.write(lambda w: w.add_items(study, items))
    assert store.read(lambda r: r.find_items(study, start=1, limit=2)) == (items[1:3], 5)
    assert store.read(lambda r: r.find_items(study, start=5, limit=2)) == ([], 5)
    assert store.read(lambda r: r.find_items(study, "C-1", start=0, limit=1)) == ([items[2]], 2)
    assert store.read(lambda r: r.find_items(study, "c-1", start=1, limit=5)) == ([items[4]], 2)
    assert store.read(lambda r: r.find_items(study, "STRASSE", start=0, limit=5))[1] == 1
    assert store.read(lambda r: r.find_items(study, "%\0", start=0, limit=5)) == ([], 0)


def test_any_number_of_items_can_be_asked_for(store: Store) -> None:
    study = store.write(lambda w: w.add_study(a_study()))
    store.write(lambda w: w.add_items(study, (an_item(n) for n in range(1, 3001))))
    wanted = [f"i{n}" for n in range(2, 200_000)]
    found = store.read(lambda r: [one.position for one in r.items(study, wanted)])
    assert found == list(range(2, 3001))


def test_an_item_that_is_there_is_named(store: Store, study: int) -> None:
    with pytest.raises(Doubled, match=r"item i2 \(position 9\) is there already"):
        store.write(lambda w: w.add_items(study, [an_item(8), an_item(9, id="i2"), an_item(10)]))
    assert store.read(lambda r: r.count_items(study)) == 4
    with pytest.raises(Doubled, match=r"\(position 2\)"):
        store.write(lambda w: w.add_items(study, [an_item(2, id="new")]))


def test_members_come_back_in_the_order_of_joining(store: Store, study: int) -> None:
    judge = a_member("a judge", kind="LLM", roles=(), group="models", card='{"model":"m"}')
    store.write(lambda w: w.add_member(study, judge))
    store.write(lambda w: w.set_member_left(study, "ann", at(5)))
    store.write(lambda w: w.set_member_roles(study, "bea", ["lead", "adjudicator"]))
    assert store.read(lambda r: r.members(study)) == [
        a_member("ann", left_at=at(5)),
        a_member("bea", roles=("lead", "adjudicator")),
        judge,
    ]
    store.write(lambda w: w.set_member_left(study, "ann", None))
    assert store.read(lambda r: r.members(study))[0] == a_member("ann")
    with pytest.raises(Doubled, match="member ann"):
        store.write(lambda w: w.add_member(study, a_member("ann")))
    with pytest.raises(StoreError, match="no member eve"):
        store.write(lambda w: w.set_member_left(study, "eve", at(5)))
    with pytest.raises(StoreError, match="no member eve"):
        store.write(lambda w: w.set_member_roles(study, "eve", ["lead"]))
    with pytest.raises(StoreError, match="member dee"):
        store.write(lambda w: w.add_member(study, a_member("dee", kind="ALIEN")))


def test_rounds_are_numbered_in_a_row(store: Store, study: int) -> None:
    store.write(lambda w: w.add_round(study, a_round(2, state="planned", phase="weeks 1-2")))
    with pytest.raises(Doubled, match="round 2"):
        store.write(lambda w: w.add_round(study, a_round(2)))
    with pytest.raises(StoreError, match="next round is number 3"):
        store.write(lambda w: w.add_round(study, a_round(4)))
    with pytest.raises(StoreError, match="does not have"):
        store.write(lambda w: w.add_round(study, a_round(3, rubric=OTHER)))
    with pytest.raises(StoreError, match="no study number"):
        store.write(lambda w: w.add_round(study + 1, a_round(1)))
    planned = a_round(2, state="planned", phase="weeks 1-2")
    assert store.read(lambda r: r.rounds(study)) == [a_round(1), planned]
    store.write(lambda w: w.set_round_state(study, 2, "open", at(5)))
    assert store.read(lambda r: r.rounds(study))[1] == replace(
        planned, state="open", opened_at=at(5)
    )
    store.write(lambda w: w.set_round_state(study, 2, "closed", at(6)))
    assert store.read(lambda r: r.rounds(study))[1] == replace(
        planned, state="closed", opened_at=at(5), closed_at=at(6)
    )
    store.write(lambda w: w.set_round_state(study, 2, "open", at(7)))
    assert store.read(lambda r: r.rounds(study))[1] == replace(
        planned, state="open", opened_at=at(7)
    )
    with pytest.raises(StoreError, match="no round 9"):
        store.write(lambda w: w.set_round_state(study, 9, "open", at(5)))
    with pytest.raises(StoreError, match="round 2 is not allowed"):
        store.write(lambda w: w.set_round_state(study, 2, "ajar", at(5)))


def test_assignments_come_back_by_round_rater_and_position(store: Store, study: int) -> None:
    store.write(lambda w: w.add_round(study, a_round(2)))
    again = Assignment(key=a_key("i3", "ann", round=2, occasion=2), position=1, version=3)
    assert store.write(lambda w: w.add_assignments(study, [again])) == 1
    everything = [*assignments(["i1", "i2", "i3", "i4"]), again]
    assert store.read(lambda r: list(r.assignments(study))) == everything
    assert store.read(lambda r: list(r.assignments(study, round=2))) == [again]
    assert store.read(lambda r: list(r.assignments(study, item="i3", rater="ann"))) == [
        everything[2],
        again,
    ]
    assert store.read(lambda r: list(r.assignments(study, state="done"))) == []
    assert store.read(lambda r: r.assignment(study, again.key)) == again
    assert store.read(lambda r: r.assignment(study, a_key("none"))) is None
    assert store.read(lambda r: r.progress(study)) == [
        Progress(1, "ann", "open", 4),
        Progress(1, "bea", "open", 4),
        Progress(2, "ann", "open", 1),
    ]


def test_what_is_given_to_whom_is_told_without_reading_it_all(store: Store, study: int) -> None:
    store.write(lambda w: w.add_round(study, a_round(2)))
    store.write(lambda w: w.add_items(study, [an_item(5), an_item(6)]))
    more = [Assignment(key=a_key(name, round=2), position=9) for name in ("i1", "i5", "i6")]
    store.write(lambda w: w.add_assignments(study, more))
    done = [a_key(name) for name in ("i1", "i2")]
    store.write(lambda w: w.set_assignment_state(study, done, "done"))
    store.write(lambda w: w.set_assignment_state(study, [more[2].key], "withdrawn"))
    assert store.read(lambda r: r.undone_items(study, "ann")) == {"i1", "i3", "i4", "i5", "i6"}
    assert store.read(lambda r: r.undone_items(study, "none")) == set()
    assert store.read(lambda r: r.is_assigned(study, "bea"))
    assert not store.read(lambda r: r.is_assigned(study, "none"))

    def unplaced(r: Reading, rounds: tuple[int, ...]) -> int:
        return r.count_unplaced(study, rounds)

    assert [
        store.read(partial(unplaced, rounds=rounds)) for rounds in ((1,), (2,), (1, 2), ())
    ] == [2, 4, 1, 6]


def test_an_assignment_that_is_there_is_named(store: Store, study: int) -> None:
    store.write(lambda w: w.add_items(study, [an_item(5)]))
    with pytest.raises(Doubled, match="round 1, item i2, rater bea, occasion 1"):
        store.write(lambda w: w.add_assignments(study, assignments(["i5", "i2"], ["bea"])))
    with pytest.raises(StoreError, match="does not have"):
        store.write(lambda w: w.add_assignments(study, assignments(["none"])))
    with pytest.raises(StoreError, match="rater eve"):
        store.write(lambda w: w.add_assignments(study, assignments(["i5"], ["eve"])))
    assert store.read(lambda r: sum(1 for _ in r.assignments(study))) == 8


def test_marking_assignments_ends_leases_and_raises_versions(store: Store, study: int) -> None:
    store.write(lambda w: w.lease(study, rater="ann", token="t", now=at(0), until=at(9)))
    keys = [a_key("i1"), a_key("i2"), a_key("none"), a_key("i1")]
    assert store.write(lambda w: w.set_assignment_state(study, keys, "done")) == 2
    assert store.write(lambda w: w.set_assignment_state(study, [], "done")) == 0
    assert store.read(lambda r: r.assignment(study, a_key("i1"))) == Assignment(
        key=a_key("i1"), position=1, state="done", version=1
    )
    assert Progress(1, "ann", "done", 2) in store.read(lambda r: r.progress(study))
    with pytest.raises(StoreError, match="not allowed"):
        store.write(lambda w: w.set_assignment_state(study, keys, "lost"))  # type: ignore[arg-type]


def test_drafts_take_the_place_of_drafts(store: Store, study: int) -> None:
    store.write(lambda w: put_draft(w, study, a_draft()))
    later = a_draft(body={"note": "x \ud800 \0 é"}, version=2)
    store.write(lambda w: put_draft(w, study, later))
    assert store.read(lambda r: r.draft(study, a_key())) == later
    one = store.read(lambda r: r.assignment(study, a_key()))
    assert one is not None
    assert one.version == 2
    store.write(lambda w: w.drop_draft(study, a_key()))
    store.write(lambda w: w.drop_draft(study, a_key()))
    assert store.read(lambda r: r.draft(study, a_key())) is None
    assert not store.write(
        lambda w: w.keep_draft(study, a_draft("none"), token="tab", now=at(3), until=at(33))
    )


def test_the_last_revision_counts_and_all_of_them_stay(store: Store, study: int) -> None:
    first = [a_rating("i1"), a_rating("i1", "bea"), a_rating("i2", words=None, started_at=None)]
    assert store.write(lambda w: w.add_ratings(study, first)) == 3
    second = a_rating("i1", revision=2, answers={"tidy": "NO", "depth": "NA"})
    fifth = a_rating("i1", revision=5, answers={"depth": "1", "tidy": "NO"})
    store.write(lambda w: w.add_ratings(study, [second, fifth]))
    assert store.read(lambda r: r.rating(study, a_key("i1"))) == fifth
    assert store.read(lambda r: r.rating(study, a_key("i4"))) is None
    assert store.read(lambda r: r.rating_by_request(study, second.request)) == second
    assert store.read(lambda r: r.rating_by_request(study, "none")) is None
    assert store.read(lambda r: list(r.ratings(study))) == [fifth, first[1], first[2]]
    assert store.read(lambda r: list(r.ratings(study, all_revisions=True))) == [
        first[0],
        second,
        fifth,
        first[1],
        first[2],
    ]
    assert store.read(lambda r: list(r.ratings(study, item="i1", rater="bea"))) == [first[1]]
    assert store.read(lambda r: list(r.ratings(study, round=2))) == []
    found = store.read(lambda r: r.rating(study, a_key("i1")))
    assert found is not None
    assert list(found.answers) == ["depth", "tidy"]


def test_the_latest_ratings_come_a_part_at_a_time(store: Store, study: int) -> None:
    ratings = [a_rating(f"i{n}", submitted_at=at(n % 3)) for n in (1, 2, 3, 4)]
    store.write(lambda w: w.add_ratings(study, [*ratings, a_rating("i1", "bea")]))
    newer = a_rating("i3", revision=2, submitted_at=at(5))
    store.write(lambda w: w.add_ratings(study, [newer]))

    def part(start: int, limit: int) -> tuple[list[Rating], int]:
        return store.read(lambda r: r.latest_ratings(study, "ann", start=start, limit=limit))

    assert part(0, 9) == ([newer, ratings[1], ratings[0], ratings[3]], 4)
    assert part(1, 2) == ([ratings[1], ratings[0]], 4)
    assert part(4, 2) == ([], 4)
    again = Assignment(key=a_key("i2", occasion=2), position=9)
    store.write(lambda w: w.add_assignments(study, [again]))
    assert part(0, 2) == ([newer, ratings[0]], 3)


def test_rows_for_tables_hold_what_counts(store: Store, study: int) -> None:
    store.write(lambda w: w.add_round(study, a_round(2)))
    ratings = [
        a_rating("i1"),
        a_rating("i1", revision=2, answers={"tidy": "NO"}, facts={}),
        a_rating("i2", "bea"),
        a_rating(key=a_key("i2", "bea", round=2)),
    ]
    store.write(lambda w: w.add_ratings(study, ratings))
    rows = store.read(lambda r: sorted(row for part in r.answer_rows(study) for row in part))
    assert rows == [
        AnswerRow(1, "i1", "ann", 1, 2, HASH, '{"tidy":"NO"}', "{}", at(2)),
        AnswerRow(1, "i2", "bea", 1, 1, HASH, '{"tidy":"YES","depth":"2"}', '{"sitting":1}', at(2)),
        AnswerRow(2, "i2", "bea", 1, 1, HASH, '{"tidy":"YES","depth":"2"}', '{"sitting":1}', at(2)),
    ]

    def of(*rounds: int) -> list[AnswerRow]:
        return store.read(lambda r: [x for part in r.answer_rows(study, rounds) for x in part])

    for rounds in ((), (1,), (2,), (1, 2, 3)):
        assert sorted(of(*rounds)) == [row for row in rows if row.round in rounds]


def test_rows_of_a_table_become_ratings_once(store: Store, study: int) -> None:
    rows = [
        AnswerRow(1, f"i{n}", "ann", 1, 1, HASH, '{"tidy":"YES"}', '{"x":1}', at(2))
        for n in (1, 2, 3)
    ]
    assert store.write(lambda w: w.add_answer_rows(study, iter(rows))) == 3
    assert store.read(lambda r: sorted(x for p in r.answer_rows(study) for x in p)) == rows
    found = store.read(lambda r: r.rating(study, a_key("i2")))
    assert found is not None
    assert found.item_hash == an_item(2).hash
    assert found.words is None
    with pytest.raises(Doubled, match="item i2"):
        store.write(lambda w: w.add_answer_rows(study, [rows[1]]))
    with pytest.raises(StoreError, match="does not have"):
        store.write(lambda w: w.add_answer_rows(study, [rows[1]._replace(item="none")]))


def test_a_rating_that_is_there_is_named(store: Store, study: int) -> None:
    store.write(lambda w: w.add_ratings(study, [a_rating("i1")]))
    with pytest.raises(Doubled, match="item i1, rater ann, occasion 1, revision 1, request other"):
        store.write(lambda w: w.add_ratings(study, [a_rating("i2"), a_rating(request="other")]))
    with pytest.raises(Doubled, match=r"item i3.*request 1/i1/ann/1/1"):
        store.write(lambda w: w.add_ratings(study, [a_rating("i3", request="1/i1/ann/1/1")]))
    with pytest.raises(Doubled, match="item i4"):
        store.write(lambda w: w.add_ratings(study, [a_rating("i4"), a_rating("i4", request="x")]))

    def add(rating: Rating, writing: Writing) -> int:
        return writing.add_ratings(study, [rating])

    for wrong in (
        a_rating("none"),
        a_rating("i2", "eve"),
        a_rating("i2", rubric=OTHER),
        a_rating(key=a_key("i2", round=2)),
        a_rating("i2", revision=0),
        a_rating(key=a_key("i2", occasion=0)),
        a_rating("i2", revision=2**70),
    ):
        with pytest.raises(StoreError):
            store.write(partial(add, wrong))
    assert store.read(lambda r: sum(1 for _ in r.ratings(study))) == 1


def test_entries_are_numbered_by_the_store(store: Store, study: int) -> None:
    other = store.write(lambda w: begin(w, name="second"))
    entries = [
        an_entry("round-opened", round=1),
        an_entry("flag", item="i1", criterion="tidy", body={"flag": "leak"}, words={"quote": "q"}),
        an_entry("flag", item="i2", number=99),
    ]
    store.write(lambda w: w.log(study, entries[:1]))
    store.write(lambda w: w.log(other, entries))
    store.write(lambda w: w.log(study, iter(entries[1:])))
    store.write(lambda w: w.log(study, []))
    numbered = [replace(entry, number=n) for n, entry in enumerate(entries, 1)]
    assert store.read(lambda r: list(r.journal(study))) == numbered
    assert store.read(lambda r: list(r.journal(study, kinds=["flag"]))) == numbered[1:]
    assert store.read(lambda r: list(r.journal(study, kinds=[]))) == []
    assert store.read(lambda r: list(r.journal(study, item="i2"))) == numbered[2:]
    assert (
        store.read(lambda r: list(r.journal(study, after=1, kinds=["flag", "x"]))) == numbered[1:]
    )
    assert store.read(lambda r: list(r.journal(study, but=["flag"]))) == numbered[:1]
    assert store.read(lambda r: list(r.journal(study, after=1, until=2))) == numbered[1:2]
    with pytest.raises(StoreError, match="no study number"):
        store.write(lambda w: w.log(99, entries))
    with pytest.raises(StoreError, match="does not have"):
        store.write(lambda w: w.log(study, [an_entry(item="none")]))


def test_work_that_raises_leaves_nothing(store: Store, study: int) -> None:
    def work(writing: Writing) -> None:
        writing.add_ratings(study, [a_rating("i1")])
        writing.log(study, [an_entry()])
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        store.write(work)
    assert store.read(lambda r: (list(r.ratings(study)), list(r.journal(study)))) == ([], [])


def test_work_may_go_on_after_a_refusal(store: Store, study: int) -> None:
    store.write(lambda w: w.add_ratings(study, [a_rating("i1")]))

    def work(writing: Writing) -> int:
        with pytest.raises(Doubled):
            writing.add_ratings(study, [a_rating("i2"), a_rating("i1")])
        with pytest.raises(Doubled):
            writing.add_study(a_study())
        with pytest.raises(ZeroDivisionError):
            writing.add_ratings(study, (a_rating(f"i{3 + 1 // n}") for n in (1, 0)))
        return int(writing.add_ratings(study, [a_rating("i3")]))

    assert store.write(work) == 1
    assert [one.key.item for one in store.read(lambda r: list(r.ratings(study)))] == ["i1", "i3"]


def test_work_within_work_is_refused(store: Store) -> None:
    runs: list[Callable[..., object]] = [store.read, store.write]
    for outer in runs:
        for inner in runs:
            with pytest.raises(StoreError, match="work within work"):
                outer(lambda _, inner=inner: inner(lambda _: None))
    assert store.read(lambda r: r.studies()) == []


def test_what_is_not_read_within_the_work_cannot_be_read_later(store: Store, study: int) -> None:
    late = store.read(lambda r: r.items(study))
    with pytest.raises(StoreError, match="make a list"):
        next(late)

    def half(reading: Reading) -> object:
        items = reading.items(study)
        next(items)
        return items

    kept = store.read(half)
    assert store.write(lambda w: w.add_items(study, [an_item(9)])) == 1
    assert kept is not None


def test_a_closed_store_says_so(store: Store) -> None:
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.read(lambda r: r.studies())


def test_what_is_written_is_read_within_the_same_work(store: Store, study: int) -> None:
    def work(writing: Writing) -> int:
        writing.add_ratings(study, [a_rating("i1"), a_rating("i2")])
        return sum(1 for _ in writing.ratings(study))

    assert store.write(work) == 2


HOSTILE = [
    "'; DROP TABLE rating; --",
    '"quoted" \\ back\\slash \\N \\. %s %(x)s ? :name {0}',
    "tab\tline\nreturn\r end",
    "é 漢字 \U0001f600 \u202e \ufeff \u0085",
    "",
    " ",
    "NULL",
    "\\N",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_comes_back_as_it_was(store: Store, text: str) -> None:
    study = store.write(lambda w: w.add_study(a_study(title=text, name=f"s{text}")))
    store.write(lambda w: w.add_rubric(a_rubric()))
    store.write(lambda w: w.add_items(study, [an_item(1, id=text, content=text, source=text)]))
    store.write(lambda w: w.add_member(study, a_member(text, group=text, card=text)))
    store.write(lambda w: w.add_round(study, a_round(plan={text: text}, phase=text)))
    key = Key(round=1, item=text, rater=text)
    store.write(lambda w: w.add_assignments(study, [Assignment(key=key, position=1)]))
    store.write(lambda w: put_draft(w, study, a_draft(text, text, body={text: [text]})))
    rating = a_rating(key=key, answers={text: text}, facts={text: text}, words={text: text})
    store.write(lambda w: w.add_ratings(study, [replace(rating, request=text)]))
    entry = an_entry(text, item=text, criterion=text, body={text: text}, words={text: text})
    store.write(lambda w: w.log(study, [entry]))

    assert store.read(lambda r: r.study(f"s{text}")) == (
        study,
        a_study(title=text, name=f"s{text}"),
    )
    assert store.read(lambda r: list(r.items(study, [text]))) == [
        an_item(1, id=text, content=text, source=text)
    ]
    assert store.read(lambda r: r.members(study)) == [a_member(text, group=text, card=text)]
    assert store.read(lambda r: r.rounds(study)) == [a_round(plan={text: text}, phase=text)]
    leased = store.write(
        lambda w: w.lease(study, rater=text, token=text, now=at(0), until=at(9), key=key)
    )
    assert [one.lease for one in leased] == [text]
    assert store.write(lambda w: w.release(study, key, text))
    assert store.read(lambda r: r.draft(study, key)) == a_draft(text, text, body={text: [text]})
    assert store.read(lambda r: r.rating_by_request(study, text)) == replace(rating, request=text)
    assert store.read(lambda r: list(r.journal(study, item=text, kinds=[text]))) == [
        replace(entry, number=1)
    ]


@pytest.mark.parametrize("text", ["nul \0 inside", "half \ud800 a pair"])
def test_texts_that_a_database_cannot_keep_are_refused_by_all(store: Store, text: str) -> None:
    study = store.write(begin)
    for work in (
        lambda w: w.add_study(a_study(text)),
        lambda w: w.add_study(a_study("x", title=text)),
        lambda w: w.add_rubric(a_rubric("2", hash=OTHER, document=text)),
        lambda w: w.add_items(study, [an_item(9, id=text)]),
        lambda w: w.add_items(study, [an_item(9, content=text)]),
        lambda w: w.add_member(study, a_member(text)),
        lambda w: w.add_round(study, a_round(2, phase=text)),
        lambda w: w.add_ratings(study, [a_rating(request=text)]),
        lambda w: w.add_ratings(study, [a_rating(item_hash=text)]),
        lambda w: w.add_ratings(study, [a_rating(text)]),
        lambda w: w.add_answer_rows(study, [AnswerRow(1, "i1", "ann", 1, 1, HASH, text, "{}", "")]),
        lambda w: w.log(study, [an_entry(criterion=text)]),
        lambda w: w.lease(study, rater="ann", token=text, now=at(0), until=at(1)),
    ):
        with pytest.raises(StoreError, match="cannot be kept"):
            store.write(work)
    for look in (
        lambda r: r.study(text),
        lambda r: r.item(study, text),
        lambda r: r.rating_by_request(study, text),
        lambda r: r.assignment(study, a_key(text)),
    ):
        assert store.read(look) is None
    words = {"quote": text, text: 1}
    store.write(lambda w: w.add_ratings(study, [a_rating(words=words, facts=words)]))
    found = store.read(lambda r: r.rating(study, a_key()))
    assert found == a_rating(words=words, facts=words)


def test_what_json_cannot_say_and_what_no_index_holds_is_refused(store: Store, study: int) -> None:
    with pytest.raises(StoreError, match="JSON"):
        store.write(lambda w: w.add_ratings(study, [a_rating(facts={"x": float("nan")})]))
    with pytest.raises(StoreError, match="JSON"):
        store.write(lambda w: w.log(study, [an_entry(body={"x": object()})]))
    with pytest.raises(StoreError, match="1000 bytes"):
        store.write(lambda w: w.add_items(study, [an_item(9, id="漢" * 400)]))
    longest = "".join(chr(0x4E00 + n * 37 % 20000) for n in range(333))
    store.write(lambda w: w.add_items(study, [an_item(9, id=longest)]))
    store.write(lambda w: w.add_member(study, a_member(longest)))
    store.write(lambda w: w.add_assignments(study, assignments([longest], [longest])))
    store.write(lambda w: w.add_ratings(study, [a_rating(longest, longest, request="x")]))
    assert store.read(lambda r: r.rating(study, a_key(longest, longest))) is not None


def test_large_texts_are_kept(store: Store) -> None:
    study = store.write(lambda w: w.add_study(a_study()))
    large = "ü" * 5_000_000
    store.write(lambda w: w.add_items(study, [an_item(1, content=large)]))
    found = store.read(lambda r: r.item(study, "i1"))
    assert found is not None
    assert found.content == large


def test_many_records_are_read_as_they_are_asked_for(store: Store) -> None:
    study = store.write(lambda w: begin(w, items=25_000))
    ratings = (a_rating(f"i{n}", words=None) for n in range(1, 25_001))
    assert store.write(lambda w: w.add_ratings(study, ratings)) == 25_000

    def look(reading: Reading) -> tuple[str, int, int, int]:
        first = next(reading.items(study)).id
        pairs = zip(reading.items(study), reading.assignments(study, rater="ann"), strict=True)
        same = sum(item.id == one.key.item for item, one in pairs)
        parts = list(reading.answer_rows(study))
        return first, same, sum(map(len, parts)), len(parts)

    assert store.read(look) == ("i1", 25_000, 25_000, 2)
