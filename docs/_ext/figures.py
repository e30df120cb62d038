"""Let sphinx-gallery see figures that pyplot does not know of: zonofit draws on canvases of its own."""

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst


def new_figures(block, block_vars, gallery_conf):
    """Save the figures that a variable of the example holds for the first time, and return the text that shows them."""
    if block[0] != "code":
        return ""
    paths = []
    for figure in block_vars["example_globals"].values():
        if isinstance(figure, Figure) and not hasattr(figure, "_in_gallery"):
            path = next(block_vars["image_path_iterator"])
            figure.savefig(path, dpi=160)
            figure._in_gallery = True
            paths.append(path)
    return figure_rst(paths, gallery_conf["src_dir"])
