"""Judges over a file of items: ratings to one file, the calls behind them to another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from calibrant.core.errors import Fault, SourceError
from calibrant.core.rubric import Rubric
from calibrant.engine.jobs import Tally
from calibrant.engine.judge_run import Cascade, JudgeRun, Source
from calibrant.engine.judge_summary import JudgeSummary, summed_up
from calibrant.formats.judge_ratings import RatingsFile, panel_path, write_ratings
from calibrant.formats.rubric_file import load_rubric
from calibrant.formats.writers import check_output
from calibrant.judging.asking import PEOPLE, Asking
from calibrant.judging.running import asker, log_of, run_closing
from calibrant.judging.seats import Bench
from calibrant.raters.judge.panel import policy_of
from calibrant.settings import Server, Settings


def calls_of(out: Path) -> Path:
    """Where the calls of a run are kept, beside its ratings."""
    return out.with_name(f"{out.name}.calls")


def judge_file(
    source: Source,
    asking: Asking,
    out: Path,
    *,
    tally: Tally | None = None,
    on_fault: Callable[[Fault], None] = lambda fault: None,
    on_ready: Callable[[Sequence[Server]], None] = lambda servers: None,
) -> JudgeSummary:
    """Judge all items of a file; ratings go to ``out``, calls beside it.

    Made again it goes on where it stopped. ``tally`` is told how far it is, and can stop it.
    """
    tally = tally or Tally()
    prices = asking.stated_prices
    check_output(out, source.path)
    with log_of(asking, calls_of(out)) as log:
        bench = Bench(asking, log.key, Settings.here())
        run = _run_of(bench, source, asking)
        survey = run.survey(on_fault)
        on_ready(bench.servers)
        tally.total = survey.calls
        cards = [seat.judge.card for seat in run.all_seats]
        with RatingsFile(out, cards, source.path, log.path) as ratings:
            run_closing(run.run(asker(asking, log, tally), ratings, tally), bench, tally)
            found = summed_up(run, survey, ratings, prices)
            found.stopped = tally.stop
            if any(one.ratings > survey.items * asking.samples for one in found.judges.values()):
                found.warnings.append(
                    f"{out} also holds ratings of items that are not in this file"
                )
            if not tally.stop:
                ratings.finish()
                _write_beside(run, ratings, out)
    return found


def _run_of(bench: Bench, source: Source, asking: Asking) -> JudgeRun:
    cascade, seats = None, bench.seats(source.rubric)
    if asking.escalate_to is not None:
        people = asking.escalate_to == PEOPLE
        stronger = None if people else bench.seat(source.rubric, asking.escalate_to, once=True)
        if stronger is not None and stronger.judge.model in [one.judge.model for one in seats]:
            raise SourceError(f"{asking.escalate_to} judges already: doubtful items go to another")
        cascade = Cascade(rules=asking.rules, stronger=stronger)
    return JudgeRun(
        source,
        seats,
        samples=asking.samples,
        policy=policy_of(source.rubric, asking.policy),
        cascade=cascade,
    )


def _write_beside(run: JudgeRun, ratings: RatingsFile, out: Path) -> None:
    """What follows from the ratings, each in a file of its own."""
    if run.panel is not None:
        write_ratings(panel_path(out), run.panel_records(ratings))
    if run.cascade is not None:
        write_ratings(escalated_path(out), run.escalated_records())


def escalated_path(out: Path) -> Path:
    """Where the items that go on are listed."""
    return out.with_name(f"{out.stem}.escalated{out.suffix}")


def judge(
    items: str | Path,
    rubric: Rubric | str,
    *,
    out: str | Path,
    model: str | Sequence[str] = (),
    local: str | Path | Sequence[str | Path] = (),
    skip_bad: bool = False,
    **asking: Any,
) -> JudgeSummary:
    """Let language models judge a file of items by a rubric, and keep everything they said.

    ``model`` names models of the server at ``base_url``, ``local`` GGUF files that answer in this
    process. Ratings go to ``out``; what is beside them is as with ``calibrant judge``, and so are
    the other names: ``concurrency``, ``way``, ``samples``, ``policy``, ``escalate_to`` and so on.
    """
    chosen = load_rubric(rubric) if isinstance(rubric, str) else rubric
    models = (model,) if isinstance(model, str) else tuple(model)
    files = (local,) if isinstance(local, str | Path) else tuple(local)
    return judge_file(
        Source(path=Path(items), rubric=chosen, skip_bad=skip_bad),
        Asking(models=models, files=tuple(map(Path, files)), **asking),
        Path(out),
    )
