"""A study in somebody's hands: every verb there is, as methods.

The verbs themselves stand in the other files of this room, one subject a file; this is where
they are gathered. What an actor may do and see is decided there, whatever face calls.
(In the class below a verb of its module's name comes last: from there on the name is the verb.)
"""

from __future__ import annotations

from calibrant.study import (
    adjudicate,
    admit,
    agree,
    audit,
    case_file,
    claim,
    collect,
    contents,
    discuss,
    flags,
    frozen,
    intake,
    loads,
    members,
    phases,
    place,
    pseudonyms,
    raters,
    recalibrate,
    refine,
    rounds,
    score,
    status,
    table,
    thread,
)
from calibrant.study.session import Session


class Study(Session):
    """A study, for one actor. ``calibrant.open_study`` gives one."""

    __slots__ = ()

    # who and what
    add_member = members.add_member
    set_roles = members.set_roles
    leave = members.leave
    members = members.members
    add_items = intake.add_items
    item = intake.item
    items = intake.items
    whole_items = intake.whole_items
    redact = intake.redact
    # rounds
    plan_round = rounds.plan_round
    extend_round = rounds.extend_round
    blockers = rounds.blockers
    open_round = rounds.open_round
    close_round = rounds.close_round
    drop_round = rounds.drop_round
    rounds = rounds.rounds
    import_ratings = loads.import_ratings
    # rating
    acknowledge = claim.acknowledge
    release = claim.release
    save_draft = claim.save_draft
    duties = claim.duties
    claim = claim.claim
    following = place.following
    waiting = place.waiting
    place = place.place
    submit = collect.submit
    submit_many = collect.submit_many
    correct = collect.correct
    take_up = collect.take_up
    my_ratings = collect.my_ratings
    latest_ratings = collect.latest_ratings
    raise_flag = flags.raise_flag
    decide_flag = flags.decide_flag
    ask = flags.ask
    answer_question = flags.answer_question
    questions = flags.questions
    flags = flags.flags
    # comparing and settling
    ratings = table.ratings
    answers = agree.answers
    agreement = agree.agreement
    rater_report = raters.rater_report
    disputes = discuss.disputes
    discuss = discuss.discuss
    comment = thread.comment
    comments = thread.comments
    case_file = case_file.case_file
    take_step = recalibrate.take_step
    admit_judge = admit.admit
    dismiss_judge = admit.dismiss
    judges = admit.judges
    queue = adjudicate.queue
    no_consensus = adjudicate.no_consensus
    settle = adjudicate.settle
    finals = score.finals
    verdicts = score.verdicts
    # going on
    troubles = refine.troubles
    replay = refine.replay
    rubric = refine.rubric
    versions = refine.versions
    refine = refine.refine
    start_phase = phases.start_phase
    finish_phase = phases.finish_phase
    keep_guidelines = phases.keep_guidelines
    finalise_rubric = phases.finalise_rubric
    check_in = phases.check_in
    check_ins = phases.check_ins
    add_lesson = phases.add_lesson
    lessons = phases.lessons
    phases = phases.phases
    keep_report = frozen.keep_report
    frozen_reports = frozen.frozen_reports
    frozen_report = frozen.frozen_report
    journal = audit.journal
    audit_log = audit.audit_log
    contents = contents.contents
    keep_pseudonyms = pseudonyms.keep_pseudonyms
    progress = status.progress
    status = status.status
