"""What tests see of a figure: where its texts are, once drawn."""

from itertools import combinations
from unittest import mock

import numpy as np
from matplotlib.text import Text


def drawn_texts(figure):
    """Every non-empty text that a figure draws, with its extent in pixels."""
    artists = []
    draw = Text.draw

    def note(artist, renderer, *rest, **options):
        artists.append(artist)
        return draw(artist, renderer, *rest, **options)

    with mock.patch.object(Text, "draw", note):
        figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    shown = [a for a in artists if a.get_visible() and a.get_text().strip()]
    return [(a.get_text(), a.get_window_extent(renderer).extents) for a in shown]


def overlaps(figure, slack=0.3):
    """Pairs of texts that overlap."""
    pairs = []
    for (a, p), (b, q) in combinations(drawn_texts(figure), 2):
        if min(p[2], q[2]) - max(p[0], q[0]) > slack and min(p[3], q[3]) - max(p[1], q[1]) > slack:
            pairs.append((a, b))
    return pairs


def cut_off(figure):
    """Texts that are partly outside the figure."""
    box = figure.bbox.extents
    return [a for a, p in drawn_texts(figure) if np.any(p[:2] < box[:2] - 0.5) or np.any(p[2:] > box[2:] + 0.5)]
