"""Values that show when the pointer rests on a picture are titles in the SVG, and no name can break out of them."""

from __future__ import annotations

from xml.etree import ElementTree

from fairlimits._util.plotting import figure_style, subplots
from fairlimits.apps.report.figures import to_svg
from fairlimits.apps.report.hovering import say, say_at

TITLE = "{http://www.w3.org/2000/svg}title"


def titles_of(words: str) -> list[str | None]:
    with figure_style():
        figure, ax = subplots()
        (bar,) = ax.bar([1], [2])
        say(bar, words)
    return [own.text for own in ElementTree.fromstring(to_svg(figure)).iter(TITLE)]


def test_a_bar_says_its_words() -> None:
    assert titles_of("Male, become no: 7.1%") == ["Male, become no: 7.1%"]


def test_hostile_words_stay_words() -> None:
    hostile = "\"><script>alert(1)</script> & 'x' $1"
    assert titles_of(hostile) == [hostile]


def test_points_of_a_line_say_what_they_are_without_being_seen() -> None:
    with figure_style():
        figure, ax = subplots()
        ax.plot([0, 1], [2, 3], label="a line")
        say_at(ax, [0, 1], [2, 3], ["at 0: 2", "at 1: 3"])
        assert ax.get_legend_handles_labels()[1] == ["a line"]
    svg = to_svg(figure)
    assert [own.text for own in ElementTree.fromstring(svg).iter(TITLE)] == ["at 0: 2", "at 1: 3"]
    assert svg.count("opacity: 0;") >= 2
