#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_calibration.py [OUT_DIR] - writes tests/data/calibration: the same arrays as archives and
pickles of every protocol, and pickles that a careful reader refuses. Needs numpy 2."""
import io
import os
import pickle
import sys
import zipfile

import numpy as np

OUT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), 'calibration')
os.makedirs(OUT, exist_ok=True)
os.makedirs(os.path.join(OUT, 'folder'), exist_ok=True)

ARRAYS = {
    'image': (np.arange(3 * 2 * 4, dtype=np.float32).reshape(3, 2, 4) - 5) / 4,
    'tokens': np.asfortranarray(np.array([[1, -2], [3, 400], [-5, 60000]], dtype=np.int64)),
    'mask': np.array([True, False, True]),
    'big': np.array([1.5, -2.25, 1e300], dtype='>f8'),
    'bytes': np.array([0, 127, 255], dtype=np.uint8),
}


def put(name, data):
    with open(os.path.join(OUT, name), 'wb') as f:
        f.write(data)



def archive(name, method):
    data = io.BytesIO()
    with zipfile.ZipFile(data, 'w', method) as z:
        for key, value in ARRAYS.items():
            npy = io.BytesIO()
            np.save(npy, value)
            info = zipfile.ZipInfo(key + '.npy', (2000, 1, 1, 0, 0, 0))
            info.compress_type = method
            with z.open(info, 'w', force_zip64=True) as f:
                f.write(npy.getvalue())
    put(name, data.getvalue())


archive('stored.npz', zipfile.ZIP_STORED)
archive('deflated.npz', zipfile.ZIP_DEFLATED)
for key, value in ARRAYS.items():
    np.save(os.path.join(OUT, 'folder', key + '.npy'), value)
for protocol in (2, 3, 4, 5):
    put('protocol%d.pickle' % protocol, pickle.dumps(ARRAYS, protocol))
# as numpy 1 wrote it
old = pickle.dumps(ARRAYS, 3).replace(b'numpy._core.multiarray\n', b'numpy.core.multiarray\n')
put('numpy1.pickle', old)
# samples in a list, numbers of one element among them
put('lists.pickle', pickle.dumps({'x': [ARRAYS['image'][i] for i in range(3)],
                                  'n': tuple(np.float32(i / 2) for i in range(3))}, 4))


class Call:
    def __reduce__(self):
        return os.system, ('true',)


put('call.pickle', pickle.dumps({'x': Call()}, 2))
put('call4.pickle', pickle.dumps({'x': Call()}, 4))
put('objects.pickle', pickle.dumps({'x': np.array([1, 'a', None], dtype=object)}, 4))
put('numbers.pickle', pickle.dumps({'x': [1, 2, 3], 'y': 2.5, 'z': -(1 << 40)}, 4))
put('uneven.pickle', pickle.dumps({'a': np.zeros((2, 1)), 'b': np.zeros((3, 1))}, 4))
put('list.pickle', pickle.dumps([1, 2], 4))
put('text.pickle', pickle.dumps({'x': np.zeros(1)}, 0))
