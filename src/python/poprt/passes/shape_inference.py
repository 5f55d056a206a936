# SPDX-License-Identifier: MIT
"""Shape inference, with functions of your own for operators that the library does not know."""

from .. import _core, _env, _source
from .onnx_helper import get_dtype, get_shape

_functions = {}


class ShapeFunc:
    """Base class of shape functions.

    A class overrides ``__call__(self, model, node)``: it adds the types of the node's outputs to
    ``model.graph.value_info`` and returns ``(model, True)``, or ``(model, False)`` as long as it
    does not know enough of the inputs. ``model`` has the node, its inputs with their types, and the
    inputs that are constants as initializers: see ``get_dtype``, ``get_shape``, ``get_constant``.
    """

    def __call__(self, model, node):
        raise NotImplementedError(f"{type(self).__name__} has no method __call__")


def register_shape_func(op_types):
    """Decorator of a class derived from ShapeFunc, or of a function ``(model, node)``: registers it
    for operators that the library does not know, in models that are read from then on."""
    op_types = [op_types] if isinstance(op_types, str) else list(op_types)
    if not op_types or not all(isinstance(name, str) and name for name in op_types):
        raise ValueError("a shape function is registered for one or more names of operators")

    def decorate(fn):
        function = fn() if isinstance(fn, type) else fn
        if not callable(function):
            raise TypeError("a shape function is a class derived from ShapeFunc, or a function")
        for name in op_types:
            if name in _functions:
                raise ValueError(f"there is already a shape function for {name!r}")
        for name in op_types:
            _functions[name] = function
        _env.set_shape_function(_infer)
        return fn
    return decorate


def _make_model(domain, node, in_names, in_types, constants):
    """A model of one node, with what is known of its inputs."""
    from onnx import helper, numpy_helper
    inputs, initializers, seen = [], [], set()
    for name, (dtype, dims), constant in zip(in_names, in_types, constants):
        if not name or name in seen:
            continue
        seen.add(name)
        if constant is not None:
            initializers.append(numpy_helper.from_array(constant, name))
        elif dtype:
            inputs.append(_info(name, dtype, dims))
    graph = helper.make_graph([node], "unknown_operator", inputs, [], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(domain, 1)])


def _info(name, dtype, dims):
    from onnx import helper
    shape = None if dims is None else [dim if dim >= 0 else None for dim in dims]
    return helper.make_tensor_value_info(name, dtype, shape)


def _infer(domain, op_type, name, attributes, in_names, out_names, in_types, constants, out_types):
    """Hook of the extension: types of the outputs of a node of an unknown operator."""
    function = _functions.get(op_type)
    if function is None:
        return [None] * len(out_names)
    import onnx
    node = onnx.NodeProto.FromString(attributes)
    node.op_type, node.domain, node.name = op_type, domain, name
    node.input.extend(in_names)
    node.output.extend(out_names)
    model = _make_model(domain, node, in_names, in_types, constants)
    model, ok = function(model, node)
    if not ok:
        return [None] * len(out_names)
    return [_type(model, name) if name else None for name in out_names]


def _type(model, name):
    dtype, shape = get_dtype(model, name), get_shape(model, name)
    if not dtype and shape is None:
        return None
    if shape is not None:
        shape = tuple(dim if isinstance(dim, int) and dim >= 0 else -1 for dim in shape)
    return dtype or 0, shape


def infer_shapes(model):
    """Returns a ModelProto with the types of all tensors that can be inferred in value_info."""
    env = _env.environment()
    core = _source.load_model(env, model)
    manager = _core.PassManager(env)
    manager.add("shape_inference", [])
    manager.run(core)
    return _source.to_proto(core)
