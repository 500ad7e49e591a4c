"""Crisis signals in the user's own words: thoughts of suicide, self-harm, overdose, danger now.

A phrase of the lexicon counts where the user says it of their own present. What is denied, told
of others, of films and work, or of a past that is over, is measured as set aside. Nothing here
says that there is no crisis: where no phrase is found, the check suggests nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from calibrant.raters.checks.alternatives import compiled
from calibrant.raters.checks.conversation_crisis_frames import FRAMES
from calibrant.raters.checks.cues import ASIDE, FOUND, Cues, Stretch, scored, stretches
from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.reading import Hit, Reading
from calibrant.raters.checks.registry import Values, check
from calibrant.raters.checks.signal import Hint, Signal

NAME, LEXICON, CUES = "conversation_crisis", "crisis-en", "crisis-cues-en"
SIGNAL = "crisis_signals"
_WEIGHED = Cues(CUES, "user")

_CLAUSE = re.compile(r"[,;:()\"]|\s-\s|\bbut\b|\bso\b|\band then\b|\bbecause\b|\bexcept\b")
_DENIAL = compiled(
    r"\b(?:not|never|no|without|nor|neither|none|nobody|hardly|stopped|isn't"
    r"|aren't|wasn't|weren't"
    r"|don't|dont|doesn't|doesnt|didn't|didnt|won't|wont|wouldn't|wouldnt"
    r"|haven't|havent|hasn't"
    r"|hadn't|can't|cant|couldn't|shouldn't)\b"
)
_NO_DENIAL = compiled(
    r"\b(?:not sure|don't know|dont know|can't stop|cant stop|couldn't stop"
    r"|not stop|can't help"
    r"|cant help|don't care|dont care|don't plan|dont plan|don't intend|not "
    r"planning|wouldn't care|wouldn't mind|not joking|not kidding|not just"
    r"|not only|why not|don't see why|can't cope|not coping|can't resist|couldn't resist"
    r"|don't trust|can't promise|not promise|no idea|never stop\w*|not want to stop"
    r"|don't want to stop|no one|nobody|can't think of|can't shake|can't get "
    r"rid|can't escape"
    r"|can't tell|not strong enough|don't even|if i don't|if i didn't|not a day|no day"
    r"|never felt so|never wanted|never been so|not far from|not long before"
    r"|no longer scared"
    r"|not afraid|not scared|don't feel safe|haven't had|not be able to stop"
    r"|not the first time)\b"
)
"""Words of denial that deny something else."""
_WITHIN = re.compile(r"\s(?:never|not|didn't|doesn't|hasn't|haven't|wouldn't)\s(?!safe|let|allow)")
"""A denial inside of a frame."""
_DOUBT = re.compile(
    r"(?:n't|\bnt|\bnot|\bno|\bnever|\bno longer|\bnothing|\bdont|\bdoesnt"
    r"|\bcant|\bwont|\bcannot"
    r"|\bstopped|\bhardly|\bbarely|\brather|\bunsure|\bwonder\w*|\bwhy"
    r"|\bwhether|\bquestion\w*"
    r"|\bwithout|\bnobody|\bno one|\bdoubt\w*|\bdont see|\bunable|\btoo \w+"
    r"|\bhow (?:much|do)"
    r"|\bwhat's|\bstruggl\w+|\blost)\b"
)
"""What turns wanting to live into its opposite."""
_OTHERS = compiled(
    r"\b(?:he|he's|he'd|she|she's|she'd|they|they're|they'd|they've|who|who's"
    r"|who'd|people|someone"
    r"|somebody|his|her|their|him|them|patients?|clients?|callers?|students?"
    r"|characters?|teenagers"
    r"|singer|author|hero|heroine|actor|neighbou?r(?:'s)?|colleague(?:'s)?"
    r"|friend(?:'s)?|man|woman"
    r"|boys?|girls?|kids|veterans|farmers|uncle(?:'s)?|aunt(?:'s)?"
    r"|grandad(?:'s)?|grandfather(?:'s)?"
    r"|brother(?:'s)?|sister(?:'s)?|dad(?:'s)?|father(?:'s)?|mum(?:'s)?"
    r"|mom(?:'s)?|mother(?:'s)?"
    r"|cousin(?:'s)?|nan(?:'s)?|gran(?:'s)?|boss(?:'s)?|son(?:'s)?"
    r"|daughter(?:'s)?|husband(?:'s)?"
    r"|wife(?:'s)?|partner(?:'s)?|ex(?:'s)?|classmate(?:'s)?|teacher(?:'s)?|you)\b"
)
_ME = re.compile(r"\b(?:i|i'm|im|i've|ive|i'd|i'll|me|my|myself|mine)\b")
_STORY = compiled(
    r"\b(?:film|movie|book|novel|series|episode|documentary|podcast|essay"
    r"|dissertation|thesis"
    r"|lecture|course|training|module|character|play|song|lyrics?|news|article"
    r"|story|plot|script"
    r"|drama|soap|show|game|seminar|workshop|research|study|statistics|stats"
    r"|report|paper|exam"
    r"|degree|job|shift|helpline|hotline|charity|volunteer\w*|campaign"
    r"|awareness|policy|poem|opera"
    r"|musical|scene|chapter|memoir|biography|assembly|leaflet|hashtag"
    r"|headline|crime|thriller"
    r"|placement|ward|hamlet|juliet|prevention|first aid|case study)\b"
)
_PAST = compiled(
    r"\b(?:used to|years ago|years back|a decade ago|decades ago|long ago"
    r"|long time ago|back then"
    r"|in the past|in my (?:teens|twenties|thirties|past|youth|childhood|early"
    r"|late|first year)"
    r"|when i was (?:\d+|\w+teen|twelve|eleven|ten|nine|eight|seven|six|five"
    r"|twenty\S*|younger"
    r"|young|little|small|a \w+|at (?:school|uni|university|college)|in "
    r"(?:school|my|sixth))"
    r"|as a (?:kid|child|teenager|teen|student|boy|girl|young)|growing up"
    r"|grew up|my (?:first|former) (?:marriage|husband"
    r"|wife|partner)|my ex-(?:husband|wife)"
    r"|in (?:19|20)\d\d|at uni|at school|(?:months?|years?) ago|my childhood)\b"
)
_OVER = re.compile(
    r"\b(?:haven't|havent|hasn't|not once|never again|made my peace|over it"
    r"|behind me|recovered"
    r"|in recovery|got help|left him|left her|he's gone|moved on|safe now"
    r"|better now|fine now"
    r"|well now|okay now|ok now|good place|long gone|don't any more|don't "
    r"anymore|no longer|since then"
    r"|clean for|years clean|free of|far from|came through|got through|got out"
    r"|grateful|glad i"
    r"|thankful|happy now|proud|years since|therapy helped|not now|not any "
    r"more|not anymore|stopped"
    r"|in a (?:really |much |very )?(?:good|better|different) place|divorced"
    r"|in prison|passed away|died|dead now|stable now|healed|(?:two|three|four"
    r"|five|six|"
    r"seven|eight|nine|ten|twelve|fifteen|twenty|\d+) years (?:on|later|free"
    r"|now|sober|well))\b(?: now)?"
)
_AGAIN = re.compile(
    r"\b(?:again|now|tonight|still|lately|this (?:week|month|morning|time)"
    r"|com(?:e|ing) back"
    r"|(?:is|are|it's|they're|came) back|recently|these days|relapsed?|today"
    r"|last night|yesterday"
    r"|return(?:ed|ing|s)?|want to (?:again|now)|tempted|this year|every night"
    r"|all the time)\b"
)
_NOT_MEANT = re.compile(
    r"end(?:ing)? (?:it|things|everything) (?:with|between|by|on|amicabl|there"
    r"|early|before)"
    r"|(?:disappear|vanish)\w* (?:to|for|into|on|off)\b|(?:scared|afraid"
    r"|frightened) of (?:him|her|them)"
    r" (?:leav|dying|not|gett|being|fail|mov|find)|beat (?:me|us) (?:at|to|by"
    r"|in)\b|pushed me (?:to|out of)"
    r"|(?:threw|throws|throwing) (?:the|a) (?:ball|frisbee|party|stick"
    r"|snowball|towel)|kicked (?:me )?off"
    r"|living (?:room|with|in|at|on|costs?|here|there|alone|abroad|together"
    r"|out of)|cost of living"
    r"|(?:\bearn\w*|make|making|for) a living|living (?:near|like|my best)|wake "
    r"up (?:early|at|late|to my|before)"
    r"|waking up (?:at|early|late|before)|dying (?:to|for)\b|hit (?:me|us) "
    r"(?:that|how|like|with)|glass of"
    r"|waiting for|commut\w+|sunset|the view|concert|nosebleed|gums|period"
    r"|blood (?:donor|donat\w+|orange)"
    r"|bleeding (?:edge|heart|money)|smok\w+|cigarett\w+|sugar|chocolate"
    r"|woken up (?:by|at|in)|wake up (?:call|in time)"
    r"|platform (?:shoe|for|game|work)|no longer (?:work|want to be friends"
    r"|interested)|my last job"
    r"|existing (?:customer|client|contract|plan|job|team)|hot water|by "
    r"accident|accidentally|cooking"
    r"|chopping|oven|shaving|garden\w*|the pan\b|kettle|stairs? in my|heavy "
    r"box|flat tyre|workout|the gym"
)
"""Words around a frame by which it says something else."""
_PERSON = compiled(
    r"\b(?:he|she|they|he's|she's|they've|he'd|she'd|hes|shes|who|someone"
    r"|somebody|guy|man|woman"
    r"|husband|wife|partner|boyfriend|girlfriend|ex|dad|father|mum|mom|mother"
    r"|step\w+|brother"
    r"|sister|son|daughter|uncle|flatmate|housemate|landlord|fianc\S+|bf|gf"
    r"|hubby|carer|parents"
    r"|family|boss|neighbou?r|in-laws?)\b"
)
_THING = compiled(
    r"\b(?:it|that|this|which|news|reality|truth|realisation|realization|grief"
    r"|loss|wave|tiredness"
    r"|exhaustion|heat|cold|smell|bills?|panic|anxiety|guilt|sadness"
    r"|everything|thought|memory"
    r"|words?|feet|shoes|back|stress|lockdown|recession|storm|ball|flu|virus"
    r"|pollen|comments?)\b"
)
_SCENE = re.compile(
    r"\b(?:dreamt|dreamed|nightmare|in the (?:game|match|ring)|sparring|boxing|judo)\b"
)


@check(
    name=NAME,
    version="1.0",
    kinds=("conversation",),
    criteria=("CQ9",),
    lexicons=(LEXICON, CUES),
    reads="reading",
)
def conversation_crisis(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Finds signs of a crisis in the user's words; denials, idioms and stories are set aside."""
    messages = reading.of("user")
    outside = reading.uncovered(messages)
    given = _by_rules(reading)
    raised = scored(reading, _WEIGHED, given)
    counted = _apart(sorted((hit for one in raised for hit in one.hits), key=_place))
    left = f"{len(outside)} messages in a language not covered" if outside else ""
    if outside and not counted:
        yield Signal(NAME, SIGNAL, criterion="CQ9", not_measured=NOT_COVERED, note=left)
        return
    aside = sum(hit.label == ASIDE for hit in given)
    told = f"{aside} set aside as denied, reported, past or idiom" if aside else ""
    yield Signal(
        NAME,
        SIGNAL,
        measured=len(counted),
        threshold=">= 1",
        exceeded=bool(counted),
        criterion="CQ9",
        spans=tuple(hit.span for hit in counted),
        suggestion=Hint("CQ9", "the user's words hold signs of a crisis: this is not NA")
        if counted
        else None,
        note="; ".join(one for one in (told, left) if one),
    )


