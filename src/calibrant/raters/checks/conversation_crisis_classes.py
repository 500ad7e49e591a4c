"""Crises told by classes of words: who, does what, to whom or with what.

Where `conversation_crisis_frames` knows turns of speech, this knows classes: medicines and amounts,
means, high places, people at home, blows, and the ways to say that one will not be there. What
could be said of any ordinary matter is `soft`, and counts only where no such matter is named.
"""

from __future__ import annotations

import re

_G = r"[^.!?\n]{0,%d}"
_END = r" ?(?:[.,;!?\n]|$)"
"""Where a clause ends: what stands there has no object of its own."""


def _frame(*pieces: str | int) -> str:
    return "".join(_G % one if isinstance(one, int) else rf"\b(?:{one})\b" for one in pieces)


def _any(*frames: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(frames)})")


_NOT = (
    "not|never|n't|don't|dont|won't|wont|can't|cant|cannot|couldn't|doubt|didn't|wouldn't|unlikely"
)
_WANT = (
    "want|wants|wanted|wnat|wnt|wan|wanna|wana|wish|need|like|love|long|longing|ready|going|gonna"
    "|gunna|plan|planning|planned|tempted|urge|urges|will|i'll|ill|hoping|intend|meaning|tried"
    "|trying|try|tries|about"
)
_MYSELF = "myself|myslef|mysef|my self|myelf|mysel|mself|meself"
_SOON = (
    "tonight|tonite|2nite|tnite|today|tomorrow|tmrw|tmr|tomoz|2moro|now|rn|soon|this week"
    "|this weekend|last night|yesterday|again|this time"
    "|on (?:mon|tues|wednes|thurs|fri|satur|sun)day"
)
_DRUG = (
    "pills?|tablets?|meds|medication|capsules|paracetamols?|tylenol|acetaminophen|ibuprofens?"
    "|aspirins?|codeine|co-codamol|tramadol|morphine|oxy\\w*|fentanyl|heroin|xanax|valium"
    "|diazepam|lorazepam|benzos?|zopiclone|ambien|amitriptyline|sertraline|fluoxetine|prozac"
    "|zoloft|citalopram|propranolol|quetiapine|lithium|metformin|insulin|antidepressants?"
    "|painkillers?|sleepers|beta blockers|warfarin|advil|nurofen|benadryl|blood thinners"
)
_MUCH = (
    "\\d\\d+|ten|twelve|fifteen|sixteen|eighteen|twenty|thirty|forty|fifty|sixty|hundred|dozens?"
    "|handfuls?|fistful|a lot|lots|loads|load|all|too many|too much|whole|entire|packets?|packs?"
    "|boxes|bottles?|strips?|sheets?|double|triple|rest of|bunch|more than|every|everything"
)
_MEANS = (
    "rope|noose|ligature|knots?|shotgun|pistol|gun|handgun|rifle|revolver|beam|hosepipe|cord"
    "|scarf|belt|plastic bag|bag over|razor|blades?|scalpel|knife|charcoal|helium|weapon"
)
_HIGH = (
    "bridge|roof|rooftop|ledge|tracks|cliffs?|railings?|overpass|flyover|reservoir|canal|river"
    "|weir|quarry|viaduct|multi-?storey|balcony|barrier|parapet|platform|edge|window ?sill|pier"
    "|train line|railway|top floor"
)
_DEAD = "die|dying|dead|death|grave|coffin|corpse"
_HOME = (
    "he|she|he's|she's|hes|shes|he'll|she'll|he'd|she'd|they|they've|husband|wife|partner"
    "|boyfriend|girlfriend|fianc\\w+|bf|gf|dad|daddy|father|mum|mom|mother|mam|step\\w+|ex"
    "|brother|sister|son|daughter|uncle|cousin|grandad|flatmate|housemate|roommate|landlord"
    "|carer|in-laws|parents|family|man|guy|someone|somebody|neighbou?r|hubby|missus"
)
_BLOW = (
    "hits?|hitting|beats?|beaten|beating|punch\\w*|slap\\w*|kick\\w*|chok\\w+|strangl\\w+|shov\\w+"
    "|push(?:es|ed|ing)|drag\\w*|slam\\w*|smash\\w*|grab\\w*|bit|bites|biting|burn\\w*|stab\\w*"
    "|throttl\\w+|headbutt\\w*|whack\\w*|batter\\w*|thump\\w*|attack\\w*|assault\\w*|threw|throws"
    "|hurts?|hurting|whip\\w*|lashes|belts?|pinned|pins|bash\\w*|knock\\w*|spat|spits|squeez\\w+"
    "|grip\\w*|crush\\w*|twist\\w*|scratch\\w*|shak(?:es|en|ing)|shook"
)
_US = (
    "me|us|my (?:\\w+ )?(?:face|head|arm|arms|hand|wrist|ribs?|neck|throat|stomach|legs?|hair"
    "|jaw|nose|back|son|daughter|kids|baby|brother|sister|children|child|mum|mom)"
    "|the (?:kids|baby|children)|our (?:son|daughter|kids|baby|children)"
)
_SURVIVORS = (
    "they|they'd|they'll|everyone|everyone's|everybody|everybody's|family|parents|kids|children"
    "|mum|mom|dad|husband|wife|partner|friends|people|world|she|he|she'd|he'd|life|lives|it'd|it"
)

