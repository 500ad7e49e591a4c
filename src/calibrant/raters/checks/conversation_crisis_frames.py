"""Ways to speak of a crisis that no list of phrases holds: words that go together in a sentence.

They are looked for only in messages in which the lexicon finds a word worth a closer look. Each
pattern is bounded, so that its work grows with the length of a message only.
"""

from __future__ import annotations

import re

_G = r"[^.!?\n]{0,%d}"
"""What may stand between two words of a frame."""


def _frame(*pieces: str | int) -> str:
    return "".join(_G % one if isinstance(one, int) else rf"\b(?:{one})\b" for one in pieces)


def _any(frames: tuple[str, ...]) -> re.Pattern[str]:
    """One pattern for all: what begins within a word is not tried."""
    return re.compile(rf"\b(?:{'|'.join(frames)})")


_FAMILY = (
    "they|everyone|everybody|family|parents|kids|children|mum|mom|dad|husband"
    "|wife|partner|friends"
    "|people|the world|nobody|no one"
)
_PERSON = (
    "he|she|he's|she's|husband|wife|partner|boyfriend|girlfriend|dad|father"
    "|mum|mom|mother|ex"
    "|step\\w+|brother|sister|son|uncle|flatmate|they"
)
_DEATH = "dead|die|dying|death|suicide|not existing|not be here|not being here|disappear"
_LIMB = "arms?|wrists?|thighs?|legs?|skin|hips?|stomach|forearms?|belly|knuckles"

