# SPDX-License-Identifier: MIT
"""registry.py: which recipe makes the cases of which operator, and onnx.reference as a peer."""
import warnings

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

from values import ID, ONNX, is_float, to, wide

RECIPES = {}   # operator id: recipe
CLASSES = {}   # operator id: classes of shapes that the operator can have
OPSET = 26


def recipe(names, classes=''):
    """Registers a recipe for operators (ids separated by blanks) that can take shapes of the named
    classes. The function takes a Draw and gives a Case."""
    def add(function):
        for name in names.split():
            RECIPES[name] = function
            CLASSES[name] = classes.split()
        return function
    return add


def reference(g, inputs, attrs=None, n_out=1, widen=True, opset=None, round_to=True):
    """Outputs of onnx.reference on the row's operator: on floats widened to f64, and rounded once
    to the type of the first float input."""
    attrs = {k: v for k, v in (attrs or {}).items()}
    names = ['' if a is None else 'i%d' % k for k, a in enumerate(inputs)]
    outs = ['o%d' % k for k in range(n_out)]
    node = helper.make_node(g.row.name, names, outs, domain=g.row.domain, **attrs)
    graph = helper.make_graph(
        [node], 'g', [helper.make_tensor_value_info(n, 1, None) for n in names if n],
        [helper.make_tensor_value_info(n, 1, None) for n in outs])
    imports = [helper.make_opsetid('', opset or max(OPSET, g.row.since))]
    if g.row.domain:
        imports.append(helper.make_opsetid(g.row.domain, g.row.since))
    model = helper.make_model(graph, opset_imports=imports)
    feeds = {n: wide(a) if widen else np.asarray(a) for n, a in zip(names, inputs) if n}
    with warnings.catch_warnings(), np.errstate(all='ignore'):
        warnings.simplefilter('ignore')
        got = ReferenceEvaluator(model).run(None, feeds)
    if not round_to:
        return got
    floats = [ID[np.asarray(a).dtype] for a in inputs
              if a is not None and is_float(ID[np.asarray(a).dtype])]
    return [to(floats[0], v) if floats and widen and isinstance(v, (np.ndarray, np.generic)) and
            np.asarray(v).dtype == np.float64 else v for v in got]


def peer(g, inputs, attrs=None, n_out=1, wanted=None):
    """Outputs of ONNX Runtime on the row's operator, as a reference where there is no other; a
    type that it has no kernel for is skipped."""
    import onnxruntime as ort
    wanted = wanted or [True] * n_out
    names = ['' if a is None else 'i%d' % k for k, a in enumerate(inputs)]
    while names and not names[-1]:
        names.pop()
    outs = ['o%d' % k if wanted[k] else '' for k in range(n_out)]
    while not outs[-1]:
        outs.pop()
    attrs = {k: v if not isinstance(v, np.ndarray) else helper.make_tensor(
        k, ONNX[ID[v.dtype]], v.shape, v.tobytes(), raw=True) for k, v in (attrs or {}).items()}
    node = helper.make_node(g.row.name, names, outs, domain=g.row.domain, **attrs)
    feeds = {n: np.asarray(a) for n, a in zip(names, inputs) if n}
    infos = [helper.make_tensor_value_info(n, ONNX[ID[a.dtype]], a.shape)
             for n, a in feeds.items()]
    graph = helper.make_graph([node], 'g', infos, [
        onnx.ValueInfoProto(name=n) for n in outs if n])
    imports = [helper.make_opsetid('', 22)]
    if g.row.domain:
        imports.append(helper.make_opsetid(g.row.domain, max(1, min(g.row.since, 3))))
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    try:
        session = ort.InferenceSession(model.SerializeToString(), options,
                                       providers=['CPUExecutionProvider'])
        got = iter(session.run([n for n in outs if n], feeds))
    except Exception as error:
        if 'NOT_IMPLEMENTED' in str(error) or 'Type Error' in str(error):
            g.need(False, 'ONNX Runtime has no kernel for the type')
        raise
    return [next(got) if k < len(outs) and outs[k] else None for k in range(n_out)]
