"""``calibrant sample-size``: how many items a study of agreement needs."""

from __future__ import annotations

import click

from calibrant.cli.terminal import console, output_option, show_json, table, wants_json

COEFFICIENTS = ("cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "gwet_ac", "percent")
SHOWN = (10, 20, 30, 50, 100, 200, 500, 1000)


@click.command("sample-size")
@click.option("--coefficient", type=click.Choice(COEFFICIENTS), default="krippendorff_alpha",
              show_default=True, help="What will be reported.")  # fmt: skip
@click.option("--level", type=click.Choice(["nominal", "ordinal", "interval", "ratio"]),
              default="nominal", show_default=True, help="Level of measurement.")  # fmt: skip
@click.option("--raters", type=click.IntRange(2, 8), default=2, show_default=True,
              help="Raters of every item.")  # fmt: skip
@click.option("--shares", metavar="0.8,0.2", default="0.5,0.5", show_default=True,
              help="How often each answer will be right.")  # fmt: skip
@click.option("--expected", type=click.FloatRange(0, 1, max_open=True), default=0.75,
              show_default=True, help="The agreement you expect, as a kappa.")  # fmt: skip
@click.option("--width", type=click.FloatRange(0, 1, min_open=True),
              help="Wanted half-width of the 95 % interval.")  # fmt: skip
@click.option("--target", type=click.FloatRange(-1, 1), help="The agreement to be shown.")
@click.option("--power", type=click.FloatRange(0.5, 0.999), default=0.8, show_default=True,
              help="How surely the target is to be shown.")  # fmt: skip
@output_option
def sample_size(
    coefficient: str,
    level: str,
    raters: int,
    shares: str,
    expected: float,
    width: float | None,
    target: float | None,
    power: float,
    style: str,
) -> None:
    """Tell how many items are needed for an interval of a width, or to show a target.

    \b
    Examples:
      calibrant sample-size --target 0.6 --expected 0.75
      calibrant sample-size --width 0.1 --raters 3 --shares 0.80,0.15,0.05
    """
    from calibrant.stats import power as planning

    spread = _shares(shares)
    plan = planning.Plan(raters, spread, level, expected)  # type: ignore[arg-type]
    value, single = planning.spread(plan, coefficient)
    answer: dict[str, object] = {
        "coefficient": coefficient,
        "raters": raters,
        "expected": round(value, 6),
        "half_widths": {str(n): round(1.959963984540054 * single / n**0.5, 4) for n in SHOWN},
    }
    lines = []
    if width is not None:
        answer["items_for_width"] = found = planning.items_for_width(plan, coefficient, width)
        lines.append(f"{found:,} items give an interval of about ± {width:g}.")
    if target is not None:
        needed = planning.items_for_target(plan, coefficient, target, power)
        answer["items_for_target"] = needed
        lines.append(
            f"{needed:,} items show {target:g} with {power:.0%} power."
            if needed is not None
            else f"No number of items shows {target:g}: no more than {value:.3f} is expected."
        )
        lines += _best_cases(answer, spread, target)
    if wants_json(style):
        show_json(answer)
        return
    screen = console()
    rows = [(f"{n:,}", f"± {1.959963984540054 * single / n**0.5:.3f}") for n in SHOWN]
    title = f"{coefficient.replace('_', ' ')}, {raters} raters, expected {value:.3f}"
    screen.print(table(("items", "95 % interval"), rows, title))
    for line in lines:
        screen.print(line)


def _best_cases(answer: dict[str, object], shares: tuple[float, ...], target: float) -> list[str]:
    """What ten items can show if all of them agree, and how many would have to."""
    from calibrant.stats import power as planning

    best = planning.best_case(10, shares)
    least = next(n for n in range(2, 100_000) if planning.best_case(n, shares) >= target)
    answer["best_case_of_ten"] = round(best, 4)
    answer["least_items_all_agreeing"] = least
    able = "can" if best >= target else "cannot"
    return [
        f"Ten items {able} show {target:g}: even if all of them agree, the lower limit of kappa "
        f"is {best:.3f}.",
        f"At least {least:,} items, all of them agreeing, are needed.",
    ]


def _shares(text: str) -> tuple[float, ...]:
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        found = ()
    if len(found) < 2 or any(share <= 0 for share in found) or abs(sum(found) - 1) > 1e-6:
        raise click.BadParameter(
            f"{text!r}: two shares or more above 0 that sum to 1, such as 0.8,0.2",
            param_hint="--shares",
        )
    return found
