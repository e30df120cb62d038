"""Sphinx configuration. Build with ``.ci/run docs``, or ``.ci/run --here docs`` while writing."""

import os
import re
import subprocess
import sys
from pathlib import Path

import zonofit

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

os.environ["MPLBACKEND"] = "agg"

project = "zonofit"
author = "The zonofit developers"
copyright = author
version = release = zonofit.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "gallery/**/*.ipynb", "gallery/*.ipynb"]
default_role = "py:obj"
myst_heading_anchors = 3

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say it in words
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "image_scrapers": ("matplotlib", "figures.new_figures"),
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "write_computation_times": False,
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "zonofit"
html_show_sourcelink = False
html_sidebars = {
    page: [] for page in ("guide/*", "theory/*", "cli", "benchmarks", "notes", "contributing", "changelog")
}
html_copy_source = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
}


def keep_absolute_values(app, what, name, obj, options, lines):
    """Let docstrings write abs(x) as mathematicians do: to reStructuredText a bare bar opens a substitution."""
    for number, line in enumerate(lines):
        pieces = re.split(r"(``.*?``|`.*?`)", line)
        pieces[::2] = [re.sub(r"(?<!\\)\|", r"\\|", piece) for piece in pieces[::2]]
        if not line.lstrip().startswith(("| ", "+-")):
            lines[number] = "".join(pieces)


def write_help(app):
    """Put what ``zonofit COMMAND --help`` says where the page on the command line includes it."""
    folder = HERE / "api" / "generated"
    folder.mkdir(exist_ok=True)
    commands = "fit", "predict", "explain", "export", "compare", "search", "global", "verify", "chambers", "zonotope"
    for command in ("demo", *commands, "stability", "interpolate", "setcover", "reproduce", "report"):
        done = subprocess.run(
            [sys.executable, "-m", "zonofit", command, "--help"],
            env={**os.environ, "COLUMNS": "100"},
            check=True,
            capture_output=True,
            text=True,
        )
        text = "\n".join(line.rstrip() for line in done.stdout.splitlines())
        (folder / f"zonofit-{command}.txt").write_text(text.strip() + "\n", "utf8")


def leave_to_scikit_learn(app, what, name, obj, skip, options):
    """Its own methods on our estimators refer to pages that are not here."""
    return True if name in {"set_fit_request", "set_score_request", "get_metadata_routing"} else None


def setup(app):
    app.connect("autodoc-skip-member", leave_to_scikit_learn)
    app.connect("builder-inited", write_help)
    app.connect("autodoc-process-docstring", keep_absolute_values)
