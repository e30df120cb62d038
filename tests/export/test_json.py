"""Networks in files: back to the last bit, as the schema says, and refused in one sentence."""

import json

import numpy as np
import pytest

from zonofit.errors import InputError
from zonofit.export import load, save, schema
from zonofit.network import ShallowReLU

RNG = np.random.default_rng(0)
NETWORK = ShallowReLU(RNG.standard_normal((5, 4)), RNG.standard_normal(5), 1 / 3, ("a", "b", "ü"), "y", ("no", "yes"))


def test_back_to_the_last_bit(tmp_path):
    again = load(save(NETWORK, tmp_path / "n.json"))
    assert (again.W == NETWORK.W).all() and (again.v == NETWORK.v).all() and again.c == NETWORK.c
    assert again.to_dict() == NETWORK.to_dict()


@pytest.mark.parametrize("network", [NETWORK, ShallowReLU([[1, 2]], [3], 4), ShallowReLU(np.zeros((0, 3)), [], 1)])
def test_the_schema_describes_the_file(network):
    properties = schema()["properties"]
    fields = json.loads(json.dumps(network.to_dict()))
    assert set(fields) <= set(properties) and set(schema()["required"]) <= set(fields)
    types = {"array": list, "string": str, "number": (int, float), "integer": int}
    for name, value in fields.items():
        if "type" in properties[name]:
            assert isinstance(value, types[properties[name]["type"]]), name
        else:
            assert value == properties[name]["const"]


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "is not JSON"), ("[]", "this is no network"), ('{"format": "zonofit trace"}', "this is no network")],
)
def test_other_files(tmp_path, text, message):
    (tmp_path / "n.json").write_text(text)
    with pytest.raises(InputError, match=message):
        load(tmp_path / "n.json")


def test_absent_and_unwritable(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        load(tmp_path / "absent.json")
    with pytest.raises(InputError, match="cannot be written"):
        save(NETWORK, tmp_path / "no" / "n.json")
    with pytest.raises(InputError, match="holds no network"):
        save(3, tmp_path / "n.json")
