"""Prepares a database of Label Studio: ``web_label_studio.py PEOPLE TASKS QUESTIONS OUT.json``.

Which database it is, the environment tells, as it tells the server. A project with questions of
these names (with commas between them), members of its organisation with a token each, and tasks;
OUT holds the tokens and the tasks.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

QUESTION = '<Choices name="{}" toName="text"><Choice value="YES"/><Choice value="NO"/></Choices>'


def main(people: str, tasks: str, questions: str, target: str) -> None:
    """Make everything, and tell of it."""
    folder = Path(import_module("label_studio").__file__ or "").parent
    sys.path.insert(0, str(folder))
    os.environ["DJANGO_SETTINGS_MODULE"] = "core.settings.label_studio"
    import_module("django").setup()
    import_module("django.core.management").call_command("migrate", verbosity=0)
    users = _users(int(people))
    make = import_module("organizations.functions").create_organization
    organization = make("bench", users[0], legacy_api_tokens_enabled=True)
    for one in users[1:]:
        organization.add_user(one)
    for one in users:
        one.active_organization = organization
        one.save()
    asked = "".join(QUESTION.format(one) for one in questions.split(","))
    project = import_module("projects.models").Project.objects.create(
        title="bench",
        label_config=f'<View><Text name="text" value="$text"/>{asked}</View>',
        created_by=users[0],
        organization=organization,
        maximum_annotations=1_000,
    )
    kept = import_module("tasks.models").Task.objects
    texts = [f"Case {at}: my week was long." for at in range(int(tasks))]
    made = [kept.create(data={"text": text}, project=project) for text in texts]
    keys = import_module("rest_framework.authtoken.models").Token.objects
    told = {
        "tokens": [keys.get_or_create(user=one)[0].key for one in users],
        "tasks": [one.id for one in made],
    }
    Path(target).write_text(json.dumps(told), encoding="utf-8")


def _users(number: int) -> list[Any]:
    make = import_module("users.models").User.objects.create_user
    return [make(email=f"r{at:03}@example.org", password=None) for at in range(number)]


if __name__ == "__main__":
    main(*sys.argv[1:])