def _place(hit: Hit) -> tuple[int, int, int]:
    return hit.part.index, hit.start, hit.end


def weighed(reading: Reading) -> Iterator[Stretch]:
    """The sentences of the user that hold a cue, as they are weighed."""
    return stretches(reading, _WEIGHED, _by_rules(reading))


def _by_rules(reading: Reading) -> list[Hit]:
    """What the phrases and frames find, as cues: found, or set aside."""
    found = reading.hits(LEXICON, "user")
    hits = _merged(found, reading) if found else []
    return [
        hit._replace(label=FOUND if is_own_and_present(reading, hit) else ASIDE) for hit in hits
    ]


def _merged(found: Iterable[Hit], reading: Reading) -> list[Hit]:
    """Phrases of the lexicon, and what a closer look at the sentences finds beside them."""
    hits = [hit for hit in found if hit.label not in FRAMES]
    looked: set[tuple[int, int, str]] = set()
    for hit in found:
        if hit.label not in FRAMES:
            continue
        start, end = reading.sentence_at(hit.part, hit.start)
        place = (hit.part.index, start, hit.label)
        if place in looked:
            continue
        looked.add(place)
        low = reading.low(hit.part)
        for label, frame in FRAMES[hit.label]:
            for match in frame.finditer(low, start, end):
                hits.append(Hit(hit.part, match.start(), match.end(), label, -1))
    return sorted(hits, key=lambda hit: (hit.part.index, hit.start, hit.end))


