"""Three kinds of charts, as data and as SVG: bars, dots with intervals, a histogram.

A chart has no size of its own: places along the page are shares of its width, so that words keep
their size on a phone and in print. It has no colours either: the style sheet gives them by class,
in light and in dark, and nothing is told by colour alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html import escape
from typing import Literal, TypeAlias

from calibrant.core.visible import visible

Tone: TypeAlias = Literal["good", "bad", "open", "plain"]
"""What a thing means: its sign and its word say it too."""
LABEL = 64
"""Signs of a label; the table beside has all of it."""
_EDGE = 1.5
"""Room at both ends, in hundredths of the width."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar and what it says."""

    label: str
    value: float
    text: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """Values as lengths, one below the other."""

    key: str
    title: str
    about: str
    """What it shows, for those who do not see it."""
    bars: tuple[Bar, ...]
    highest: float
    """What fills the width."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A value and its interval."""

    value: float
    low: float
    high: float
    tone: Tone = "plain"
    series: int = 0
    """Tells what it stands for by its shape: a disc, or a diamond."""


@dataclass(frozen=True, slots=True)
class DotRow:
    """The dots of one thing."""

    label: str
    text: str
    dots: tuple[Dot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dots:
    """Values with intervals along one axis, against a mark."""

    key: str
    title: str
    about: str
    rows: tuple[DotRow, ...]
    limits: tuple[float, float]
    ticks: tuple[float, ...]
    marks: tuple[tuple[float, str], ...] = ()
    """Values to be told apart from, with a word for each."""
    series: tuple[str, ...] = ()
    """What shapes stand for, where there are two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """How many things have which value."""

    key: str
    title: str
    about: str
    bins: tuple[tuple[float, float, int], ...]
    """From, to, how many."""
    mark: tuple[float, str] | None = None


Chart: TypeAlias = Bars | Dots | Histogram


def svg(chart: Chart) -> str:
    """The chart as an SVG element."""
    match chart:
        case Bars():
            return _framed(chart, *_bars(chart))
        case Dots():
            return _framed(chart, *_dots(chart))
        case Histogram():
            return _framed(chart, *_histogram(chart))


def _framed(chart: Chart, height: float, parts: Iterable[str]) -> str:
    key = f"chart-{chart.key}"
    return (
        f'<svg class="chart" role="img" width="100%" height="{_n(height)}" '
        f'aria-labelledby="{key}-title {key}-about" xmlns="http://www.w3.org/2000/svg">'
        f'<title id="{key}-title">{_t(chart.title)}</title>'
        f'<desc id="{key}-about">{_t(chart.about)}</desc>{"".join(parts)}</svg>'
    )


def _t(text: str) -> str:
    return escape(visible(text))


def _n(value: float) -> str:
    """A number as short as it can be."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _short(text: str) -> str:
    text = " ".join(visible(text).split())
    return escape(text if len(text) <= LABEL else f"{text[: LABEL - 1]}…")


def _told(text: str) -> str:
    """What a row says: the figure, and what a narrow page leaves to the table beside."""
    figure, *more = re.split(r"(?= \(| · )", _short(text), maxsplit=1)
    return figure + "".join(f'<tspan class="more">{one}</tspan>' for one in more)


def _text(x: str, y: float, words: str, kind: str, anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x}" y="{_n(y)}" text-anchor="{anchor}">{words}</text>'


# -- bars


def _bars(chart: Bars) -> tuple[float, Iterator[str]]:
    step = 38.0

    def parts() -> Iterator[str]:
        for at, one in enumerate(chart.bars):
            top = at * step
            share = max(0.0, min(1.0, one.value / chart.highest)) if chart.highest > 0 else 0.0
            yield _text("0", top + 13, _short(one.label), "label")
            yield _text("100%", top + 13, _short(one.text), "value", "end")
            yield f'<rect class="track" x="0" y="{_n(top + 19)}" width="100%" height="10" rx="2"/>'
            yield (
                f'<rect class="bar {one.tone}" x="0" y="{_n(top + 19)}" '
                f'width="{_n(100 * share)}%" height="10" rx="2"/>'
            )

    return len(chart.bars) * step, parts()


# -- dots with intervals


def _dots(chart: Dots) -> tuple[float, Iterator[str]]:
    step, head = (48.0, 26.0) if chart.series else (40.0, 4.0)
    bottom = head + len(chart.rows) * step

    def place(value: float) -> str:
        low, high = chart.limits
        share = (min(max(value, low), high) - low) / (high - low)
        return f"{_n(_EDGE + (100 - 2 * _EDGE) * share)}%"

    def parts() -> Iterator[str]:
        yield from _legend(chart.series)
        for value in chart.ticks:
            x = place(value)
            yield f'<line class="grid" x1="{x}" x2="{x}" y1="{_n(head)}" y2="{_n(bottom)}"/>'
            yield _text(x, bottom + 14, _tick(value), "axis", "middle")
        for value, _ in chart.marks:
            x = place(value)
            yield f'<line class="mark" x1="{x}" x2="{x}" y1="{_n(head)}" y2="{_n(bottom)}"/>'
        for at, row in enumerate(chart.rows):
            top = head + at * step
            yield _text("0", top + 12, _short(row.label), "label")
            yield _text("100%", top + 12, _told(row.text), "value", "end")
            for one in row.dots:
                yield from _dot(one, place, top + 25 + 11 * one.series)
        for value, word in chart.marks:
            yield _text(place(value), bottom + 30, _short(word), "axis marked", "middle")

    return bottom + (36 if chart.marks else 20), parts()


def _legend(series: tuple[str, ...]) -> Iterator[str]:
    for number, name in enumerate(series):
        x = f"{2 + number * 50}%"
        yield _shape(x, 9, number, "plain")
        yield f'<svg x="{x}" y="0" overflow="visible">{_text("12", 13, _short(name), "axis")}</svg>'


def _dot(one: Dot, place: Callable[[float], str], y: float) -> Iterator[str]:
    tone, at = one.tone, _n(y)
    yield (
        f'<line class="span {tone} series{one.series}" x1="{place(one.low)}" '
        f'x2="{place(one.high)}" y1="{at}" y2="{at}"/>'
    )
    yield _shape(place(one.value), y, one.series, tone)


def _shape(x: str, y: float, series: int, tone: Tone) -> str:
    """A disc or a diamond; hollow where a thing is not as it should be, or not shown to be."""
    kind = f"dot {tone} series{series}"
    if series == 0:
        return f'<circle class="{kind}" cx="{x}" cy="{_n(y)}" r="5"/>'
    path = '<path class="' + kind + '" d="M0 -6L6 0L0 6L-6 0Z"/>'
    return f'<svg x="{x}" y="{_n(y)}" overflow="visible">{path}</svg>'


def _tick(value: float) -> str:
    return f"{value:g}".replace("-", "−")


# -- histogram


def _histogram(chart: Histogram) -> tuple[float, Iterator[str]]:
    tall, head = 150.0, 22.0
    most = max((count for _, _, count in chart.bins), default=0) or 1
    low, high = chart.bins[0][0], chart.bins[-1][1]
    foot = head + tall

    def place(value: float) -> float:
        return _EDGE + (100 - 2 * _EDGE) * (value - low) / (high - low)

    def parts() -> Iterator[str]:
        for start, end, count in chart.bins:
            height = tall * count / most
            left, right = place(start), place(end)
            yield (
                f'<rect class="bar plain" x="{_n(left + 0.15)}%" y="{_n(foot - height)}" '
                f'width="{_n(right - left - 0.3)}%" height="{_n(height)}"/>'
            )
        yield f'<line class="base" x1="0" x2="100%" y1="{_n(foot)}" y2="{_n(foot)}"/>'
        for at in range(5):
            value = low + (high - low) * at / 4
            anchor = "start" if at == 0 else "end" if at == 4 else "middle"
            yield _text(f"{_n(place(value))}%", foot + 16, _tick(round(value, 6)), "axis", anchor)
        if chart.mark is not None:
            x = f"{_n(place(min(max(chart.mark[0], low), high)))}%"
            yield f'<line class="mark" x1="{x}" x2="{x}" y1="{_n(head - 4)}" y2="{_n(foot)}"/>'
            anchor = "end" if place(chart.mark[0]) > 60 else "start"
            yield _text(x, head - 9, _short(chart.mark[1]), "axis marked", anchor)

    return foot + 22, parts()
