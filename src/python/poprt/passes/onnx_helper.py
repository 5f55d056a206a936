# SPDX-License-Identifier: MIT
"""Helpers for passes of your own, on onnx.ModelProto and onnx.GraphProto."""


def _graph(model):
    return model.graph if hasattr(model, "graph") else model


def _value_info(model, name):
    graph = _graph(model)
    for values in (graph.value_info, graph.input, graph.output):
        for info in values:
            if info.name == name:
                return info
    return None


def _initializer(model, name):
    for tensor in _graph(model).initializer:
        if tensor.name == name:
            return tensor
    return None


def get_dtype(model, name):
    """Returns the element type of a tensor, a number of onnx.TensorProto.DataType; None if it is
    unknown. ``model`` is a model or a graph."""
    info = _value_info(model, name)
    if info is not None and info.type.tensor_type.elem_type:
        return info.type.tensor_type.elem_type
    tensor = _initializer(model, name)
    if tensor is not None:
        return tensor.data_type
    value = _constant_proto(model, name)
    return value.data_type if value is not None else None


def get_shape(model, name):
    """Returns the shape of a tensor: a list of numbers, names of symbolic dimensions, and None for
    unknown ones; None if the rank is unknown. ``model`` is a model or a graph."""
    info = _value_info(model, name)
    if info is not None and info.type.tensor_type.HasField("shape"):
        shape = []
        for dim in info.type.tensor_type.shape.dim:
            if dim.HasField("dim_value"):
                shape.append(dim.dim_value)
            else:
                shape.append(dim.dim_param or None)
        return shape
    tensor = _initializer(model, name)
    if tensor is None:
        tensor = _constant_proto(model, name)
    return list(tensor.dims) if tensor is not None else None


def _constant_proto(model, name):
    for node in _graph(model).node:
        if node.op_type == "Constant" and name in node.output:
            for attribute in node.attribute:
                if attribute.name == "value":
                    return attribute.t
    return None


def get_constant(model, name):
    """Returns the numpy array of an initializer or of a Constant node; None if the tensor is not
    constant. ``model`` is a model or a graph."""
    tensor = _initializer(model, name)
    if tensor is None:
        tensor = _constant_proto(model, name)
    if tensor is None:
        return None
    from onnx import numpy_helper
    return numpy_helper.to_array(tensor)


def _inner_graphs(node):
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def _reads(node):
    """Names that a node reads, also in its graphs, whose own names are left out."""
    names = set(node.input)
    for graph in _inner_graphs(node):
        own = {info.name for info in graph.input} | {t.name for t in graph.initializer}
        for inner in graph.node:
            names |= _reads(inner) - own
            own |= set(inner.output)
        names |= {info.name for info in graph.output} - own
    names.discard("")
    return names


def topological_sort(graph):
    """Sorts the nodes of a graph, in place, so that each one follows those whose results it reads;
    otherwise their order stays. Also sorts graphs inside nodes. Returns the graph."""
    nodes = list(graph.node)
    maker = {name: i for i, node in enumerate(nodes) for name in node.output if name}
    needs = []
    for node in nodes:
        for inner in _inner_graphs(node):
            topological_sort(inner)
        needs.append({maker[name] for name in _reads(node) if name in maker})
    import heapq
    readers = [[] for _ in nodes]
    for i, sources in enumerate(needs):
        for source in sources:
            readers[source].append(i)
    missing = [len(sources) for sources in needs]
    ready = [i for i, count in enumerate(missing) if count == 0]
    order = []
    while ready:
        i = heapq.heappop(ready)
        order.append(i)
        for reader in readers[i]:
            missing[reader] -= 1
            if missing[reader] == 0:
                heapq.heappush(ready, reader)
    if len(order) != len(nodes):
        stuck = next(i for i, count in enumerate(missing) if count > 0)
        raise ValueError(f"the graph has a cycle through node {nodes[stuck].name!r} "
                         f"({nodes[stuck].op_type})")
    if order != list(range(len(nodes))):
        copies = [type(node).FromString(node.SerializeToString()) for node in nodes]
        del graph.node[:]
        graph.node.extend(copies[i] for i in order)
    return graph


def clean_info(model):
    """Removes the types of inner tensors, in place, from the graph and the graphs inside nodes.
    Returns the model."""
    def clean(graph):
        del graph.value_info[:]
        for node in graph.node:
            for inner in _inner_graphs(node):
                clean(inner)
    clean(_graph(model))
    return model
