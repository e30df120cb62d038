"""Colours that a colour-blind reader can tell apart.

A chamber's colour has two coordinates of CIELAB: lightness falls with the number of active examples, so
neighbouring chambers, which differ in that number, never look alike; and within one number the hue runs from blue over
green to yellow, evenly along the blue-yellow axis that deuteranopes and protanopes see.
"""

from __future__ import annotations

import numpy as np

LIGHTEST, DARKEST = 90.0, 55.0
HUES = np.array([[-8.0, -42.0], [-36.0, 26.0], [-8.0, 70.0]])
WHITE_POINT = np.array([0.95047, 1.0, 1.08883])
XYZ_TO_RGB = np.array(
    [[3.2404542, -1.5371385, -0.4985314], [-0.9692660, 1.8760108, 0.0415560], [0.0556434, -0.2040259, 1.0572252]]
)


def chamber_colours(patterns: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Colours (V, 3) in sRGB of chambers with boolean `patterns` (V, N), ordered in hue by `places` (V,)."""
    counts = patterns.sum(axis=1)
    span = max(int(counts.max() - counts.min()), 1)
    lightness = LIGHTEST + (DARKEST - LIGHTEST) * (counts - counts.min()) / span
    hue = np.full(len(patterns), 0.5)
    for count in np.unique(counts):
        group = np.flatnonzero(counts == count)
        if len(group) > 1:
            hue[group[np.argsort(places[group], kind="stable")]] = np.linspace(0, 1, len(group))
    return np.array([_in_gamut(L, _hue(t)) for L, t in zip(lightness, hue, strict=True)])


def ink_on(colour) -> str:
    """Black or white, whichever has the greater contrast (WCAG) with the background `colour`."""
    light = relative_luminance(colour)
    return "black" if (light + 0.05) / 0.05 >= 1.05 / (light + 0.05) else "white"


def relative_luminance(colour) -> float:
    """Relative luminance (WCAG 2) of an sRGB colour in [0, 1]^3."""
    c = np.asarray(colour, float)[:3]
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def _hue(t: float) -> np.ndarray:
    return np.array([np.interp(t, [0, 0.5, 1], HUES[:, 0]), np.interp(t, [0, 0.5, 1], HUES[:, 1])])


def _in_gamut(lightness: float, ab: np.ndarray) -> np.ndarray:
    for chroma in np.linspace(1, 0, 41):
        rgb = _lab_to_linear(lightness, chroma * ab)
        if rgb.min() >= 0 and rgb.max() <= 1:
            break
    rgb = np.clip(rgb, 0, 1)
    return np.where(rgb <= 0.0031308, 12.92 * rgb, 1.055 * rgb ** (1 / 2.4) - 0.055)


def _lab_to_linear(lightness: float, ab: np.ndarray) -> np.ndarray:
    y = (lightness + 16) / 116
    f = np.array([y + ab[0] / 500, y, y - ab[1] / 200])
    xyz = WHITE_POINT * np.where(f > 6 / 29, f**3, 3 * (6 / 29) ** 2 * (f - 4 / 29))
    return XYZ_TO_RGB @ xyz
