"""Lines of the workspace's log as sentences: who did what, to whose account."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping

from fastapi import Request

from calibrant.core.account import Event
from calibrant.web.access import workspace_of

LABELS = {
    "account_made": "account made",
    "account_closed": "account closed",
    "owner_set": "owner",
    "link_made": "link made",
    "link_used": "link used",
    "link_taken_back": "link taken back",
    "password_set": "password",
    "signed_in": "sign-in",
    "signed_out": "sign-out",
    "sign_in_failed": "wrong password",
    "sign_in_held": "made to wait",
    "login_ended": "browser signed out",
    "logins_ended": "all signed out",
    "token_made": "token made",
    "token_ended": "token ended",
    "exported": "export",
    "judges_run": "judge run",
    "study_imported": "study taken in",
    "restored": "backup",
}
"""Kinds of events as people read them."""


def label_of(kind: str) -> str:
    """What a kind of event is called."""
    return LABELS.get(kind, kind.replace("_", " "))


def sentence_of(event: Event, studies: Mapping[int, str]) -> str:
    """What happened, as a sentence that goes on from who did it."""
    said = _SENTENCES.get(event.kind)
    return said(event, studies) if said is not None else label_of(event.kind)


def told(request: Request, events: Iterable[Event]) -> list[tuple[Event, str, str]]:
    """Events, each with what its kind is called and its sentence."""
    known = workspace_of(request).store.read(lambda tx: tx.studies())
    studies = {number: one.name for number, one in known}
    return [(one, label_of(one.kind), sentence_of(one, studies)) for one in events]


def raw_of(event: Event) -> str:
    """All that is kept of it, as JSON: there are no secrets in it."""
    kept = {
        "number": event.number,
        "kind": event.kind,
        "actor": event.actor,
        "at": event.at,
        "body": dict(event.body),
    }
    return json.dumps(kept, ensure_ascii=False, indent=1, default=str)


def _whose(event: Event) -> str:
    """Whose account it was: their own, or somebody's by name."""
    name = event.body.get("account", event.actor)
    return "their own" if name == event.actor else f"{name}'s"


def _from(event: Event) -> str:
    return f" from {event.body['address']}" if event.body.get("address") else ""


def _to(event: Event, studies: Mapping[int, str]) -> str:
    study = event.body.get("study")
    return f" to the study {studies.get(study, study)}" if study is not None else ""


def _account_made(event: Event, _: object) -> str:
    owner = ", an owner's" if event.body.get("owner") else ""
    return f"made the account {event.body.get('account', '')}{owner}"


def _owner_set(event: Event, _: object) -> str:
    name = event.body.get("account", "")
    return f"made {name} an owner" if event.body.get("owner") else f"made {name} no longer an owner"


def _link_made(event: Event, studies: Mapping[int, str]) -> str:
    name, study = event.body.get("account", ""), _to(event, studies)
    what = f"inviting {name}{study}" if study else f"by which {name} chooses a password"
    return f"made a link {what}; links made before ended"


def _link_used(event: Event, studies: Mapping[int, str]) -> str:
    done = "opened their account again" if event.body.get("opened") else "chose a new password"
    done = "began their account" if event.body.get("began") else done
    return f"came in by a link{_to(event, studies)} and {done}; other browsers were signed out"


def _signed_in(event: Event, _: object) -> str:
    by = event.body.get("admitted_by")
    return f"was let in without a password by {by}" if by else f"signed in{_from(event)}"


def _token_made(event: Event, _: object) -> str:
    body = event.body
    may = "looks after accounts" if body.get("administers") else "only reads"
    may = "writes" if body.get("may_write") and not body.get("administers") else may
    by = f", by the token “{body['by_token']}”" if body.get("by_token") else ""
    return f"made the token “{body.get('label', '')}”, which {may}{by}"


def _token_ended(event: Event, _: object) -> str:
    label = f" “{event.body['label']}”" if event.body.get("label") else ""
    return f"ended {_whose(event)} token{label}"


def _exported(event: Event, _: object) -> str:
    names = " under pseudonyms" if event.body.get("pseudonyms") else ""
    return (
        f"took {event.body.get('what', 'data')} out of the study {event.body.get('study')}{names}"
    )


def _judges_run(event: Event, _: object) -> str:
    body = event.body
    where = f" on {body['server']}" if body.get("server") else ""
    return f"ran the judge {body.get('model', '')}{where} in the study {body.get('study')}"


_SENTENCES: dict[str, Callable[[Event, Mapping[int, str]], str]] = {
    "account_made": _account_made,
    "account_closed": lambda one, _: (
        f"closed {_whose(one)} account; its logins, tokens and links ended"
    ),
    "owner_set": _owner_set,
    "link_made": _link_made,
    "link_used": _link_used,
    "link_taken_back": lambda one, _: f"took {_whose(one)} link back",
    "password_set": lambda one, _: "set another password; other browsers were signed out",
    "signed_in": _signed_in,
    "signed_out": lambda one, _: "signed out",
    "sign_in_failed": lambda one, _: f"was not let in{_from(one)}: a wrong password",
    "sign_in_held": lambda one, _: f"was made to wait{_from(one)} after many wrong passwords",
    "login_ended": lambda one, _: f"signed one of {_whose(one)} browsers out",
    "logins_ended": lambda one, _: f"signed {_whose(one)} browsers out",
    "token_made": _token_made,
    "token_ended": _token_ended,
    "exported": _exported,
    "judges_run": _judges_run,
    "study_imported": lambda one, _: f"took in the study {one.body.get('study')} from a bundle",
    "restored": lambda one, _: f"brought this database back from a backup, {one.body.get('file')}",
}