def _apart(hits: Iterable[Hit]) -> list[Hit]:
    """Of hits that overlap, the first."""
    out: list[Hit] = []
    for hit in hits:
        if not out or out[-1].part.index != hit.part.index or out[-1].end <= hit.start:
            out.append(hit)
    return out


def is_own_and_present(reading: Reading, hit: Hit) -> bool:
    """Whether a phrase is said by the user of themselves and of now."""
    low = reading.low(hit.part)
    start, end = reading.sentence_at(hit.part, hit.start)
    before, after = low[start : hit.start], low[hit.end : end]
    clause = _CLAUSE.split(before)[-1]
    if hit.label == "unwanted":
        if not _DOUBT.search(clause[-60:]):
            return False
    elif (hit.label != "regardless" and _denied(clause)) or (
        hit.entry < 0 and hit.label != "ideation" and _WITHIN.search(hit.text)
    ):
        return False
    if hit.entry < 0 and _NOT_MEANT.search(low, max(start, hit.start - 25), min(end, hit.end + 25)):
        return False
    if hit.label == "struck" and not _by_a_person(before, clause):
        return False
    return not (
        _of_others(hit, before, after)
        or _in_a_story(hit, low[start:end], before)
        or _is_over(low, start, end)
    )


def _denied(clause: str) -> bool:
    """Whether the words before a phrase deny it, and not something else."""
    near = " ".join(clause.split()[-7:])
    return bool(_DENIAL.search(_NO_DENIAL.sub(" ", near)))


