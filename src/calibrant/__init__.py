"""calibrant: evaluation that can be trusted.

    >>> import calibrant
    >>> rubric = calibrant.load_rubric("coaching-conversation")
    >>> answers = {name: "YES" for name in rubric.criterion_ids}
    >>> calibrant.score(rubric, answers | {"CQ6": "NO", "MT4": "NO"}).passed
    True

The names below are the public ones. They are imported when first used, so that importing the
package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calibrant.compare.agreement import AgreementReport
    from calibrant.compare.calibration_report import Calibration
    from calibrant.compare.combined import CombinedReport
    from calibrant.compare.estimate_report import EstimateReport
    from calibrant.compare.judge_trust import JudgeTrust
    from calibrant.compare.quality_report import QualityReport
    from calibrant.compare.raters import RaterReport
    from calibrant.compose import (
        create_study,
        export_study,
        export_tables,
        freeze_report,
        import_study,
        open_study,
        report_study,
        verify_bundle,
    )
    from calibrant.core.diff import RubricDiff, diff_rubrics
    from calibrant.core.errors import (
        CalibrantError,
        Fault,
        RecordError,
        RubricError,
        SourceError,
        StoreError,
        StudyError,
        UnknownName,
        VersionError,
    )
    from calibrant.core.item import Conversation, FreeItem, Item, Plan, Response
    from calibrant.core.rubric import Rubric
    from calibrant.core.scoring import Verdict, score
    from calibrant.formats.calibrating import calibrate_judge
    from calibrant.formats.combining import combine
    from calibrant.formats.estimating import estimate
    from calibrant.formats.frames import CalibrantWarning, score_table
    from calibrant.formats.items import read_items
    from calibrant.formats.mapping_file import apply_mapping, read_mapping, write_mapping
    from calibrant.formats.quality_files import quality
    from calibrant.formats.rater_files import rater_report
    from calibrant.formats.rubric_file import builtin_names, load_rubric, parse_rubric
    from calibrant.formats.score_file import Summary, score_file
    from calibrant.formats.signals import check
    from calibrant.formats.validating import validate_judge
    from calibrant.judging.over_file import judge
    from calibrant.raters.checks.signal import Signal
    from calibrant.report.findings import Findings
    from calibrant.stats.estimate import Estimate
    from calibrant.stats.scorebook import Scorebook
    from calibrant.study.collect import Submission
    from calibrant.study.handle import Study

__version__ = "0.1.0"

_HOME = {
    "AgreementReport": "compare.agreement",
    "CalibrantError": "core.errors",
    "CalibrantWarning": "formats.frames",
    "Calibration": "compare.calibration_report",
    "CombinedReport": "compare.combined",
    "Conversation": "core.item",
    "Estimate": "stats.estimate",
    "EstimateReport": "compare.estimate_report",
    "Fault": "core.errors",
    "Findings": "report.findings",
    "FreeItem": "core.item",
    "Item": "core.item",
    "JudgeTrust": "compare.judge_trust",
    "Plan": "core.item",
    "QualityReport": "compare.quality_report",
    "RaterReport": "compare.raters",
    "RecordError": "core.errors",
    "Response": "core.item",
    "Rubric": "core.rubric",
    "RubricDiff": "core.diff",
    "RubricError": "core.errors",
    "Scorebook": "stats.scorebook",
    "Signal": "raters.checks.signal",
    "SourceError": "core.errors",
    "StoreError": "core.errors",
    "Study": "study.handle",
    "StudyError": "core.errors",
    "Submission": "study.collect",
    "Summary": "formats.score_file",
    "UnknownName": "core.errors",
    "Verdict": "core.scoring",
    "VersionError": "core.errors",
    "agreement": "formats.rating_files",
    "apply_mapping": "formats.mapping_file",
    "builtin_names": "formats.rubric_file",
    "calibrate_judge": "formats.calibrating",
    "check": "formats.signals",
    "combine": "formats.combining",
    "create_study": "compose",
    "diff_rubrics": "core.diff",
    "estimate": "formats.estimating",
    "export_study": "compose",
    "export_tables": "compose",
    "freeze_report": "compose",
    "import_study": "compose",
    "judge": "judging.over_file",
    "load_rubric": "formats.rubric_file",
    "open_study": "compose",
    "parse_rubric": "formats.rubric_file",
    "quality": "formats.quality_files",
    "rater_report": "formats.rater_files",
    "read_items": "formats.items",
    "read_mapping": "formats.mapping_file",
    "report_study": "compose",
    "score": "core.scoring",
    "score_file": "formats.score_file",
    "score_table": "formats.frames",
    "validate_judge": "formats.validating",
    "verify_bundle": "compose",
    "write_mapping": "formats.mapping_file",
}

__all__ = [
    "AgreementReport",
    "CalibrantError",
    "CalibrantWarning",
    "Calibration",
    "CombinedReport",
    "Conversation",
    "Estimate",
    "EstimateReport",
    "Fault",
    "Findings",
    "FreeItem",
    "Item",
    "JudgeTrust",
    "Plan",
    "QualityReport",
    "RaterReport",
    "RecordError",
    "Response",
    "Rubric",
    "RubricDiff",
    "RubricError",
    "Scorebook",
    "Signal",
    "SourceError",
    "StoreError",
    "Study",
    "StudyError",
    "Submission",
    "Summary",
    "UnknownName",
    "Verdict",
    "VersionError",
    "agreement",
    "apply_mapping",
    "builtin_names",
    "calibrate_judge",
    "check",
    "combine",
    "create_study",
    "diff_rubrics",
    "estimate",
    "export_study",
    "export_tables",
    "freeze_report",
    "import_study",
    "judge",
    "load_rubric",
    "open_study",
    "parse_rubric",
    "quality",
    "rater_report",
    "read_items",
    "read_mapping",
    "report_study",
    "score",
    "score_file",
    "score_table",
    "validate_judge",
    "verify_bundle",
    "write_mapping",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'calibrant' has no attribute {name!r}")
    value = getattr(import_module(f"calibrant.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