_HEIGHT = "bridge|roof|rooftop|cliff|railway|tracks|platform|ledge|viaduct|railings|multi-?storey"
IDEATION = _any(
    (
        _frame("i|i'm|i've", 30, "stand|stood|standing|sat|keep|kept|look\\w*|drawn", 40, _HEIGHT),
        _frame(
            _HEIGHT,
            40,
            "i|i'm|me",
            20,
            "stood|stand|look\\w*|think\\w*|thought|wonder\\w*|want",
        ),
        _frame(
            "wish|hope|hoping|disappoint\\w*|hate|angry|gutted|shame|dread|not|n't|never",
            45,
            "wake up|woke up|waking up|woken up",
        ),
        _frame(
            "want|wish|hope|rather|ready|prefer|long|pray|need|choose|beg",
            25,
            "be dead|to be dead|were dead|die soon|to die",
        ),
        _frame(
            _DEATH,
            25,
            "relief|restful|peaceful|easier|comfort\\w*|kinder|kindness|only answer"
            "|only option|appeal\\w*|solution|like a friend|tempting",
        ),
        _frame(
            "relief|comfort\\w*|tempt\\w*|appeal\\w*|drawn|obsess\\w*|crav\\w*|calm\\w*",
            25,
            _DEATH,
        ),
        "only alive because|reason (?:that )?i'm (?:still )?(?:here|alive|around|breathing)",
        _frame(
            "coward\\w*|guts|courage|brave|bravery|nerve|too scared|too weak",
            20,
            "to do it|to end|to go through with it|to jump|to die|for it",
        ),
        _frame(
            "hate|hates|hurts|stand|picture|imagine|tired|sick|minute|bear"
            "|struggl\\w+|exhaust\\w+|ashamed|sorry|sad|wish|not|n't|don't|can't",
            20,
            "being alive|staying alive|to be alive|being me|waking up (?:tomorrow"
            "|again)|still alive|being in this world|existing|to exist|living",
        ),
        _frame(
            "living|existing|life|being here",
            15,
            "hurts|too painful|unbearable|too much to bear|torture|has nothing|holds "
            "nothing|no longer|too heavy|isn't worth|not worth|a punishment",
        ),
        _frame(
            "hope|hoping|wish|wishing|mind|okay|fine|relief|care|pray|part of me|glad"
            "|matter|welcome",
            45,
            "hit by a|went down|goes down|crash(?:es|ed)?|heart (?:just |would |to "
            ")*(?:stop|stops|stopped|gives? out|gave out)|illness|cancer|tumou?r"
            "|take me|takes me|took me|didn't wake|don't wake|never w[oa]ke|not wake"
            "|killed me|kills me|finish me off|run over",
        ),
        "without looking and|cross the road without|stop breathing|stopped "
        "breathing|stay asleep|sleep forever|never wake|not wake up|wouldn't wake",
        _frame("on this|this|leave this|off this", 1, "planet|earth"),
        _frame(
            _FAMILY,
            22,
            "get over (?:it|me)|forget (?:about )?me|be free of|be free|better off"
            "|have some peace|be sad for a|without me|rid of me|have (?:me|someone "
            "like me) to worry|not miss|wouldn't miss|replace me",
        ),
        _frame(
            "bridge|roof|rooftop|cliff|railway|tracks|platform|ledge|viaduct"
            "|multi-?storey|river|train line|balcony|window",
            60,
            "edge|looking down|look down|jump\\w*|talked me|talked to me|for an hour"
            "|came home because|let go|in my head|thought about|think about"
            "|wonder\\w*|lean\\w*|step off|how high|far down|do it",
        ),
        _frame(
            "keep|kept|went|walked|stood|sat|drawn|drove|driving|found myself|ended up|climb\\w*",
            22,
            "past the bridge|to the bridge|on the bridge|up to the roof|on the roof"
            "|the edge|the tracks|railway|the cliff|the ledge|the platform edge|the "
            "railings",
        ),
        "engine running|exhaust pipe|exhaust fumes|carbon monoxide|helium|charcoal",
        _frame(
            "calm|peaceful|at peace|relieved|lighter|easier",
            35,
            "decided|decision|made up my mind|my plan|a plan",
        ),
        _frame(
            "decided|decision|made up my mind|date in mind|plan in mind|a plan",
            35,
            "calm|peaceful|at peace|relieved|lighter|scares me|do it",
        ),
        "to stop me|stop myself (?:from )?(?:doing|hurting|ending|jumping"
        "|cutting)|talk me out of it|talk me down|before i do it",
        _frame(
            "alone|on my own|by myself",
            6,
            "tonight|right now|this weekend|with my thoughts|with myself",
            60,
            "scared|afraid|trust|safe|don't know what|do to|what i'll|what i might",
        ),
        _frame(
            "trust myself|scared|afraid|safe|please|can't be|not be|shouldn't be",
            40,
            "alone|on my own|by myself|around (?:the )?(?:kitchen )?kni\\w+|around "
            "pills|near the|with the tablets|tonight|not to",
        ),
        "not (?:going to be )?(?:okay|ok|safe|alright) tonight|won't be (?:okay|ok|safe) tonight",
        _frame(
            "be with|join|see",
            1,
            "my \\w+|him|her|them",
            25,
            "died|dead|passed|up there|heaven|other side|grave",
        ),
        _frame(
            "nothing|no one|nobody|not a thing|anything",
            25,
            "live for|stay for|keeps me here|keep me here|left for me|worth staying"
            "|stopping me|to lose",
        ),
        _frame(
            "thought|thoughts|thinking|think|plan|plans|planning|planned|wonder\\w*"
            "|research\\w*|read\\w*|search\\w*|googl\\w*",
            30,
            "suicide|kill(?:ing)? myself|end(?:ing)? my life|end(?:ing)? it all|not "
            "being here|not existing|overdose|hanging|how to die|ways to die|lethal"
            "|painless|drowning myself|jumping off|in front of a (?:train|bus|car"
            "|lorry)",
        ),
        _frame(
            "want|wants|need|ready|going|decided|plan|planning|like|tempted|urge",
            12,
            "end (?:it|things|everything|my life)|disappear|vanish|stop existing"
            "|give up on life|be gone|go for good|not be here|not be alive|not exist"
            "|check out|not wake up|fade away|leave this",
        ),
        _frame(
            "end|over|stop|give up|gone|disappear|quiet",
            12,
            "for good|forever|for ever|permanently|once and for all",
        ),
        _frame(
            "don't|dont|can't|cant|not|never|no",
            25,
            "want (?:any of )?this (?:life|any more|anymore)|want (?:to be )?(?:a "
            "part of )?(?:life|this world)|see (?:a|any|the) (?:point|future|way out"
            "|tomorrow|reason)|go on|carry on|any reason to|face tomorrow|face "
            "another",
        ),
        _frame(
            "should|ought to|could|might|may as well|might as well|rather",
            8,
            "just die|be dead|kill myself|end it|jump|disappear|not be here|never "
            "have been born|not exist",
        ),
        _frame(
            "written|wrote|writing|leave|left|leaving|recorded|sent|drafted|typed",
            20,
            "goodbye|goodbyes|farewell|suicide|the note|my note|last words|letters? "
            "(?:to|for) (?:my|the) (?:kids|children|family|mum|mom|parents|girls"
            "|boys)|notes? (?:to|for) (?:my|the|each)",
        ),
    )
)
HARM = _any(
    (
        _frame("i|i'm|my|me", 60, "bleed|bleeding|bled|blood(?! test| pressure| sugar| count)"),
        _frame("i|i'm|i've", 40, "on purpose|deliberately"),
        _frame("i|i've", 12, "relapsed|had a relapse"),
        _frame(
            "carv\\w+|cut|cutting|burn\\w*|scratch\\w*|slic\\w+|slash\\w*|press\\w*"
            "|stab\\w*|dig|digging|scald\\w*|brand\\w*|gouge\\w*|scrap\\w+",
            30,
            f"my (?:own )?(?:{_LIMB})",
        ),
        _frame(
            f"my (?:{_LIMB})",
            25,
            "a mess|shreds|cut up|bandag\\w*|bleed\\w*|bled|raw|fresh|covered in|cuts"
            "|burns|wounds|marks",
        ),
        _frame(
            "starv\\w*|punish\\w*|hurt\\w*|cut|cutting|burn\\w*|dose|insulin|tablets"
            "|pills|crash\\w*|bruis\\w*",
            30,
            "on purpose|deliberately|as punishment|to punish myself|because i deserve",
        ),
        _frame(
            "on purpose|deliberately",
            30,
            "cut|hurt|burn\\w*|starv\\w*|dose|insulin|tablets|pills|crash\\w*",
        ),
        "the cutting|did it again,? (?:the|with)|blood on (?:the|my) (?:sheets"
        "|floor|sleeve\\w*|towel\\w*|bed)|hot (?:spoon|iron|knife) to my|till "
        "(?:i|it|they) (?:bleeds?|bled|broke)|until (?:i|it|they) (?:bleeds?|bled"
        "|broke)",
        _frame(
            "blade|razor|scalpel|scissors|lighter|needle|compass|broken glass|glass"
            "|kni(?:fe|ves)|pin",
            45,
            f"my (?:{_LIMB})|myself|feel something|feel better|relief|calm\\w*|again"
            f"|used it|drawer|pillow|bag|looking at|hidden",
        ),
        _frame(
            "relapsed?|slipped|clean|sober from",
            40,
            "blade|razor|cut\\w*|self.?harm\\w*|blood|scissors|lighter",
        ),
    )
)
OVERDOSE = _any(
    (
        _frame(
            "swallow\\w*|took|taken|take|taking|necked|downed|mix\\w*|drank|drunk|had",
            35,
            "bottle of (?:pills|aspirin|tablets|sleeping|bleach)|box of|packet of"
            "|strips? of|handful of|times (?:my|the) (?:dose|usual)|double (?:my"
            "|the) dose|overdose|too many|all (?:my|the|of my|of the|of them)|whole "
            "(?:box|packet|bottle|strip|lot)|litre of (?:vodka|gin)|bottle of "
            "(?:vodka|gin|whisky)|(?:\\d\\d|twenty|thirty|forty|fifty|sixty) (?:of "
            ")?(?:my |the )?(?:pills|tablets|paracetamol\\w*|aspirin\\w*|sleeping"
            "|ibuprofen|painkillers|antidepressants)",
        ),
        _frame(
            "pills|tablets|meds|medication|paracetamol|painkillers|sleeping tablets"
            "|antidepressants",
            40,
            "vodka|gin|whisky|all at once|too many|lined up|counted|counting|enough "
            "to|stash\\w*|hid\\w*|in my hand|in front of me|saved|saving|stockpil\\w*"
            "|hoard\\w*|the lot|next to me|under (?:the|my) (?:bed|pillow)|mattress",
        ),
        _frame(
            "stash\\w*|hid\\w*|saved|saving|stockpil\\w*|hoard\\w*|counted|counting"
            "|collect\\w*|lined up|bought|enough",
            30,
            "pills|tablets|paracetamol|painkillers|sleeping tablets|antidepressants|insulin",
        ),
        "keep passing out|passing out|can't stand up|seeing things|can't keep "
        "(?:water|anything|food) down|not eaten since|haven't eaten since|eaten "
        "(?:nothing|anything) since|spreading (?:down|to|into|up) my (?:left "
        ")?(?:arm|jaw|neck)|pains? in my (?:chest|left arm)|(?:stopped|skipp\\w+"
        "|missed|missing) (?:taking )?my insulin|lips (?:are|have|went|turning"
        "|going) (?:gone )?blue|bleeding (?:a lot|heavily|badly|everywhere)"
        "|can't feel my (?:hands|legs|arm|face|left)",
    )
)
DANGER = _any(
    (
        _frame(
            _PERSON,
            22,
            "(?:threw|throws|dragged|drags|slammed|slams|shoved|shoves|pushed|pushes"
            "|kicked|kicks|hits|beats|punched|punches|slapped|slaps|choked|chokes"
            "|strangled|strangles|pinned|pins|held|burns|burned|burnt|bit|bites|spat"
            "|grabbed|grabs|rapes|raped|whips|whipped|attacked|attacks|stabbed"
            "|assaulted|hit|beat|abuses|abused) (?:me|us|my (?:son|daughter|kids|baby"
            "|brother|sister|mum|little|hand|arm|face|children|child)|our (?:son"
            "|daughter|kids|baby|little|children|child)|the (?:kids|baby|children))",
        ),
        _frame(
            _PERSON,
            25,
            "(?:hitting|beating|punching|slapping|kicking|choking|threatening|abusing"
            "|raping|stalking|strangling|hurting|burning|touching) (?:me|us|him|her"
            "|my|our|the (?:kids|baby|children))",
        ),
        _frame(
            "pillow|hands?|knife|gun|belt|bag|blade|cord|arm",
            12,
            "(?:over|to|round|around|at|against|on) my (?:face|throat|neck|head|mouth"
            "|windpipe|stomach|back)",
        ),
        _frame(
            _PERSON,
            22,
            "(?:broke|breaks|broken|fractured|dislocated|bruised|cracked|twisted"
            "|split|blacked|burns|burned) my (?:wrist|arm|nose|jaw|ribs?|finger|hand"
            "|leg|cheekbone|lip|eye|tooth|teeth|collarbone)",
        ),
        "set fire to (?:the|our|my)|burn (?:down )?(?:the|our|my) (?:house|flat)"
        "|make me pay|make me sorry|make me regret|make sure (?:no one|nobody) "
        "(?:else )?(?:has|gets)|if he can't have me|if i (?:ever )?(?:leave|left"
        "|tell|told|go|talk|scream|call)[^.!?\n]{0,25}(?:kill|hurt|dead|find"
        "|regret|pay|come after|knows where)",
        _frame(
            _PERSON,
            30,
            "smashing (?:things|stuff|everything|the|up)|throwing (?:things|stuff"
            "|plates|furniture)|trashing|punching (?:the )?(?:walls?|doors?|holes)"
            "|breaking (?:things|the door|down|in)|kicking (?:the|my|in|down)|trying "
            "(?:to get in|the door|my door)|tried my door|outside (?:my|the) (?:door"
            "|house|flat|window)|got in(?:to)? (?:my|the) (?:flat|house)|broke in",
        ),
        _frame(
            _PERSON,
            30,
            "(?:says|said|told me|tells me|keeps saying|swore|texted)(?: that)?(?: "
            "if)?[^.!?\n]{0,30}(?:kill|hurt|stab|burn|bury|finish|shoot|drown) (?:me"
            "|us|the kids|my|himself and|her)",
        ),
        _frame(
            "scared|terrified|afraid|frightened|fear|shaking|petrified",
            25,
            "(?:he|she|he's|she's|he'll|she'll|husband|partner|boyfriend|dad|ex"
            "|stepdad|father)(?: is|'s)?(?: going to| will|'ll| might| could| gets| "
            "comes| finds| is)|of (?:him|her|my (?:husband|partner|boyfriend|dad|wife"
            "|ex|stepdad|father|girlfriend))|to go home|for my life|for our lives|in "
            "my own home|when he",
        ),
        _frame(
            "lock(?:ed|ing)?|barricad\\w*|hid(?:ing|den)?|typing this|writing this"
            "|whisper\\w*|hide",
            30,
            "bathroom|bedroom|toilet|wardrobe|cupboard|from (?:him|her)|because he"
            "|because she|he's|she's|until he|so he|quietly",
        ),
        _frame(
            "won't let me|doesn't let me|not allowed to|isn't letting me|refuses to "
            "let me|stops me from",
            12,
            "leave|out|go out|see|my phone|talk|speak|call|food|eat|doctor|my (?:mum"
            "|family|friends)|money|keys",
        ),
        _frame(
            "locks|locked|locking|trapped|keeps|kept|shut",
            8,
            "me|us|her|him",
            18,
            "in (?:my|the|a) (?:room|house|flat|cellar|bathroom|bedroom|car|cupboard)"
            "|inside|indoors|without food|prisoner",
        ),
        "in danger(?! of)|being (?:abused|beaten|stalked|threatened|strangled"
        "|followed home|held)|not safe (?:here|at home|in (?:my|this|the)|with"
        "|around|to go|right now|where)|isn't safe (?:here|at home|for me|for us"
        "|for the)|don't feel safe (?:here|at home|in|with|around|any)|unsafe "
        "(?:at|in|around|with) (?:home|my|him|her|this|the)",
        _frame(
            "touch(?:es|ed|ing)?|grop\\w+|undress\\w*|gets? into bed with|climbs? "
            "into bed|forc\\w+|makes? me",
            14,
            "me (?:at night|when|there|in my sleep|under|again)|her|my daughter|my "
            "son|himself on|have sex|to have sex|do things|sexual\\w*|without my "
            "consent|when i say no|i said no|down there",
        ),
        _frame(
            "might|going to|gonna|want to|could|nearly|almost|i'll|lost it and"
            "|wanted to|scared of|afraid i",
            12,
            "(?:hurt|hit|hitting|shake|shook|smother|slapped|slap|throw|threw|drop"
            "|harm|harmed|strangle|kill|stab|attack) (?:someone|somebody|him|her|the "
            "baby|my (?:baby|son|daughter|toddler|kids?|child(?:ren)?|newborn|husband"
            "|wife|partner|mum|dad)|them|the kids|the children)",
        ),
        _frame(
            "stalk\\w+|follow(?:s|ed|ing)?|turn(?:s|ed|ing) up|waits|waiting"
            "|watch(?:es|ing)|tracks|tracking",
            12,
            "me|at my|outside my|outside our|my (?:phone|car|house|flat|every)",
            40,
            "every|again|night|work|door|home|scared|police|threat\\w*|everywhere|ex|window|afraid",
        ),
        _frame(
            "black eye|bruises?|split lip|broken (?:rib|nose|wrist|arm)|strangled"
            "|marks on my neck|finger marks",
            45,
            "he|she|him|her|husband|partner|boyfriend|wife|dad|again|last night|cover"
            "|hide|hospital|fell|told (?:them|everyone)",
        ),
    )
)
FRAMES: dict[str, tuple[tuple[str, re.Pattern[str]], ...]] = {
    "look_mind": (("ideation", IDEATION),),
    "look_body": (("self_harm", HARM), ("overdose", OVERDOSE)),
    "look_others": (("danger", DANGER),),
}
"""For each label of words worth a closer look: kinds of crisis, and what is said of them."""
