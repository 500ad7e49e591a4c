"""What the store does for many keys at once is what it does for each of them."""

from __future__ import annotations

from tests.store.store_kit import a_draft, a_key, a_rating, begin, put_draft

from calibrant.ports.store import Store, Writing

ODD = ("a\0b", "\ud800", "x" * 2000)


def test_assignments_are_held_by_their_keys(store: Store) -> None:
    study = store.write(begin)
    keys = [a_key("i1"), a_key("i3"), a_key("i2", "bea"), a_key("i9"), a_key("i1", occasion=2)]
    keys += [a_key(name) for name in ODD]

    def work(tx: Writing) -> None:
        held = tx.hold_assignments(study, keys)
        assert {one.key for one in held} == {a_key("i1"), a_key("i3"), a_key("i2", "bea")}
        assert sorted(held, key=lambda one: one.key) == [
            tx.assignment(study, key) for key in sorted(keys[:3])
        ]
        assert tx.hold_assignments(study, []) == []

    store.write(work)


def test_requests_are_found_together(store: Store) -> None:
    study = store.write(begin)
    made = [a_rating("i1"), a_rating("i2"), a_rating("i2", "bea")]
    store.write(lambda tx: tx.add_ratings(study, made))
    asked = [made[0].request, made[2].request, "never", *ODD]
    found = store.read(lambda tx: tx.ratings_by_request(study, asked))
    assert sorted(found, key=lambda one: one.key) == [made[0], made[2]]
    assert store.read(lambda tx: tx.ratings_by_request(study, [])) == []


def test_drafts_of_a_rater_are_listed_and_forgotten_together(store: Store) -> None:
    study = store.write(begin)
    saved = [a_draft("i1"), a_draft("i2"), a_draft("i1", "bea")]

    def save(tx: Writing) -> None:
        for one in saved:
            put_draft(tx, study, one)

    store.write(save)
    assert store.read(lambda tx: tx.drafts(study, "ann")) == saved[:2]
    assert store.read(lambda tx: tx.drafts(study, "a\0b")) == []
    keys = [a_key("i2"), a_key("i3"), a_key("i1", "bea")]
    store.write(lambda tx: tx.drop_drafts(study, keys))
    assert store.read(lambda tx: tx.drafts(study, "ann")) == saved[:1]
    assert store.read(lambda tx: tx.drafts(study, "bea")) == []


def test_rows_of_assignments_say_what_the_records_say(store: Store) -> None:
    study = store.write(begin)
    store.write(lambda tx: tx.set_assignment_state(study, [a_key("i2")], "done"))
    found = store.read(
        lambda tx: (
            sorted(row for part in tx.assignment_rows(study) for row in part),
            sorted(
                (one.key.round, one.key.item, one.key.rater, one.state)
                for one in tx.assignments(study)
            ),
        )
    )
    assert found[0] == found[1]
    assert len(found[0]) == 8
