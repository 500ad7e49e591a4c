"""A rating form in the terminal: line by line, so that it works in any terminal and in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import click

from calibrant.cli.item_view import Line, criterion_lines, draw, item_lines
from calibrant.cli.terminal import typed_line

if TYPE_CHECKING:
    from calibrant.core.criterion import Criterion
    from calibrant.core.item import Item
    from calibrant.core.rubric import Rubric

End: TypeAlias = Literal["hand_in", "later", "quit"]
KEYS = (
    "?  all there is to know about this criterion    i  the item again\n"
    "w  write a note     b  borderline (with a note)  f  raise a red flag\n"
    "e  an edge case     r  somebody should review    l  ask the lead\n"
    "u  back             s  save, next item           q  save and stop\n"
    "Enter keeps the answer that is there. Where an answer is a letter that is also a\n"
    "key, put a colon before the key: :b"
)
SHORT = "? help · w note · b borderline · f flag · e edge case · l lead · u back · s later · q quit"


class Stop(Exception):
    """The input has ended: what is there is kept."""


def asked(prompt: str) -> str:
    """One line from whoever sits there."""
    try:
        return typed_line(prompt)
    except EOFError:
        raise Stop from None


class Form:
    """What a rater has said so far about one item, and the talk that fills it in."""

    def __init__(
        self,
        item: Item,
        rubric: Rubric,
        draft: Mapping[str, Any] | None,
        *,
        save: Callable[[dict[str, Any]], None],
        ask_lead: Callable[[str, str], None],
    ) -> None:
        self.item, self.rubric = item, rubric
        self.form: dict[str, Any] = {key: _copy(value) for key, value in (draft or {}).items()}
        self.save, self.ask_lead = save, ask_lead
        measures = item.measures()
        self.open = [one for one in self.rubric.criteria if not _decided(one, measures)]
        self.ruled = [one for one in self.rubric.criteria if _decided(one, measures)]

    # -- the talk

    def fill(self) -> End:
        """Go through the criteria that have no answer, then look at the whole."""
        at = next((n for n, one in enumerate(self.open) if not self._answer(one)), len(self.open))
        while True:
            outcome = self._criterion(at) if at < len(self.open) else self._review()
            match outcome:
                case int():
                    at = max(outcome, 0)
                case _:
                    return outcome

    def show(self) -> None:
        """The item."""
        draw(item_lines(self.item))

    def _criterion(self, at: int) -> int | End:
        """Ask one criterion; where to go next, or how it ends."""
        criterion = self.open[at]
        click.echo()
        draw([Line(f"{at + 1}/{len(self.open)}  {criterion.title}", 0, "bold")])
        draw(criterion_lines(self.rubric, criterion, whole=False))
        if at == 0:
            draw([Line(SHORT, 3, "dim")])
        while True:
            before = self._answer(criterion)
            said = asked(f"{criterion.id}{f' [{before}]' if before else ''}> ")
            if not said:
                if before:
                    return at + 1
                continue
            if self._take(criterion, said):
                self._beside(criterion)
                self.save(self.form)
                return at + 1
            outcome = self._key(said, criterion)
            if outcome == "back":
                return at - 1
            if outcome in ("later", "quit"):
                return outcome  # type: ignore[return-value]
            if outcome is None:
                draw([Line(f"{said[:40]!r} is no answer: {self._choices(criterion)}", 3)])

    def _review(self) -> int | End:
        """The whole form at a glance; hand it in, or change something."""
        click.echo()
        draw(self._summary())
        while True:
            said = asked("hand in? Enter · a number to change · s later · q quit> ")
            if said in ("", "y", "yes"):
                self.save(self.form)
                return "hand_in"
            if said.isdigit() and 1 <= int(said) <= len(self.open):
                return int(said) - 1
            named = [at for at, one in enumerate(self.open) if one.id == said]
            if named:
                return named[0]
            outcome = self._key(said, None)
            if outcome == "back":
                return len(self.open) - 1
            if outcome in ("later", "quit"):
                return outcome  # type: ignore[return-value]
            if outcome is None:
                click.echo(f"say a number from 1 to {len(self.open)}, or Enter to hand in")

    def _summary(self) -> Iterator[Line]:
        borderline = self.form.get("borderline", [])
        for at, one in enumerate(self.open, 1):
            marks = ["borderline"] if one.id in borderline else []
            note = self.form.get("notes", {}).get(one.id)
            marks += [f"“{note}”"] if note else []
            told = f"{at}  {one.title}: {self._answer(one) or 'not answered'}"
            yield Line("  ".join([told, *marks]), 1)
        for one in self.ruled:
            assert one.precondition is not None
            yield Line(f"-  {one.title}: NA ({one.precondition.reason})", 1, "dim")
        for flag in self.form.get("flags", []):
            quotes = " … ".join(f"“{quote}”" for quote in flag["evidence"])
            yield Line(f"!  red flag {flag['flag']}: {quotes}", 1, "red")
        for what in ("edge_case", "review"):
            if self.form.get(what):
                yield Line(f"!  {what.replace('_', ' ')}: {self.form[what]}", 1, "yellow")

    # -- answers

    def _answer(self, criterion: Criterion) -> str | None:
        value = self.form.get("answers", {}).get(criterion.id)
        return None if value is None else str(value)

    def _take(self, criterion: Criterion, said: str) -> bool:
        """Whether what was said is an answer; then it is written down."""
        from calibrant.core.answer import Given, NotApplicable
        from calibrant.core.rating import read_answer

        word = {"y": "YES", "n": "NO", "a": "NA"}.get(said.lower(), said)
        for text in dict.fromkeys((said, word)):
            match read_answer(self.rubric, criterion, text):
                case Given(value):
                    self.form.setdefault("answers", {})[criterion.id] = str(value)
                    return True
                case NotApplicable() if criterion.na.policy != "excluded":
                    self.form.setdefault("answers", {})[criterion.id] = "NA"
                    return True
        return False

    def _choices(self, criterion: Criterion) -> str:
        points = [str(value) for value in self.rubric.scale_of(criterion).points_of_scale]
        return ", ".join(points + (["NA"] if criterion.na.policy != "excluded" else [])) + "; ?"

    def _beside(self, criterion: Criterion) -> None:
        """What the rubric records beside an answer."""
        for question in criterion.sub_questions:
            draw([Line(question.question, 3)])
            form = {"yes_no": "y/n", "date": "a day", "text": "a text"}[question.answer]
            said = asked(f"   {form}, Enter for none> ")
            if said:
                word = {"y": "YES", "n": "NO"}.get(said.lower(), said)
                value = word if question.answer == "yes_no" else said
                answers = self.form.setdefault("sub_answers", {})
                answers.setdefault(criterion.id, {})[question.id] = value
        if criterion.tags:
            known = [tag.id for tag in criterion.tags]
            draw([Line(f"tags: {', '.join(known)}", 3)])
            said = asked("   with commas, Enter for none> ")
            if said:
                tags = [part.strip() for part in said.split(",") if part.strip()]
                self.form.setdefault("tags", {})[criterion.id] = tags

    # -- keys

    def _key(self, said: str, criterion: Criterion | None) -> str | None:
        """Do what a key stands for; None where it stands for nothing."""
        key = said.removeprefix(":").strip().lower()
        ends = {"u": "back", "s": "later", "q": "quit"}
        if key in ends:
            return ends[key]
        about = {"w": self._note, "b": self._borderline, "?": self._explain, "l": self._lead}
        plain = {"i": self.show, "f": self._flag, "e": self._edge, "r": self._for_review}
        if key in about and (criterion is not None or key in ("?", "l")):
            about[key](criterion)
        elif key in plain:
            plain[key]()
        else:
            return None
        if key not in ("i", "?"):
            self.save(self.form)
        return "stay"

    def _explain(self, criterion: Criterion | None) -> None:
        if criterion is not None:
            draw(criterion_lines(self.rubric, criterion, whole=True))
        draw([Line(KEYS, 3, "dim")])

    def _note(self, criterion: Criterion | None) -> None:
        assert criterion is not None
        said = asked("   note> ")
        if said:
            self.form.setdefault("notes", {})[criterion.id] = said

    def _borderline(self, criterion: Criterion | None) -> None:
        assert criterion is not None
        marked = self.form.setdefault("borderline", [])
        if criterion.id in marked:
            marked.remove(criterion.id)
            click.echo("   no longer borderline")
            return
        marked.append(criterion.id)
        said = asked("   borderline: why?> ")
        if said:
            self.form.setdefault("notes", {})[criterion.id] = said

    def _flag(self) -> None:
        flags = self.rubric.red_flags or ()
        if not flags:
            click.echo("   this rubric has no red flags; e marks an edge case, r asks for a review")
            return
        for at, one in enumerate(flags, 1):
            draw([Line(f"{one.title}: {one.text}", 3, mark=f"{at}  ")])
        said = asked("   which? number, Enter for none> ")
        if not said.isdigit() or not 1 <= int(said) <= len(flags):
            return
        quotes = []
        while quote := asked("   quote the item, Enter when done> "):
            quotes.append(quote)
        flag = flags[int(said) - 1].id
        kept = [one for one in self.form.get("flags", []) if one["flag"] != flag]
        self.form["flags"] = [*kept, *([{"flag": flag, "evidence": quotes}] if quotes else [])]

    def _edge(self) -> None:
        self.form["edge_case"] = asked("   edge case: what makes it one?> ")

    def _for_review(self) -> None:
        self.form["review"] = asked("   review: what should be looked at?> ")

    def _lead(self, criterion: Criterion | None) -> None:
        said = asked("   to the lead, about the rubric; say no score> ")
        if said:
            self.ask_lead(said, criterion.id if criterion is not None else "")
            click.echo("   asked: the answer will be in `calibrant study questions`")


def _decided(criterion: Criterion, measures: dict[str, int]) -> bool:
    """Whether code decides the answer, by the rubric's precondition."""
    from calibrant.core.document import holds

    rule = criterion.precondition
    return rule is not None and holds(measures[rule.metric], rule.op, rule.value)


def _copy(value: Any) -> Any:
    """Of a draft, so that what is kept elsewhere is not changed."""
    if isinstance(value, dict):
        return {key: _copy(inner) for key, inner in value.items()}
    return [_copy(inner) for inner in value] if isinstance(value, list) else value
