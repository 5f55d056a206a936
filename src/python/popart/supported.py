# SPDX-License-Identifier: MIT
"""The operators that the library has."""

import functools
import json

from poprt import _env

from .enums import DataType
from .tensorinfo import type_name


class OperatorIdentifier:
    """Domain, type and version of an operator."""

    def __init__(self, domain, type, version):
        self.domain, self.type, self.version = domain, type, version
        self.opset = version

    def __eq__(self, other):
        return isinstance(other, OperatorIdentifier) and vars(self) == vars(other)

    def __hash__(self):
        return hash((self.domain, self.type, self.version))

    def __repr__(self):
        return f"{self.domain}.{self.type}:{self.version}"


class OperandDefinition:
    """An input or output of an operator: its name and the types it may have."""

    def __init__(self, operand, types):
        self.name = operand["name"]
        self.supportedTensors = [getattr(DataType, name) for name in map(
            type_name, types.get(operand["type"], ())) if name is not None]
        self.constant = False


class OpDefinition:
    """Inputs, outputs and attributes of an operator."""

    def __init__(self, row):
        self.inputs = [OperandDefinition(operand, row["types"]) for operand in row["inputs"]]
        self.outputs = [OperandDefinition(operand, row["types"]) for operand in row["outputs"]]
        self.attributes = {a["name"]: a for a in row["attributes"]}


@functools.lru_cache(None)
def _table():
    return json.loads(_env.environment().operators(2))


def _rows(internal):
    for row in _table():
        if row["runs"] and (internal or row["domain"] != "poprt"):
            for version in row["versions"]:
                yield OperatorIdentifier(row["domain"] or "ai.onnx", row["name"], version), row


def getSupportedOperations(includeInternal):
    """Lists the operators that run: OperatorIdentifier."""
    return [identifier for identifier, _ in _rows(includeInternal)]


def getUnsupportedOperations(opsetVersion):
    """Lists the operators of an opset of ai.onnx that do not run."""
    return [OperatorIdentifier(row["domain"] or "ai.onnx", row["name"], row["versions"][-1])
            for row in _table() if not row["runs"] and row["versions"][0] <= opsetVersion]


def getSupportedOperationsDefinition(includeInternal):
    """Dict of OperatorIdentifier and OpDefinition."""
    return {identifier: OpDefinition(row) for identifier, row in _rows(includeInternal)}
