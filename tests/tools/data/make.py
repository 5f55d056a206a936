#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make.py — writes the models beside it, with PyPI's onnx: outputs.onnx, whose outputs have names that
are one as file names, and endless.onnx, a Loop of 2^62 turns,
external.onnx, whose weights 1 and 2 are in the file external.onnx_data, and doubling.onnx, where 16
functions that call each other twice stand for 65,536 nodes."""
import os
import struct
import onnx
from onnx import TensorProto, helper

here = os.path.dirname(os.path.abspath(__file__))


def save(name, graph):
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8,
                              producer_name='')
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, os.path.join(here, name))


def value(name, kind=TensorProto.FLOAT, dims=(2,)):
    return helper.make_tensor_value_info(name, kind, list(dims))


save('outputs.onnx', helper.make_graph(
    [helper.make_node('Neg', ['in/a'], ['a/b']), helper.make_node('Abs', ['in/a'], ['a_b']),
     helper.make_node('Identity', ['in_a'], ['a:b']),
     helper.make_node('SequenceConstruct', ['in_a'], ['s']),
     helper.make_node('Add', ['in_a', 'in_a'], ['s_1'])], 'outputs',
    [value('in/a'), value('in_a')],
    [value('a/b'), value('a_b'), value('a:b'),
     helper.make_tensor_sequence_value_info('s', TensorProto.FLOAT, [2]), value('s_1')]))

body = helper.make_graph(
    [helper.make_node('Identity', ['go'], ['on']), helper.make_node('Neg', ['x'], ['y'])], 'body',
    [value('i', TensorProto.INT64, ()), value('go', TensorProto.BOOL, ()), value('x')],
    [value('on', TensorProto.BOOL, ()), value('y')])
save('endless.onnx', helper.make_graph(
    [helper.make_node('Loop', ['turns', '', 'start'], ['end'], body=body)], 'endless',
    [value('start')], [value('end')],
    [helper.make_tensor('turns', TensorProto.INT64, [], [1 << 62])]))

weights = TensorProto(name='w', data_type=TensorProto.FLOAT, dims=[2],
                      data_location=TensorProto.EXTERNAL)
weights.external_data.add(key='location', value='external.onnx_data')
with open(os.path.join(here, 'external.onnx_data'), 'wb') as file:
    file.write(struct.pack('<2f', 1, 2))
model = helper.make_model(helper.make_graph(
    [helper.make_node('Sub', ['w', 'w2'], ['y'])], 'external', [], [value('y')],
    [weights, helper.make_tensor('w2', TensorProto.FLOAT, [2], [0.5, 0.5])]),
    opset_imports=[helper.make_opsetid('', 17)], ir_version=8, producer_name='')
with open(os.path.join(here, 'external.onnx'), 'wb') as file:
    file.write(model.SerializeToString())

functions = [helper.make_function('f', 'f0', ['x'], ['y'], [helper.make_node('Neg', ['x'], ['y'])],
                                  [helper.make_opsetid('', 17)])]
for i in range(1, 17):
    inner = 'f%d' % (i - 1)
    functions.append(helper.make_function(
        'f', 'f%d' % i, ['x'], ['y'],
        [helper.make_node(inner, ['x'], ['m'], domain='f'),
         helper.make_node(inner, ['m'], ['y'], domain='f')],
        [helper.make_opsetid('', 17), helper.make_opsetid('f', 1)]))
model = helper.make_model(helper.make_graph(
    [helper.make_node('f16', ['x'], ['y'], domain='f')], 'doubling', [value('x')], [value('y')]),
    opset_imports=[helper.make_opsetid('', 17), helper.make_opsetid('f', 1)], ir_version=8,
    functions=functions, producer_name='')
with open(os.path.join(here, 'doubling.onnx'), 'wb') as file:
    file.write(model.SerializeToString())
