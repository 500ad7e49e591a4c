"""The least a click program can be, to measure start-up against."""

import click


@click.command()
def main() -> None:
    """Do nothing."""


if __name__ == "__main__":
    main()
