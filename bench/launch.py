"""Runs one command and tells what it took: ``launch.py LIMIT COMMAND…``; LIMIT 0 is none.

A process starts with the peak memory of the one that started it. This one is small, so that
what it reports is the command's own. LIMIT is in bytes and holds for the memory a process may
write to (RLIMIT_DATA): heap, stacks and anonymous maps, but not files mapped for reading.
"""

import json
import os
import resource
import signal
import sys
import time


def start(limit: int, command: list[str]) -> int:
    """The process id of the command, whose output goes nowhere and whose errors come here."""
    child = os.fork()
    if child:
        return child
    try:
        if limit:
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execv(command[0], command)
    finally:
        os._exit(127)


def main(limit: str, *command: str) -> None:
    """Print wall time, processor time, peak memory and exit status as JSON."""
    before = time.perf_counter()
    child = start(int(limit), list(command))
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGKILL))
    _, status, usage = os.wait4(child, 0)
    report = {
        "seconds": time.perf_counter() - before,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak": usage.ru_maxrss * 1024,
        "status": os.waitstatus_to_exitcode(status),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main(*sys.argv[1:])
