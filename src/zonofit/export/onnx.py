"""ONNX: Gemm, Relu, Gemm, with every attribute written out and every node named, as strict readers want it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zonofit.errors import InputError
from zonofit.export.model import as_network

if TYPE_CHECKING:
    from onnx import ModelProto

_OPSET, _IR = 13, 10  # old enough for OMLT, PySCIPOpt-ML and gurobi-machinelearning
_NO_UNIT = 1  # readers want at least one


def to_onnx(model, path=None, *, dtype: str = "float64") -> ModelProto:
    """The network as an ONNX graph with input ``X`` (N, d) and output ``y`` (N, 1).

    Parameters
    ----------
    model : ShallowReLU or fitted estimator
        For two classes ``y`` is what is positive for the second.
    path : str or Path, optional
        Written there too.
    dtype : {"float64", "float32"}
        OMLT, and runtimes on accelerators, want "float32".

    Returns
    -------
    onnx.ModelProto
    """
    network = as_network(model)
    if dtype not in ("float64", "float32"):
        raise InputError(f'dtype: {dtype!r} will not do; choose "float64" or "float32".')
    try:
        from onnx import TensorProto, checker, helper, numpy_helper, save
    except ImportError:
        raise InputError('to_onnx: needs onnx; run `pip install "zonofit[export]"`.') from None
    kind = TensorProto.DOUBLE if dtype == "float64" else TensorProto.FLOAT
    d = network.n_features
    W = network.W if network.width else np.zeros((_NO_UNIT, d + 1))
    v = network.v if network.width else np.zeros(_NO_UNIT)
    tables = {"W1": W[:, :-1], "b1": W[:, -1], "W2": v[None], "b2": np.array([network.c])}
    with np.errstate(over="ignore"):
        arrays = {name: np.ascontiguousarray(table, dtype) for name, table in tables.items()}
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise InputError('dtype: a weight is too large for float32; choose "float64".')
    gemm: dict[str, Any] = {"alpha": 1.0, "beta": 1.0, "transA": 0, "transB": 1}
    nodes = [
        helper.make_node("Gemm", ["X", "W1", "b1"], ["z"], name="hidden", **gemm),
        helper.make_node("Relu", ["z"], ["h"], name="relu"),
        helper.make_node("Gemm", ["h", "W2", "b2"], ["y"], name="output", **gemm),
    ]
    graph = helper.make_graph(
        nodes, "zonofit", [helper.make_tensor_value_info("X", kind, ["N", d])],
        [helper.make_tensor_value_info("y", kind, ["N", 1])],
        [numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )  # fmt: skip
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], producer_name="zonofit")
    made.ir_version = _IR
    notes = {"features": ", ".join(network.names), "target": network.target or ""}
    if network.classes is not None:
        notes["classes"] = f"{network.classes[0]} if y <= 0, else {network.classes[1]}"
    helper.set_model_props(made, notes)
    checker.check_model(made)
    if path is not None:
        try:
            save(made, str(Path(path)), format="protobuf")
        except OSError as error:
            raise InputError(
                f"{path}: cannot be written ({error.strerror or error}); pass another name."
            ) from None  # fmt: skip
    return made
