"""Names from the data in lines of text, whatever characters they hold."""

from __future__ import annotations

# Names of groups that are misread in a sentence, as in "no is lowest".
_ANSWERS = ("yes", "no", "y", "n", "true", "false")


def printable(words: str, kept: str = "") -> str:
    r"""Return text for a terminal, with control characters and changes of writing direction escaped.

    Examples
    --------
    >>> print(printable("red \x1b[31m"))
    red \x1b[31m
    """
    if words.isprintable():
        return words
    return "".join(
        letter if letter in kept or _is_shown(letter) else letter.encode("unicode_escape").decode() for letter in words
    )


def in_a_sentence(group: str) -> str:
    """Return the name of a group for use in a sentence: after "group" if it is a number, or an answer such as yes.

    Examples
    --------
    >>> in_a_sentence("Female"), in_a_sentence("no"), in_a_sentence("1.0")
    ('Female', 'group no', 'group 1.0')
    """
    bare = group.lower() in _ANSWERS or not any(letter.isalpha() for letter in group)
    return f"group {group}" if bare else group


def _is_shown(character: str) -> bool:
    # Letters that join others are not "printable" in Python's sense, but names in some scripts need them.
    return character.isprintable() or character in "\u200c\u200d"
