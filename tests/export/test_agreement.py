"""Every format computes what the network predicts: 1e-6 of the labels' size on 1,000 points."""

import shutil
import subprocess

import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier, MLPRegressor

from zonofit import ReLUClassifier, ReLURegressor
from zonofit.errors import InputError
from zonofit.export import load, save, to_c, to_mip, to_onnx, to_sklearn, to_torch
from zonofit.network import ShallowReLU

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 4)) * [1.0, 1e-3, 1e3, 1.0] + [0.0, 1.0, -1e4, 3.0]
Y = 1e3 * np.abs(X[:, 0] - 0.3) + X[:, 2] + 50 * RNG.standard_normal(120)
POINTS = X[RNG.integers(0, 120, 1000)] + 0.5 * X.std(axis=0) * RNG.standard_normal((1000, 4))
REGRESSOR = ReLURegressor(width=6, max_moves=5, random_state=0).fit(X, Y)
CLASSIFIER = ReLUClassifier(width=4, max_moves=2, random_state=0).fit(X, np.where(np.median(Y) < Y, "up", "down"))
CONSTANT = ShallowReLU(np.zeros((0, 5)), [], 1.5)
MODELS = [REGRESSOR, CLASSIFIER, CONSTANT]
COMPILER = shutil.which("cc")


def network_of(model):
    return getattr(model, "network_", model)


def same(found, model, tolerance=1e-6):
    expected = network_of(model).predict(POINTS)
    assert np.max(np.abs(np.ravel(found) - expected)) <= tolerance * np.max(np.abs(expected))


