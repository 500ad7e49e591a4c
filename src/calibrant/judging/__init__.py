"""Where judges are put together: servers and models chosen, logs opened, runs made."""