WISH = _any(
    _frame("reasons?", 4, "not to", 1, "do it|die|end|jump|go|cut|take|kill\\w*"),
    _frame("tonight|today|tomorrow|this|it", 6, "(?:might|could|may|will|'ll|is) (?:be )?my last")
    + _END,
    _frame("my (?:own )?(?:dead )?body|me", 4, "on the tracks|hanging|in the river|in a coffin"),
    _frame(
        "i want|i wish|want|wish|need", 3, "my (?:own )?life", 10, "over|end|ended|finished|done"
    ),
    _frame("hop(?:e|ing)|wish\\w*|pray\\w*", 6, "i", 1, "don't|dont|never|won't|didn't|do not", 1)
    + _frame("make it|wake|get through|survive|come round|survived|come back|recover"),
    _frame(
        "wish|if only|shame|pity", 30, "never come round|not come round|gone wrong|not survived"
    ),
    _frame("pull|urge|impulse|temptation|tempted|want\\w*|voice", 6, "to", 4)
    + _frame("walk|step|jump|drive|run|throw|swerve|lie|fall", 12)
    + _frame("traffic|road|tracks|off|in front|water|under|over the|trains?|bridge"),
    _frame(_NOT, 12, "way|reason|point|how", 10, "stay alive|keep living|stay living|remain alive"),
    _frame("danger|risk|threat", 1, "to", 1, f"(?:{_MYSELF})"),
    _frame("say\\w*|said", 5, "bye|goodbye|goodbyes", 30, "for good|for ever|forever|last time"),
    _frame("future|next year|plans?", 40, "not going to be (?:in it|there|here|alive|around)"),
    _frame("one of us|i'll|i'm|i will", 16, "(?:end|ending|wind|wound|be) (?:up )?dead"),
    _frame("nearly|almost|about", 1, "time (?:for me )?(?:to go|to leave)|my time"),
    _frame("on the edge", 20, "literally|right now|help|can't|hold"),
    _frame(_WANT, 14, "die|kill|unalive|end|hang|drown|hurt|cut|off|harm", 1, _MYSELF),
    _frame("(?:want|wants|wanted|wnat|wnt|wanna|wana|wan)", 10, "to+|2|", 6, "die")
    + r"(?! (?:of|laughing|on the hill))",
    _frame(_WANT, 10, "end|ending|finish", 1, "it|this|things|everything|it all")
    + rf"(?:{_END}| (?:all )?(?:{_SOON})\b)",
    _frame("envy|envious of|jealous of", 30, _DEAD),
    _frame("death|dying|being dead|suicide", 12, "(?:on|in|round|around) my (?:mind|head)"),
    _frame("annoyed|angry|disappoint\\w*|gutted|upset|sad|hate|sorry|resent\\w*|wish|ashamed", 22)
    + _frame("still|woke|wake|waking", 4, "breathing|alive|here|up|to be alive"),
    _frame("easier|better|kinder|cheaper|simpler", 25, "bury me|to lose me|to let me go|than me"),
    _frame("instructions|plans?|songs?|music|readings?", 10, "for", 4, "my|the", 1, "funeral"),
    _frame("future|world|life|lives|picture", 8, "with(?:out)? me in it|without me|i'm not in"),
    _frame(
        "sleep|asleep|lie down|bed", 12, "never|not|n", 4, "never|get up|wake|come back|wake up"
    ),
    _frame("scared|afraid|worried|frightened|terrified", 12, "act on|do it|do something|give in"),
    _frame("know|tell|say|trust", 6, "what (?:i'll|i will|i'd|i might|i would|i could) do", 20)
    + _frame("alone|myself|left|tonight|next|on my own"),
    _frame(_NOT, 12, "deserve", 1, "to (?:breathe|live|exist|be here|be alive)|life|air"),
    _frame("kids|children|boys|girls|family|son|daughter|he|she|they", 14)
    + _frame("happier|better|deserve\\w*|safer|fine", 10)
    + _frame(
        "a (?:new|different|better|real|proper) (?:mum|mom|dad|mother|father|wife|husband)"
        "|a (?:mother|father|mum|dad) who|someone else|than me"
    ),
    _frame("if i (?:got|get|was|were|am)", 4, "hit|run over|killed|shot|knocked|in a crash", 25)
    + _frame("grateful|fine|relie\\w+|care|mind|okay|glad|thankful|happy|better|bother\\w*"),
    _frame("i know|decided|chosen|picked|found", 3, "which|what|where|the|a", 1)
    + _frame(
        "train|tree|bridge|spot|pills|method|cliff", 6, "i'd|i'll|i would|to use|to do|for it"
    ),
    _frame(_NOT, 6, "intend|plan|planning|expect|mean|meant", 5, "be|being", 1)
    + _frame("here|around|alive"),
    _frame("death|dying|being dead", 10, "all i think|don't scare|doesn't scare|would be a"),
    _frame("worth more|of more use|more useful|worth a lot more", 18, "dead"),
    _frame(
        "pray\\w*|god|lord|begg?\\w*|hop(?:e|ing)|wish\\w*|he|something|someone",
        30,
        "(?:takes?|took|calls?) me (?:home|away|in my sleep|now|soon|out)|to take me",
    ),
    _frame("mercy|blessing|relief|lucky|kindness|favour|nice|fine|okay|glad", 22, "if", 12)
    + _frame("heart|illness|i died|i never|something happened|i got", 20, "\\w+"),
    _frame(
        "fantasi\\w+|daydream\\w*|imagin\\w+|think\\w*|thoughts?|pictur\\w+|urges?|dream\\w*",
        18,
        "crash\\w* (?:my|the) (?:car|bike|van)|steer\\w*|swerv\\w*|(?:driv\\w+|walk\\w+|step\\w+"
        "|jump\\w*|turn\\w*) (?:the wheel )?(?:into|off|in front|out of|under)|drowning|hanging",
    ),
    _frame(
        "(?:only|one|main|sole)",
        1,
        "thing|reason|reasons|person|one",
        30,
        "keep(?:s|ing) me (?:alive|here|going|from)|stop(?:s|ping|ped) me"
        "|(?:i )?(?:haven't|havent|didn't|not) (?:done|do|doing|gone|ended|jumped)"
        "|hold(?:s|ing) me (?:here|back from)",
    ),
    _frame("if it (?:weren't|wasn't|werent|wasnt|were not|was not) for", 30)
    + _frame("gone|dead|done it|not be (?:here|alive)|wouldn't be (?:here|alive)|ended"),
    _frame("bury|buried|cremated|funeral|ashes|gravestone|headstone", 25, "i want|i'd like|me in"),
    _frame("i want|i'd like|i", 14, "to be buried|be buried|be cremated|my ashes|at my funeral"),
    _frame("want|wish|just|like", 22, "(?:go|goes|went|be) (?:all )?(?:black|dark|blank|nothing)"),
    _frame("want|wants|wanted|wish|like|going", 8)
    + _frame("be with|go to|join|follow", 1, "my \\w+|him|her|them", 30)
    + _frame("died|dead|passed|heaven|grave|beyond|other side|up there|gone"),
    _frame("way out|option|choice|answer|solution|thing left|escape", 8, "is|was|left is|would be")
    + _frame("", 6, "die|death|dying|suicide|end it|kill\\w*|dead|gone"),
    _frame(_NOT, 10, "live (?:with (?:it|this|myself|what|the)|without (?:him|her|them|my))"),
    _frame(
        "note|notes|letters?", 14, "(?:for|in case|to) (?:when|after|them to find|i'm gone|find)"
    ),
    _frame("made (?:my )?peace with", 6, "it|dying|death|going|leaving|that|god") + _END,
    _frame("tried|attempt\\w*|try", 4, "to do it|to end|to go", 30, f"{_SOON}|woke|sick|failed"),
    _frame("my|an|second|third|another|last|latest", 5, "(?:attempt|overdose)")
    + r"(?! (?:at|on|to)\b)"
    + _frame("", 30, f"{_SOON}|failed|weekend|hospital|a&e|nobody|month|er|week|i'm"),
    _frame("(?:a&e|hospital|er|icu|resus)", 30, "attempt|overdose|i tried|i took"),
    _frame("rang|called|phoned|texted|ring|calling|spoke to", 6)
    + _frame("samaritans|crisis (?:line|team|text line)|988|lifeline|suicide hotline"),
    _frame("was|that was|is|i", 3, "a lie|lied|lying", 30, "suicid\\w*|self.?harm\\w*"),
    _frame("suicid\\w*|self.?harm\\w*", 25, "a lie|lied|lying"),
)
ABSENT = _any(
    _frame("i|i'll|i'd|i'm|ill|im", 16, _NOT, 16)
    + _frame("see|last|survive|make it|get through|reach|live", 6)
    + _frame(
        "(?:the|to|till|until|through|past|my|another|this|next|much)",
        14,
        "night|tonight|spring|summer|autumn|winter|christmas|birthday|new year|morning|weekend"
        "|week|longer|tomorrow",
    ),
    _frame(_NOT, 10, "get through|make it through|survive|last|be okay|manage", 1, "tonight"),
    _frame("i|i'll|i'd", 12, _NOT, 10, "be|being|picture being|see myself", 4)
    + _frame("around|here|alive", 4)
    + _frame("for (?:them|it|any of (?:it|that|this))|by|any ?more|anymore|to see|much longer"),
    _frame("there (?:won't|wont|will not) be (?:a|any|another)", 8)
    + _frame("next|time|session|tomorrow|me|future", 12, "for me|me|any more|anymore"),
    _frame(_NOT, 6, "be (?:writing|messaging|texting|talking|bothering|logging|contacting)", 14)
    + _frame("again|any ?more|anymore|you"),
    _frame("i|i'm|i'll|plan|planning|plans|going", 50, _NOT, 10)
    + _frame("com(?:e|ing) (?:back|home)|driv\\w+ (?:home|back)|return\\w*")
    + rf"(?:{_END}| from (?:it|there)\b)",
    _frame("(?:my|the|it's|a|be the|is the) last time", 3, "i|i'll|they|they'll|you|you'll|we")
    + _frame("", 2, "see|hold|hug|talk|speak|hear|ever"),
    _frame("know|knows|realise", 8, "(?:it's|it is|it was|this is) the last time"),
    _frame("(?:gave|giv(?:e|en|ing)|hand(?:ed|ing)|pass(?:ed|ing)|left)", 50)
    + _frame("(?:i )?(?:won't|wont|don't|will not) (?:be )?need(?:ing)?|where i'm going|not here"),
    _frame("so (?:that )?(?:nobody|no one|they|she|he|my \\w+)", 3)
    + _frame("has|have|won't have|doesn't have|don't have", 3, "to", 20)
    + _frame("after|afterwards|clean up|find (?:me|my body)|deal with it|when i'm"),
    _frame(_SURVIVORS, 14, "would|'d|will|'ll|could|can", 24)
    + _frame(
        "free|recover\\w*|relieved|move on|cope|better|simpler|easier|happier|cheaper|fine|calmer"
        "|rest|peace",
        16,
        "if i (?:just )?(?:went|was|were|wasn't|weren't|left|died|stopped|did)|once i|with me"
        "|without me|me (?:out|gone|dead|not)|when i'm",
    )
    + r"(?! (?:on|for (?:a|two|three)|at|as|there|in the (?:room|team|office))\b)",
    _frame("cry|sad|upset|grieve|hurt|mourn", 12, "for a (?:week|bit|while|month)|at first")
    + _frame("", 12, "then|but|and", 12, "relieved|over it|fine|better|free|move on|forget"),
    _frame("drain|burden|weight|strain|dead weight|millstone|curse|leech", 4, "on|to|for|round")
    + _frame("", 3, "everyone|everybody|them|my \\w+|people|others|all|you|society|the family"),
    _frame("how long (?:it'd be |it would be |it would take |it'd take )?(?:before|until|till|for)")
    + _frame("", 4, "they|anyone|anybody|someone|somebody|people", 10, "find|found|notice\\w*"),
    _frame("nothing (?:is )?(?:stopping|to stop|keeping|holding) me"),
    _frame("if|when", 3, "car|bus|lorry|truck|train|van", 12, "at me|hit me|came", 30, "move|care"),
    _frame("cross\\w*|walk\\w*|drov?e|driv\\w+|step\\w*", 40)
    + _frame(
        "(?:not|n't|didn't|don't|without|hardly) (?:even )?(?:car\\w+|look\\w*) (?:what|if|and)"
    ),
    _frame("bed|sleep|asleep|night", 45, "maybe|perhaps|hope|hoping", 5, "i", 1, _NOT)
    + _frame("", 3, "get up|wake|come back|be there"),
)
SOFT = _any(
    _frame("(?:it's|it is|its|this is|it's all) (?:all )?(?:over|it|the end) for me"),
    _frame("i've given up|i have given up|ive given up|i give up|i am done|i'm done|im done")
    + r" ?(?:\.|!|$)",
    _frame("nothing (?:anyone|anybody|you|they) can (?:do|say)|no one can help me|nobody can help"),
    _frame("i", 8, "want out|wanted out|wants out") + _END,
    _frame("i'm|im|i am", 6, "ready to go|ready to leave|ready for it") + _END,
    _frame("(?:now )?i can (?:finally )?(?:go|leave|rest)") + _END,
    _frame("decision|decided|made up my mind", 30, "calm\\w*|peace\\w*|relie\\w+|lighter|serene"),
    _frame(
        "calm\\w*|peace\\w*|relie\\w+|lighter|serene", 30, "decision|i've decided|made up my mind"
    )
    + _END,
    _frame("want|like|wish|need", 1, "it|this|everything|all of it|it all", 1)
    + _frame("(?:all )?(?:to be|was|were)", 1, "done|over|finished|through|gone")
    + _END,
    _frame("letters?|cards?|videos?", 4, "to|for", 8, "my|the", 1)
    + _frame("boys|girls|kids|children|son|daughter|wife|husband|mum|mom|parents", 30)
    + _frame("seal\\w*|after|hid\\w*|drawer|when|find|last night|later|grow\\w*|birthdays?"),
    _frame("no fight left|nothing left in me|no fight in me|lived (?:long|too long|enough)"),
    _frame("only", 4, "staying|hanging on|holding on|around|hanging in", 4, "for|because"),
    _frame("wr(?:ite|ote|itten|iting)", 3, "a|the|my|some|that", 8, "notes?") + _END,
    _frame("join my (?:late )?(?:husband|wife|son|daughter|mum|mom|dad|brother|sister|baby)")
    + _END,
    _frame("(?:i'll|i will|i'd|i)", 1, "go too|follow (?:him|her|them)") + _END,
    _frame("there's|there is", 2, "no way i(?:'m| can| will|'ll)?", 12, "living|survi\\w+|go on"),
    _frame("i'm|im|i am|going to|gonna|then|will", 4, "end(?:ing)? (?:things|everything)") + _END,
    _frame("everything i need|all i need|what i need", 40, "decide when|just need|only need|ready"),
    _frame(
        "passwords?|bank details|pin|account details|keys", 40, "in case|not here|so (?:she|he)"
    ),
)
BODY = _any(
    _frame("i|i've|ive|just", 6, "slit|sliced|slashed|carved|gouged|stabbed|gashed|burnt|burned", 1)
    + _frame("my|myself"),
    _frame(
        "my (?:wrists?|arms?|thighs?|legs?|cuts?)", 8, "hurts?|stings?|sore|throb\\w*|bleed\\w*", 8
    )
    + _frame("last night|again|i did|what i did|under my sleeves?"),
    _frame("harder|hard|struggl\\w+|difficult|impossible|try\\w*|fighting", 8, "not to|not", 1)
    + _frame("cut|hurt myself|cutting|relapse|relapsing|do it|self.?harm\\w*|give in|act on it"),
    _frame("need\\w*|should have|probably needs?", 4, "stitches|stitching|a doctor", 14)
    + _frame("not going|won't go|can't go|but|scared|don't want"),
    _frame("took|taken|swallow\\w*|had|necked|downed|popped|inject\\w*", 12)
    + _frame(_MUCH, 24, _DRUG),
    _frame("took|taken|swallowed|necked|downed", 3, "them all|all of them|the lot|everything i"),
    _frame(_MUCH, 14, _DRUG, 20, "next to me|in front of me|in my (?:hand|bag|drawer)|beside me"),
    _frame("hoard\\w*|stockpil\\w*|sav(?:ed|ing)(?: up)?|stash\\w*|collect\\w+|hid\\w*", 16, _DRUG),
    _frame("how many|how much|what dose|enough|lethal dose", 12, _DRUG)
    + _frame("", 25, "tak\\w+|kill|die|do it|not wake|finish|end|fatal|would it"),
    _frame("have|got|i've", 3, "the|enough", 2, "pills|tablets|rope|gun|blades?|means") + _END,
    _frame("i|i've|ive|i'm|my|there's|there is|practi[sc]\\w+|with", 30, _MEANS)
    + _frame(
        "",
        40,
        "in (?:the|my) (?:boot|trunk|garage|loft|attic|shed|wardrobe|car|mouth|drawer|cupboard)"
        "|under (?:the|my) (?:bed|pillow|mattress)|can't stop|looking at|stare|staring|put it away"
        "|for a long time|to see what|to the door|don't know what to do|hold|feels like|ready"
        "|next to me|keep thinking|over my (?:head|face)|because of me|from me",
    ),
    _frame("load(?:ed|ing)?|tied|tying|held|hold\\w*|bought|clean\\w*|look\\w*|read\\w*", 22)
    + _frame("gun|pistol|shotgun|rifle|revolver|noose|ligature|scarf|beam|knots?|razor|blade")
    + _frame("", 40, "last night|door|scared|hold|for a long time|then|mouth|away|tonight|again"),
    _frame(
        "which|what", 5, "knots?|drop|height|dose|method|beam", 12, "holds?|works?|kills?|enough"
    ),
    _frame("(?:measur\\w+|check\\w*|look\\w*|judg\\w+|estimat\\w+|star\\w+)", 14)
    + _frame("drop|height|fall|how (?:far|high)", 14, _HIGH),
    _frame("(?:i'm|im|i am|standing|sitting|sat|stood|parked|i've come)", 6)
    + _frame("on|at|by|near|over|to|up on", 1, "the|a|this|my|some", 22, _HIGH)
    + _frame("", 30, "now|rn|tonight|and i (?:don't|can't|want|keep|won't)|don't|thinking")
    + "|"
    + _frame("(?:i'm|im|i am)", 1, "on|at|by", 1, "the", 10)
    + _frame("bridge|tracks|ledge|railings?|cliffs?|overpass|viaduct")
    + _END,
    _frame("wrong side of", 8, "railings?|barrier|fence|rail|bridge|wall"),
    _frame("too (?:near|close)(?: to)?", 6, "edge|tracks|water|platform"),
    _frame("walk\\w*|wad\\w+|went|swam", 6, "into the (?:sea|river|lake|water|waves)"),
    _frame(
        "cliffs?|lake|river|reservoir|quarry", 40, "handbrake|engine|brake|sat (?:there|in)|drop"
    ),
    _frame("i|i've been", 3, "s\\.?h\\.?", 2, "again|every|most|at night|when|to cope|last"),
    _frame("deserve", 4, "the pain|to hurt|to suffer|to be hurt|pain|to bleed"),
    _frame("shak\\w+|sweat\\w*|seizures?|a fit|fits", 30)
    + _frame("seeing|hallucinat\\w*|stopped drinking|withdraw\\w*|cold turkey|spiders|bugs"),
    _frame("stopped drinking|quit drinking|cold turkey|withdraw\\w*", 50)
    + _frame("shak\\w+|seizure|a fit|seeing|hallucinat\\w*|fitting"),
    _frame("(?:haven't|havent|not|hardly) (?:eaten|eat|had food|kept food)", 12)
    + _frame("days|week|since", 40, "heart|faint\\w*|black\\w* out|dizzy|collaps\\w*|stand|chest"),
    _frame("(?:clean|bandag\\w*|stitch\\w*|glu(?:e|ed|ing)|dress\\w*)", 10)
    + _frame("(?:my|the) (?:cuts|wounds?|burns)"),
)
HOME = _any(
    _frame(f"(?:{_HOME})(?:'s| is)?", 14, "drunk|high|furious|angry|raging|screaming", 14)
    + _frame("looking for me|after me|at me|i'm hiding|at us|coming|scared|locked|kids"),
    _frame("someone(?:'s)?|somebody(?:'s)?|a man|he's|he|ex|stranger|guy", 14)
    + _frame("watch\\w+|follow\\w*|photograph\\w*|film\\w*|track\\w*", 3)
    + _frame("me|my (?:window|house|flat|door|phone|every)|our house"),
    _frame(_NOT, 8, "have|got|find|anywhere|a", 6, "safe", 4)
    + _frame("place|anywhere|bed|somewhere|house|to stay|to sleep|to go|home"),
    _frame(
        "if i (?:stay|go back|went back|go home|sleep)", 30, "dead|kill\\w*|die|hurt|hit|beat\\w*"
    ),
    _frame(_HOME, 14, "pour\\w*|threw|throws|put|puts|held|holds", 12)
    + _frame("boiling|hot water|petrol|bleach|acid|a pillow|cigarettes?|iron", 14, "me|my|us"),
    _frame(_HOME, 18, _BLOW, 1, _US)
    + r"(?! (?:that|how|at|to|up|out|a|in the (?:final|race)|by|on linkedin)\b)",
    _frame(
        _HOME, 30, "violent|violence|aggressive|abusive", 4, "to|towards?|with|again|tonight|when"
    ),
    _frame(_HOME, 24, "bury|kill|murder|stab|drown|shoot|finish|end|burn|slit|hurt|hunt|get", 1)
    + _frame("me|us|my throat|the kids|my kids", 3)
    + _frame("in the|if i|and|tonight|when|with|alive|before|one day|off|down"),
    _frame("he's|she's|hes|shes|he is|she is|they're", 14)
    + _frame(
        "coming (?:up|back|home|in|for|after)|outside|at the door|downstairs|on his way|drunk"
        "|breaking|smashing|screaming|raging|going mad|kicking off",
        40,
        "please|help|scared|stairs|for me|hid\\w*|knife|bathroom|bedroom|quiet|kids|furniture"
        "|door|hurt|kill|locked|police",
    ),
    _frame("nowhere|no where|no place|no safe place|not anywhere|no one safe", 8)
    + _frame(
        "safe|to go|to sleep|to stay|to live|for me|for us",
        30,
        "tonight|sleep|with (?:my|the|two|a)|baby|kids|safe|to go|stay|cold",
    )
    + r"(?! (?:for|on|over|at) (?:christmas|easter|new|holiday|lunch))"
    r"(?! lock| to (?:lock|park|store|keep))",
    _frame("kicked|thrown|chucked|threw|kick", 10, "out", 50)
    + _frame("sleeping|nowhere|street|streets|homeless|cold|freezing|\\b1[3-7]\\b|park"),
    _frame("sleeping|sleep|slept", 3)
    + _frame(
        "rough|on the streets?|on night buses|in (?:the|a) (?:park|doorway)"
        "|in my car (?:since|because)"
    ),
    _frame("whisper\\w*|quietly|can't talk|typing", 25, "he's|she's|he is|she is|hears?"),
    _frame(_HOME, 12, "drives?|walks?|sits?|waits?|parks?|parked|sat|stands?|hangs? around", 1)
    + _frame("past|outside|by|near", 1, "my|our"),
    _frame(
        _HOME, 40, "slash\\w*|keyed|torched|poison\\w*|set fire to|burned down", 1, "my|our|the"
    ),
    _frame("ran|run|got|left|climbed|sneaked", 14, "with|barefoot|without shoes", 25)
    + _frame("shelter|street|hostel|refuge|station|in the car|nowhere|a&e|police"),
    _frame("(?:me|us|my sister)", 25, "to marry|be married off|get me married"),
    _frame("voices?|they|everyone", 20, "wants? me dead|want me to die|telling me to"),
    _frame("fled|flee|escap\\w+|ran away|run away", 6, "the house|home|him|her|my|from|with"),
    _frame("comes?|came|coming|gets?|climbs?|creeps?|sneaks?", 4, "in|into|in to", 1)
    + _frame("my (?:room|bed|bedroom|shower)", 3, "at|every|when|while|after|drunk|again"),
    _frame("tracker|airtag|air tag|spyware|hidden camera|gps|cameras?", 6, "on|in", 1, "my"),
    _frame("death threats?|threat\\w* (?:to|of|on) (?:my|kill|hurt)|threats? (?:from|against)"),
    _frame("forc\\w+|mak(?:e|es|ing)|send(?:ing)?|sent|arrang\\w+", 22)
    + _frame("marry|marriage|be married|wed|fgm|be cut"),
    _frame("voices?|god|satan|devil|demons?|my head|my brain|commands?|spirits?|something", 14)
    + _frame(
        "tell\\w*|say\\w*|says|order\\w*|command\\w*|wants?|shout\\w*|whisper\\w*|scream\\w*|to"
    )
    + _frame("", 16, "kill|hurt|jump|die|stab|cut|end|harm|sacrifice|do things|burn|do it|hang"),
    _frame("want|wants|urges?|going|thinking|think|plan\\w*|thoughts|fantasi\\w+|ready", 12)
    + _frame("kill\\w*|hurt\\w*|stab\\w*|shoot\\w*|attack\\w*|murder\\w*", 1)
    + _frame("him|her|them|someone|somebody|people|everyone|my \\w+", 40)
    + _frame("where|weapon|knife|gun|bought|plan|tonight|scared|stop myself"),
    _frame("hold|holds|held|put|puts|pull\\w*|pointed|waved|got|has|with|came at me", 8)
    + _frame("knife|gun|blade|hammer|axe|machete|bat|scissors", 6)
    + _frame("to (?:me|my)|at (?:me|us)|on (?:me|us)|against (?:me|my)"),
    _frame("raped|sexually (?:assaulted|abused)|molested|spiked|forced himself on|groped", 30)
    + _frame("last night|yesterday|today|ago|week|weekend|me|saturday|friday|party|night"),
)
CLASSES: dict[str, tuple[tuple[str, re.Pattern[str]], ...]] = {
    "look_wish": (("ideation", WISH), ("absent", ABSENT), ("soft", SOFT)),
    "look_means": (("overdose", BODY),),
    "look_home": (("danger", HOME),),
}
"""For each label of words worth a closer look: kinds of crisis, and the classes that tell them."""
