"""The living page: every component of the design, and its tokens."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from calibrant.core.item import Response as Answered
from calibrant.formats.rubric_file import load_rubric
from calibrant.study.case_file import Voice
from calibrant.web.access import SIGNED_IN, Routes
from calibrant.web.cases import Said, levels
from calibrant.web.contrast import colours, pairs
from calibrant.web.criterion_view import asked_of
from calibrant.web.evidence import highlighted, said_style
from calibrant.web.forms import Filled
from calibrant.web.item_view import view_of
from calibrant.web.render import environment, page

routes = Routes()
RIGHT_TO_LEFT = "مرحبا، هذه جملة تُقرأ من اليمين إلى اليسار."
HIDDEN = "invoice\u202efdp.exe and a\u200bspace that nobody sees"
MARKDOWN = (
    "A list:\n\n- **first** a thing\n- then [a link](https://example.org)\n\n> said by somebody\n\n"
    "| hours | task |\n|---|---|\n| 2 | `write` |\n\n<script>alert(1)</script>"
)
SPACING = tuple(f"s{number}" for number in range(1, 8))
TYPE = ("small", "normal", "large", "title")


@routes.get("/components", access=SIGNED_IN)
def components(request: Request) -> Response:
    """Every component, as it looks in the theme that is chosen."""
    rubric = load_rubric("ai-response")
    voices = _voices()
    said = [
        Said(
            number=number,
            voice=one,
            answer=one.answers["accuracy"],
            note=one.notes.get("accuracy", ""),
            reason=one.reasons.get("accuracy", ""),
            quotes=one.evidence.get("accuracy", ()),
            borderline="accuracy" in one.borderline,
            tags=(),
            style=said_style(number),
        )
        for number, one in enumerate(voices, 1)
    ]
    item = Answered(id="r-1", question="How far is the moon?", response=_ANSWER)
    part = environment().get_template("parts/item.html").module
    drawn = str(part.item(view_of(item)))  # type: ignore[attr-defined]
    return page(
        request,
        "components.html",
        light=pairs("light"),
        dark=pairs("dark"),
        colours=sorted(colours()["light"]),
        spacing=SPACING,
        type=TYPE,
        right_to_left=RIGHT_TO_LEFT,
        hidden=HIDDEN,
        drawn_text=MARKDOWN,
        heard=said,
        levels=levels(rubric, rubric.criterion("accuracy"), voices),
        drawn=highlighted(drawn, [one.quotes for one in said]),
        asked=asked_of(rubric)[0],
        nothing=Filled({}),
    )


_ANSWER = "About **384,400 km** on average.\n\nIt is nearer at some times than at others."


def _voices() -> tuple[Voice, ...]:
    """Three who answered: two people and a judge."""
    nothing: dict[str, tuple[str, ...]] = {}
    return (
        Voice(
            rater="rater A",
            kind="HUMAN",
            counts=True,
            answers={"accuracy": "5"},
            notes={"accuracy": "The mean distance, as every atlas has it."},
            evidence={"accuracy": ("384,400 km",)},
            reasons={},
            borderline=frozenset(),
            tags=nothing,
            note="",
        ),
        Voice(
            rater="you",
            kind="HUMAN",
            counts=True,
            answers={"accuracy": "3"},
            notes={"accuracy": "It does not say by how much it varies."},
            evidence={"accuracy": ("nearer at some times than at others",)},
            reasons={},
            borderline=frozenset({"accuracy"}),
            tags=nothing,
            note="",
        ),
        Voice(
            rater="rater C",
            kind="LLM",
            counts=False,
            answers={"accuracy": "5"},
            notes={},
            evidence=nothing,
            reasons={"accuracy": "The figure agrees with the reference."},
            borderline=frozenset(),
            tags=nothing,
            note="",
        ),
    )