def _by_a_person(before: str, clause: str) -> bool:
    near = " ".join(clause.split()[-5:])
    if _THING.search(near):
        return False
    return bool(_PERSON.search(before)) or not near


def _of_others(hit: Hit, before: str, after: str) -> bool:
    """Whether the phrase, which has no person of its own, is said of somebody else."""
    if hit.label in ("danger", "struck") or _ME.search(hit.text.lower()):
        return False
    nearest, own = _last(_OTHERS, before), _last(_ME, before)
    if nearest >= 0 and own < nearest:
        return True
    return own < 0 and hit.label == "suicide" and not _ME.search(after)


def _last(pattern: re.Pattern[str], text: str) -> int:
    """Where the last match begins, or -1."""
    return max((found.start() for found in pattern.finditer(text)), default=-1)


def _in_a_story(hit: Hit, sentence: str, before: str) -> bool:
    """Whether a film, a book, work or study is what the sentence is about."""
    if _SCENE.search(before):
        return True
    if not _STORY.search(sentence):
        return False
    quoted = before.count('"') % 2 == 1
    return quoted or hit.label == "suicide" or not _ME.search(hit.text.lower() + before[-12:])


def _is_over(low: str, start: int, end: int) -> bool:
    """Whether the sentence tells of a time that is over, and nothing brings it to the present."""
    sentence = low[start:end]
    past = _PAST.search(sentence)
    if past is None:
        return False
    told = low[start : end + 160]
    if _AGAIN.search(_OVER.sub(" ", told)):
        return False
    return bool(_OVER.search(told)) or past.group() in ("used to", "growing up", "grew up")
