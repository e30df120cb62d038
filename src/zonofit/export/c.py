"""C99 for microcontrollers: one function, constant tables, no allocation, no library."""

from __future__ import annotations

import re

import numpy as np

from zonofit.errors import InputError
from zonofit.export.model import as_network, write_text
from zonofit.network import ShallowReLU

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYWORDS = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while main".split()
)
_PER_LINE = 4
_LARGEST = float(np.finfo(np.float32).max)


def to_c(model, path=None, *, name: str = "network", dtype: str = "double") -> str:
    """The network as a C99 function ``NAME(x)`` of an array of its features.

    Parameters
    ----------
    model : ShallowReLU or fitted estimator
    path : str or Path, optional
        Written there too.
    name : str
        Of the function.
    dtype : {"double", "float"}
        Of numbers and tables.

    Returns
    -------
    str
        Source of one file, which compiles alone. For two classes the function returns what is positive for the second;
        ``NAME_class(x)`` returns 0 or 1.
    """
    network = as_network(model)
    if not _NAME.fullmatch(name) or name in _KEYWORDS:
        raise InputError(f"name: {name!r} is not a name in C; use letters, digits and underscores.")
    if dtype not in ("double", "float"):
        raise InputError(f'dtype: {dtype!r} will not do; choose "double" or "float".')
    text = _source(network, name, dtype)
    if path is not None:
        write_text(path, text)
    return text


def _source(network: ShallowReLU, name: str, dtype: str) -> str:
    d, m = network.n_features, network.width
    suffix = "f" if dtype == "float" else ""
    if dtype == "float" and max(np.max(np.abs(a), initial=0.0) for a in (network.W, network.v, network.c)) > _LARGEST:
        raise InputError('dtype: a weight is too large for float; choose "double".')

    def table(values) -> str:
        cells = [f"{_literal(x)}{suffix}" for x in np.ravel(values).tolist()]
        return ",\n    ".join(", ".join(cells[k : k + _PER_LINE]) for k in range(0, len(cells), _PER_LINE))

    features = "\n".join(f" *   x[{k}]  {_comment(one)}" for k, one in enumerate(network.names))
    lines = [
        "/* A one-hidden-layer ReLU network, written by zonofit. C99, no allocation, no library.",
        f" * {_comment(network.target or 'f(x)')} from",
        features,
        " */",
    ]
    if m:
        lines += [
            f"static const {dtype} {name}_weights[{m * d}] = {{\n    {table(network.W[:, :-1])}\n}};",
            f"static const {dtype} {name}_biases[{m}] = {{\n    {table(network.W[:, -1])}\n}};",
            f"static const {dtype} {name}_outputs[{m}] = {{\n    {table(network.v)}\n}};",
        ]
    lines += [f"{dtype} {name}(const {dtype} x[{d}]);", "", f"{dtype} {name}(const {dtype} x[{d}])", "{"]
    if m:
        lines += [
            f"    {dtype} y = {_literal(network.c)}{suffix};",
            f"    for (int j = 0; j < {m}; j++) {{",
            f"        {dtype} z = {name}_biases[j];",
            f"        for (int k = 0; k < {d}; k++)",
            f"            z += {name}_weights[j * {d} + k] * x[k];",
            "        if (z > 0)",
            f"            y += {name}_outputs[j] * z;",
            "    }",
            "    return y;",
            "}",
        ]
    else:
        lines += ["    (void)x;", f"    return {_literal(network.c)}{suffix};", "}"]
    if network.classes is not None:
        first, second = (_comment(str(k)) for k in network.classes)
        lines += [
            "",
            f"/* 0: {first}; 1: {second} */",
            f"int {name}_class(const {dtype} x[{d}]);",
            "",
            f"int {name}_class(const {dtype} x[{d}])",
            "{",
            f"    return {name}(x) > 0;",
            "}",
        ]
    return "\n".join(lines) + "\n"


def _literal(x: float) -> str:
    """Shortest decimal that is read back as the same number; a constant of type double."""
    text = repr(float(x))
    return text if any(mark in text for mark in ".e") else text + ".0"


def _comment(text: str) -> str:
    """Text that cannot end a comment, nor, by a backslash, anything else."""
    plain = "".join(c if c.isprintable() and c != "\\" else "?" for c in text)
    return plain.replace("*/", "* /").replace("/*", "/ *").replace("??/", "? ? /")