@pytest.mark.parametrize("model", MODELS)
def test_json(model, tmp_path):
    same(load(save(model, tmp_path / "n.json")).predict(POINTS), model, 0)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_onnx(model, dtype, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    made = to_onnx(model, tmp_path / "n.onnx", dtype=dtype)
    assert {node.op_type for node in made.graph.node} == {"Gemm", "Relu"} and all(node.name for node in made.graph.node)
    session = onnxruntime.InferenceSession(tmp_path / "n.onnx", providers=["CPUExecutionProvider"])
    if dtype == "float64":
        same(session.run(None, {"X": POINTS})[0], model)
    else:  # single precision cannot carry features that lie far from 0
        session.run(None, {"X": POINTS.astype(np.float32)})


def test_onnx_in_single_precision_on_standardised_features(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    model = ReLURegressor(width=4, max_moves=2, random_state=0).fit(Z, Y)
    made = to_onnx(model, dtype="float32").SerializeToString()
    session = onnxruntime.InferenceSession(made, providers=["CPUExecutionProvider"])
    found, expected = session.run(None, {"X": Z.astype(np.float32)})[0][:, 0], model.predict(Z)
    assert np.max(np.abs(found - expected)) <= 1e-6 * np.max(np.abs(expected))


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize("model", MODELS)
def test_c(model, tmp_path):
    classes = network_of(model).classes is not None
    to_c(model, tmp_path / "model.c", name="tiny")
    (tmp_path / "main.c").write_text(
        "#include <stdio.h>\ndouble tiny(const double x[4]);\nint tiny_class(const double x[4]);\n"
        "int main(void){double x[4];while(scanf(\"%lf %lf %lf %lf\",x,x+1,x+2,x+3)==4)"
        f'printf("%.17g %d\\n",tiny(x),{"tiny_class(x)" if classes else "0"});return 0;}}\n'
    )  # fmt: skip
    strict = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wmissing-prototypes", "-Werror"]
    subprocess.run([COMPILER, *strict, "main.c", "model.c", "-o", "main"], cwd=tmp_path, check=True)
    text = "\n".join(" ".join(map(repr, row)) for row in POINTS.tolist())
    done = subprocess.run([tmp_path / "main"], input=text, capture_output=True, text=True, check=True)
    table = np.array([line.split() for line in done.stdout.splitlines()], float)
    same(table[:, 0], model)
    if classes:
        assert (np.array(network_of(model).classes)[table[:, 1].astype(int)] == model.predict(POINTS)).all()


def test_c_says_what_it_takes():
    network = ShallowReLU([[1, 2, 3]], [1], 0, ("a*/b", "c\\"), "y\n", (0, 1))
    source = to_c(network, name="f", dtype="float")
    assert source.count("*/") == 2 and "\\" not in source and "malloc" not in source and "1.0f" in source


@pytest.mark.parametrize("model", [REGRESSOR, CLASSIFIER])
def test_scikit_learn(model):
    mlp = to_sklearn(model)
    if model is REGRESSOR:
        assert type(mlp) is MLPRegressor
        same(mlp.predict(POINTS), model)
    else:
        assert type(mlp) is MLPClassifier
        assert mlp.predict_proba(POINTS) == pytest.approx(model.predict_proba(POINTS), abs=1e-9)
        assert (mlp.predict(POINTS) == model.predict(POINTS)).all()


@pytest.mark.parametrize("model", [REGRESSOR, CLASSIFIER])
def test_torch(model):
    torch = pytest.importorskip("torch")
    with torch.no_grad():
        same(to_torch(model)(torch.from_numpy(POINTS)).numpy(), model)


@pytest.mark.parametrize("model", MODELS)
def test_mip_is_the_function(model):
    """With x fixed, y can be nothing but f(x): at 1,000 points, without a solver."""
    network = network_of(model)
    mip = to_mip(model, POINTS.min(axis=0), POINTS.max(axis=0))
    bent = [int(name[2:-1]) for name in mip.names if name.startswith("h")]
    Z = network.preactivations(POINTS)[:, bent]
    t = np.c_[POINTS, np.maximum(Z, 0), Z > 0, network.predict(POINTS)]
    size = np.abs(t) @ np.abs(mip.A).T + 1
    rows = t @ mip.A.T
    assert np.all(rows >= mip.least - 1e-9 * size) and np.all(rows <= mip.most + 1e-9 * size)
    assert np.all(t >= mip.lower - 1e-9 * np.abs(t)) and np.all(t <= mip.upper + 1e-9 * np.abs(t))
    # h = max(0, z) is forced: with s = 0 it is 0, with s = 1 it is z
    low, high = network.ranges(POINTS.min(axis=0), POINTS.max(axis=0))
    assert (low[bent] < 0).all() and (high[bent] > 0).all()


@pytest.mark.parametrize("maximise", [False, True])
def test_mip_finds_the_optimum_on_a_grid(maximise):
    rng = np.random.default_rng(3)
    network = ShallowReLU(rng.standard_normal((7, 3)), rng.standard_normal(7), 0.2)
    costs = np.array([0.3, -0.2])
    x, value = to_mip(network, -2, [1, 2]).minimise(costs, maximise=maximise)
    grid = np.stack(np.meshgrid(np.linspace(-2, 1, 301), np.linspace(-2, 2, 301)), axis=-1).reshape(-1, 2)
    values = network.predict(grid) + grid @ costs
    best = values.max() if maximise else values.min()
    assert (value >= best - 1e-6 if maximise else value <= best + 1e-6) and abs(value - best) < 0.1
    assert value == pytest.approx(network.predict(x[None])[0] + x @ costs)


def test_units_that_never_bend_need_no_binary():
    network = ShallowReLU([[1, 5], [1, -5], [1, 0]], [1, 1, -2], 0)
    assert to_mip(network, -1, 1).integral.sum() == 1
    assert to_mip(network, -1, 1).minimise(maximise=True)[1] == pytest.approx(5)


def test_pyomo_has_the_same_optimum():
    pyomo = pytest.importorskip("pyomo.environ")
    rng = np.random.default_rng(4)
    mip = to_mip(ShallowReLU(rng.standard_normal((5, 3)), rng.standard_normal(5), 0.2), -1, 1)
    model = mip.to_pyomo()
    model.least = pyomo.Objective(expr=model.y)
    pyomo.SolverFactory("appsi_highs").solve(model)
    assert pyomo.value(model.y) == pytest.approx(mip.minimise()[1], abs=1e-6)


@pytest.mark.parametrize(
    ("export", "message"),
    [
        (lambda: to_c(REGRESSOR, name="2f"), "name: '2f' is not a name in C"),
        (lambda: to_c(REGRESSOR, name="int"), "name: 'int' is not a name in C"),
        (lambda: to_c(REGRESSOR, dtype="half"), "dtype: 'half' will not do"),
        (lambda: to_onnx(REGRESSOR, dtype="half"), "dtype: 'half' will not do"),
        (lambda: to_mip(REGRESSOR, -np.inf, 1), "the box has to be finite"),
        (lambda: to_mip(REGRESSOR, -1, 1).minimise([1]), "costs: expected 4"),
        (lambda: to_sklearn(CONSTANT), "has no units"),
        (lambda: to_sklearn(ReLURegressor()), "holds no network"),
    ],
)
def test_one_sentence_for_what_cannot_be(export, message):
    with pytest.raises(InputError, match=message):
        export()
