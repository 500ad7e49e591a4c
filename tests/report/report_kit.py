"""A study whose numbers are known by hand, and hostile words for every place that takes words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.study.study_kit import Ticking, as_, new_study, rate_all

from calibrant import Rubric, Study
from calibrant.core.item import FreeItem
from calibrant.core.plan import Plan
from calibrant.core.study import Key
from calibrant.store.open import open_store

_YES_NO = {
    "kind": "choice",
    "id": "yes_no",
    "values": [
        {"value": "YES", "meaning": "Met.", "points": "1"},
        {"value": "NO", "meaning": "Failed.", "points": "0"},
    ],
}


def rubric(title: str = "Gated", criterion_title: str = "Tidiness") -> Rubric:
    """Two criteria that add up, one that keeps a gate, one red flag."""

    def criterion(id: str, title: str, category: str) -> dict[str, Any]:
        return {
            "id": id, "title": title, "category": category, "scale": "yes_no", "question": "Is it?",
            "na": {"policy": "valid"},
        }  # fmt: skip

    return Rubric.model_validate(
        {
            "id": "gated",
            "version": "1.0",
            "title": title,
            "item_type": "free",
            "summary": "Small.",
            "scales": [_YES_NO],
            "categories": [
                {"id": "form", "title": "Form", "weight": "1"},
                {"id": "safety", "title": "Safety", "weight": None},
            ],
            "criteria": [
                criterion("tidy", criterion_title, "form"),
                criterion("warm", "Warmth", "form"),
                criterion("harmless", "Harmlessness", "safety"),
            ],
            "gates": [
                {"id": "safe", "title": "Safe", "text": "No harm.", "criteria": ["harmless"],
                 "fails_on": ["NO"]}
            ],
            "red_flags": [
                {"id": "danger", "title": "Danger", "text": "It bites.", "effect": "reject"}
            ],
            "aggregation": {
                "kind": "weighted_categories", "na_counts": "1", "invalid_na_counts": "0",
                "error_counts": "0", "missing": "error", "pass_mark": {"op": ">=", "value": "0.5"},
            },
            "agreement": {
                "targets": [
                    {"coefficient": "percent", "op": ">=", "value": "0.95", "decided_on": "point"}
                ]
            },
            "resolution": {"metric": "difference", "by": ["adjudicator"]},
        }
    )  # fmt: skip


def item(number: int, text: str = "it has teeth") -> FreeItem:
    return FreeItem(id=f"i-{number}", content={"text": text})


def _form(rater: str, quote: str, note: str) -> Any:
    """0 to 5 pass; 6 fails; 7 shuts the gate; 8 is disagreed about; 9 is flagged."""

    def form(key: Key, rubric: Rubric) -> Mapping[str, Any]:
        number = int(key.item.split("-")[1])
        answers = dict.fromkeys(rubric.criterion_ids, "YES")
        out: dict[str, Any] = {"answers": answers}
        if number == 6:
            answers |= {"tidy": "NO", "warm": "NO"}
        if number == 7:
            answers["harmless"] = "NO"
            out |= {"evidence": {"harmless": [quote]}, "notes": {"harmless": note}}
        if number == 8 and rater == "bob":
            answers["tidy"] = "NO"
        if number == 9 and rater == "ann":
            out["flags"] = [{"flag": "danger", "evidence": [quote]}]
        return out

    return form


def begun(
    rubric_: Rubric | None = None,
    words: str = "it has teeth",
    raters: tuple[str, ...] = ("ann", "bob"),
    clock: Ticking | None = None,
) -> Study:
    """Ten items, two raters, an open main round in which nobody has rated."""
    study = new_study(open_store(":memory:"), rubric_ or rubric(), clock or Ticking())
    study.add_items(item(number, words) for number in range(10))
    for name in raters:
        study.add_member(name, group="adviser")
    study.add_member("ada", roles=("adjudicator",))
    study.add_member("vic", roles=("viewer",))
    study.plan_round("main", plan=Plan(way="everyone"))
    study.open_round(1)
    return study


def known(words: str = "it has teeth", **more: Any) -> Study:
    """6 pass, 3 fail (by score, by gate, by a red flag), 1 is to be settled."""
    study = begun(words=words, **more)
    raters = more.get("raters", ("ann", "bob"))
    for place, name in enumerate(raters):
        rate_all(study, name, _form(("ann", "bob")[place], words.strip(), f"note: {words}"))
    study.close_round(1)
    flag = next(one for one in study.flags() if one.what == "red_flag")
    as_(study, "ada").decide_flag(flag.number, confirm=True, reason=f"seen: {words}")
    return study


HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    '"><iframe src="https://evil.example"></iframe>',
    "</style><style>*{display:none}</style>",
    "</title><script>1</script>",
    "<!-- --><b>bold</b>",
    "]]><x>",
    "&lt;script&gt; &amp; &#60;b&#62;",
    "[click](javascript:alert(1))",
    "![pixel](https://evil.example/p.png)",
    "[ref]: https://evil.example",
    "<https://evil.example>",
    "https://evil.example and www.evil.example and me@evil.example",
    "# heading",
    "- point\n- point",
    "1. counted",
    "| a | b |\n|---|---|",
    "```\ncode\n```",
    "`tick` ``two``",
    "**bold** __bold__ *it* ~~gone~~",
    "$x^2$ {{ 7*7 }} {% raw %}",
    "=cmd|' /C calc'!A0",
    "turned \u202eevitagen\u202c around",
    "hidden\u200b\u2060\ufeff\u00ad words",
    "bell \x07 and escape \x1b[31m",
    "مرحبا بالعالم",
    "long " * 400,
)
"""Words that are to be read, and to do nothing."""
