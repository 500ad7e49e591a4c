"""promptfoo judges: ``judge_promptfoo.py PROGRAM URL CALLS.jsonl OUT.json CONCURRENCY NUMBER``.

The provider ``echo`` gives back the conversation, so that the only call of a test is that of its
``llm-rubric``. PROGRAM is run as from a shell: its library keeps to four connections whatever it is
told. OUT tells the time that promptfoo says the evaluation took, and how many tests passed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import cycle, islice
from pathlib import Path


def main(program: str, url: str, calls: str, target: str, most: str, number: str) -> None:
    """Write the configuration, run, and read the figures."""
    with Path(calls).open(encoding="utf-8") as file:
        known = [json.loads(line) for line in file]
    grader = {
        "id": "openai:chat:stub",
        "config": {"apiBaseUrl": url, "apiKey": "none", "temperature": 0},
    }
    suite = {
        "prompts": ["{{conversation}}"],
        "providers": ["echo"],
        "defaultTest": {
            "assert": [{"type": "llm-rubric", "value": "{{rule}}", "provider": grader}]
        },
        "tests": [
            {"vars": {"conversation": one["conversation"], "rule": one["rule"]}}
            for one in islice(cycle(known), int(number))
        ],
    }
    config, results = Path(target).with_suffix(".suite.json"), Path(target).with_suffix(".out.json")
    config.write_text(json.dumps(suite), encoding="utf-8")
    command = [program, "eval", "-c", str(config), "-o", str(results), "-j", most]
    quiet = ["--no-cache", "--no-table", "--no-progress-bar", "--no-share"]
    done = subprocess.run(
        [*command, *quiet], capture_output=True, text=True, cwd=config.parent, check=False
    )
    if not results.is_file():  # its status says little: now and then its own log fails at the end
        raise SystemExit(done.stderr[-2000:] or done.stdout[-2000:])
    stats = json.loads(results.read_text(encoding="utf-8"))["results"]["stats"]
    told = {"seconds": stats["durationMs"] / 1000, "answered": stats["successes"]}
    Path(target).write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
