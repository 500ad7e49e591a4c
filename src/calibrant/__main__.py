"""``python -m calibrant``."""

from calibrant.cli.main import main

main()
