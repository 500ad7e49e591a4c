"""One call from its first attempt to its end, and how strictly a judge's server can be asked.

What is kept of several replies is the best one: that with the fewest criteria left open.
"""

from __future__ import annotations

from dataclasses import replace

from calibrant.ports.chat import FORMS, NO_USAGE, Ask, Form, Reply
from calibrant.raters.judge.judge import Call, Judge
from calibrant.raters.judge.outcome import UNREADABLE, Asked
from calibrant.raters.judge.reading import Reading, Unreadable


class Ladder:
    """How strictly a server is told what a reply must look like; it only ever steps down.

    What is stepped down for is what the server does not know. Where it does not say whether that
    is the form or the log-probabilities, forms are tried first.
    """

    def __init__(self) -> None:
        self._rung = 0
        self.probabilities = True
        self.steps: list[str] = []
        """What the server turned out not to know."""

    @property
    def form(self) -> Form:
        """The strictest form that the server may know."""
        return FORMS[self._rung]

    def ask(self, judge: Judge, call: Call) -> Ask:
        """The request, as strict as the server allows."""
        ask = judge.ask(call, self.form)
        if ask.top_logprobs and not self.probabilities:
            ask = replace(ask, top_logprobs=0)
        return ask

    def down(self, ask: Ask, detail: str) -> bool:
        """The server does not know what a request asked for; false: there is no lower rung.

        Many requests may be on their way when the first of them is turned down: only that one is
        a step.
        """
        if ask.form != self.form or bool(ask.top_logprobs) > self.probabilities:
            return True
        last = self._rung == len(FORMS) - 1
        if ask.top_logprobs and (last or "logprob" in detail.lower()):
            self.probabilities = False
            self._rung = 0 if last else self._rung
            self.steps.append("log-probabilities")
            return True
        if last:
            return False
        self.steps.append(self.form)
        self._rung += 1
        return True


class Attempts:
    """What became of a call so far."""

    __slots__ = (
        "_best", "call", "detail", "form", "limited", "made", "others", "reply", "seconds", "why",
    )  # fmt: skip

    def __init__(self, call: Call) -> None:
        self.call = call
        self.made = 0
        """Attempts that count: those that were answered, or came to nothing."""
        self.limited = 0
        """Attempts that the server turned away because they came too fast."""
        self.why: str | None = None
        self.detail = ""
        self.form: Form = FORMS[0]
        self.reply: Reply | None = None
        self.others = NO_USAGE
        self.seconds = 0.0
        self._best: Reading | None = None

    @property
    def whole(self) -> bool:
        """Whether everything that was asked is answered."""
        return self._best is not None and self._best.whole

    @property
    def number(self) -> int:
        """How often it was asked."""
        return self.made + self.limited

    def read(self, judge: Judge, reply: Reply, form: Form, seconds: float) -> tuple[str, str]:
        """Take a reply in; how it was read, or that it was not, and why something is lacking."""
        self.made += 1
        try:
            reading = judge.read(self.call, reply, form)
        except Unreadable as error:
            if self._best is None:
                self._keep(None, reply, form, seconds)
                self.why, self.detail = UNREADABLE, str(error)
            else:
                self.others += reply.usage
            return UNREADABLE, str(error)
        if self._best is None or len(reading.abstained) < len(self._best.abstained):
            self._keep(reading, reply, form, seconds)
            self.why, self.detail = None, ""
        else:
            self.others += reply.usage
        lacks = "; ".join(f"{name}: {why}" for name, why in reading.abstained.items())
        return reading.rung, lacks

    def _keep(self, reading: Reading | None, reply: Reply, form: Form, seconds: float) -> None:
        if self.reply is not None:
            self.others += self.reply.usage
        self._best, self.reply, self.form, self.seconds = reading, reply, form, seconds

    def missed(self, why: str, detail: str, seconds: float) -> None:
        """An attempt came to nothing. What was read before stays."""
        if why == "rate_limited":
            self.limited += 1
        else:
            self.made += 1
        if self._best is None:
            self.why, self.detail, self.seconds = why, detail, seconds

    def asked(self, *, kept: bool = False) -> Asked:
        """The end."""
        return Asked(
            call=self.call,
            reading=self._best,
            reply=self.reply,
            why=self.why,
            detail=self.detail,
            attempts=self.number,
            seconds=self.seconds,
            form=self.form,
            others=self.others,
            kept=kept,
        )
