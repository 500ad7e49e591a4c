"""A rubric as the YAML that people edit: what a document states, in its own order."""

from __future__ import annotations

from typing import Any

import yaml

from calibrant.core.rubric import Rubric

WIDTH = 100


class _Dumper(yaml.SafeDumper):
    """Writes what rubric files understand: nothing stated is ``none``, lists are indented."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Lists stand below their key, as in the rubrics that come with calibrant."""
        super().increase_indent(flow, False)


def _none(dumper: yaml.SafeDumper, value: Any) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", "none")


_Dumper.add_representer(type(None), _none)


def rubric_yaml(rubric: Rubric) -> str:
    """The document as text that ``parse_rubric`` reads back to the same content."""
    stated = rubric.model_dump(mode="json", exclude_defaults=True)
    return yaml.dump(stated, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDTH)
