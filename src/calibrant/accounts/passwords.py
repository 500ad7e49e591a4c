"""Passwords: which are good enough, and how they are kept.

They are hashed with argon2id as its library advises; where the advice changes, a hash is made
anew when its owner signs in. Nobody learns from the time it takes whether a name has an account.
"""

from __future__ import annotations

import threading
import unicodedata
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from calibrant.core.errors import AccountError

SHORTEST = 10
LONGEST = 1000
AT_ONCE = 4
"""How many are worked on at a time: each takes 64 MiB of memory."""
_TRIED_FIRST: Final = """
    0123456789 01234567890 0987654321 1111111111 1122334455 1212121212 123123123123 1231231234
    1234512345 1234567890 12345678901 123456789012 12345678910 123456789a 1234567891
    123456789q 1234qwerasdf 1q2w3e4r5t 1q2w3e4r5t6y 1qaz2wsx3edc 2222222222 5555555555 6666666666
    7777777777 8888888888 9876543210 9999999999 aaaaaaaaaa abcd123456 abcdefghij administrator
    asdfasdfasdf asdfghjkl1 asdfghjkl; baseball123 basketball calibrant1 calibrant123 changeme123
    charlie123 chocolate1 computer123 dragon12345 football123 iloveyou12 iloveyou123 iloveyou1234
    january2025 january2026 letmein123 letmeinnow liverpool1 liverpool123 michelle123 monkey12345
    mypassword mypassword1 p@ssw0rd12 p@ssw0rd123 passw0rd12 passw0rd123 password00 password01
    password10 password11 password12 password123 password1234 password12345 password2024
    password2025 password2026 passwordpassword princess123 q1w2e3r4t5 q1w2e3r4t5y6 qazwsxedcr
    qazwsxedcrfv qwer123456 qwerasdfzxcv qwerty1234 qwerty12345 qwerty123456 qwertyqwerty
    qwertyuiop qwertyuiop1 qwertyuiop123 secret12345 starwars123 summer2024 summer2025 summer2026
    sunshine12 sunshine123 superman123 test123456 testtesttest trustno1trustno1 unknown123
    welcome1234 welcome12345 welcome2024 welcome2025 welcome2026 whatever123 winter2025 winter2026
    zaq12wsxcde3 zxcvbnm123 zxcvbnm1234 zxcvbnmasdfghjkl
"""
COMMON: Final = frozenset(_TRIED_FIRST.split())
"""The ones that are tried first everywhere, as far as they are long enough."""


def checked(password: str, name: str) -> str:
    """A new password in the form in which it is kept; raises ``AccountError`` on a poor one."""
    text = _folded(password)
    if len(text) < SHORTEST:
        raise AccountError(
            f"the password is too short: take at least {SHORTEST} characters; a few words will do"
        )
    if len(text) > LONGEST:
        raise AccountError(f"the password is too long: take at most {LONGEST} characters")
    if text.casefold() == _folded(name).casefold():
        raise AccountError("the password is the name of the account: take another")
    if text.casefold() in COMMON or len(set(text)) < 3:
        raise AccountError("the password is among the first that anybody would try: take another")
    return text


class Passwords:
    """Hashes passwords and holds them against their hashes."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._room = threading.BoundedSemaphore(AT_ONCE)
        self._nobodys = self._hasher.hash("nobody has this password")

    def hash(self, password: str, name: str) -> str:
        """What is kept of a new password of an account; raises ``AccountError`` on a poor one."""
        text = checked(password, name)
        with self._room:
            return self._hasher.hash(text.encode("utf-8", "replace"))

    def is_right(self, kept: str | None, password: str) -> bool:
        """Whether this is the password of a hash; where there is none it takes as long to say."""
        text = _folded(password[: LONGEST + 1])
        try:
            with self._room:
                self._hasher.verify(kept or self._nobodys, text.encode("utf-8", "replace"))
        except (VerificationError, InvalidHashError):
            return False
        return kept is not None and len(password) <= LONGEST

    def renewed(self, kept: str, password: str) -> str | None:
        """The hash that takes the place of one made with older settings; None for a good one."""
        if not self._hasher.check_needs_rehash(kept):
            return None
        with self._room:
            return self._hasher.hash(_folded(password).encode("utf-8", "replace"))


def _folded(text: str) -> str:
    """The same text for the same keys, whatever the keyboard or the system makes of accents."""
    return unicodedata.normalize("NFKC", text)
