# SPDX-License-Identifier: MIT
"""The engines behind one face: load a model, give it inputs, run it in a loop, read its outputs.

Each is used through its C interface, by ctypes from its PyPI package, and timed by the C loop of
loop.c, so that no interpreter is between two runs; ncnn has no C interface there and is timed from
Python. All compute in float32, with as many threads as they are told.
"""
import ctypes as c
import glob
import importlib.util
import os
import time

import numpy as np

POINTER = c.c_void_p
LOOP_POPRT, LOOP_ORT, LOOP_OPENVINO, LOOP_DECODE = range(4)
DTYPES = {"float32": 1, "uint8": 2, "int32": 6, "int64": 7, "bool": 9}  # ONNX's numbers
MOST_SAMPLES = 200000


def package_file(package, pattern):
    """A file of an installed package, without importing it."""
    spec = importlib.util.find_spec(package)
    found = glob.glob(os.path.join(os.path.dirname(spec.origin), pattern)) if spec else []
    if not found:
        raise RuntimeError(f"{package} is not installed")
    return sorted(found)[0]


def dims_of(array):
    return (c.c_int64 * max(array.ndim, 1))(*array.shape)


class LoopCall(c.Structure):
    _fields_ = [("kind", c.c_int32), ("run", POINTER), ("a", POINTER), ("b", POINTER),
                ("c", POINTER)]


class Engine:
    """Loading fills `call`; inputs are numpy arrays in the model's order, `outputs` its entries."""
    name = "?"

    def __init__(self, tools, threads):
        self.tools, self.threads, self.call = tools, threads, None
        self.loop_library = c.CDLL(tools["loop"])
        self.loop_library.bench_loop.restype = c.c_int64
        self.samples = np.zeros(MOST_SAMPLES, np.uint64)

    def loop(self, seconds, each=1, least=3):
        """Nanoseconds of each sample of `each` runs."""
        n = self.loop_library.bench_loop(
            c.byref(self.call), c.c_int64(each), c.c_int64(least), c.c_int64(MOST_SAMPLES),
            c.c_uint64(int(seconds * 1e9)), c.c_void_p(self.samples.ctypes.data))
        if n < 0:
            raise RuntimeError(f"{self.name}: a run failed")
        return self.samples[:n].astype(float) / each


# ---------------------------------------------------------------- libpoprt
class EnvOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("allocator", POINTER), ("parallel", POINTER),
                ("threads", c.c_uint32), ("spin_us", c.c_uint32), ("log", POINTER),
                ("log_user", POINTER), ("log_level", c.c_int32), ("reserved", c.c_uint32),
                ("progress", POINTER), ("progress_user", POINTER), ("memory_limit", c.c_size_t)]


class Tensor(c.Structure):
    _fields_ = [("data", POINTER), ("size", c.c_size_t), ("dims", c.POINTER(c.c_int64)),
                ("rank", c.c_uint32), ("dtype", c.c_int32)]


class Error(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("status", c.c_int)] + [
        (n, c.c_char_p) for n in ("stage", "file", "subject", "message")]


class Poprt(Engine):
    """libpoprt from a PopEF file."""
    name = "libpoprt"
    source = "popef"

    def __init__(self, tools, threads):
        super().__init__(tools, threads)
        self.library = c.CDLL(tools["poprt"])
        self.library.poprt_last_error.restype = c.POINTER(Error)
        self.library.poprt_session_memory.restype = c.c_size_t
        options = EnvOptions(struct_size=c.sizeof(EnvOptions), threads=threads)
        self.env = self.make("poprt_env_create", c.byref(options))

    def check(self, status):
        if status:
            raise RuntimeError(self.library.poprt_last_error().contents.message.decode())

    def make(self, function, *args):
        out = POINTER()
        self.check(getattr(self.library, function)(*args, c.byref(out)))
        return out

    def compile(self, path, **options):
        """The executable and the milliseconds of loading and compiling."""
        config = self.make("poprt_config_create", self.env)
        for key, value in options.items():
            self.check(self.library.poprt_config_set(config, key.encode(), value.encode()))
        begin = time.perf_counter()
        model = self.make("poprt_model_load_file", self.env, path.encode(), None)
        middle = time.perf_counter()
        exe = self.make("poprt_compile", model, config)
        self.library.poprt_config_release(config)
        self.library.poprt_model_release(model)
        return exe, (middle - begin) * 1e3, (time.perf_counter() - middle) * 1e3

    def save(self, onnx, popef, **options):
        exe = self.compile(onnx, **options)[0]
        self.check(self.library.poprt_executable_save_file(exe, popef.encode()))

    def open(self, files):
        path = files[self.source].encode()
        return self.make("poprt_executable_load_file", self.env, path, None)

    def load(self, files, inputs, outputs):
        exe = self.open(files)
        self.session = self.make("poprt_session_create", exe, None)
        self.io = self.make("poprt_stepio_create", self.session)
        self.inputs, self.described = inputs, outputs
        for slot, x in enumerate(inputs):
            tensor = Tensor(x.ctypes.data, x.nbytes, dims_of(x), x.ndim, DTYPES[str(x.dtype)])
            self.check(self.library.poprt_stepio_bind_at(self.io, c.c_size_t(slot),
                                                         c.byref(tensor)))
        run = c.cast(self.library.poprt_session_run, POINTER)
        self.call = LoopCall(LOOP_POPRT, run, self.session, self.io, None)

    def outputs(self):
        out = []
        for i, o in enumerate(self.described):
            t = Tensor()
            slot = c.c_size_t(len(self.inputs) + i)
            self.check(self.library.poprt_stepio_output(self.io, slot, c.byref(t)))
            out.append(np.frombuffer(c.string_at(t.data, t.size), o["dtype"]).reshape(o["shape"]))
        return out


class Decode(c.Structure):
    _fields_ = [("run", POINTER), ("bind", POINTER), ("bind_cache", POINTER), ("mask", c.c_char_p),
                ("seen", c.POINTER(Tensor)), ("seen_dims", c.POINTER(c.c_int64)),
                ("names", c.POINTER(c.c_char_p)), ("rooms", c.POINTER(Tensor)),
                ("n_caches", c.c_int64), ("first", c.c_int64), ("end", c.c_int64),
                ("rows", c.c_int64)]


class PoprtCache(Poprt):
    """libpoprt with an input past_X and an output present_X in one piece of memory, which grows by
    a word from run to run: from some words less than the inputs have to as many more."""
    AROUND, ROOM = 32, 1024

    def load(self, files, inputs, outputs):
        super().load(files, inputs, outputs)
        names = [e["name"] for e in files["inputs"]]
        pairs = [(i, n, n.replace("past", "present")) for i, n in enumerate(names)
                 if n.startswith("past_")]
        self.pasts = [inputs[i] for i, _, _ in pairs]
        batch, heads, rows, size = self.pasts[0].shape
        self.caches = [np.zeros((batch, heads, self.ROOM, size), x.dtype) for x in self.pasts]
        self.fill()
        self.rooms = (Tensor * len(pairs))(*(
            Tensor(x.ctypes.data, x.nbytes, dims_of(x), x.ndim, DTYPES[str(x.dtype)])
            for x in self.caches))
        self.names = (c.c_char_p * (2 * len(pairs)))(*(
            n.encode() for _, a, b in pairs for n in (a, b)))
        self.seen = np.ones((1, self.ROOM), np.int64)
        dims = dims_of(self.seen)
        mask = Tensor(self.seen.ctypes.data, 0, dims, 2, DTYPES["int64"])
        at = lambda f: c.cast(getattr(self.library, f), POINTER)
        self.past = rows
        self.decode = Decode(
            at("poprt_session_run"), at("poprt_stepio_bind"), at("poprt_stepio_bind_cache"),
            b"attention_mask", c.pointer(mask), dims, self.names, self.rooms, len(pairs),
            rows - self.AROUND, rows + self.AROUND, rows + self.AROUND)
        self.call = LoopCall(LOOP_DECODE, None, self.session, self.io,
                             c.cast(c.pointer(self.decode), POINTER))

    def fill(self):
        for room, past in zip(self.caches, self.pasts):
            room[:, :, :past.shape[2]] = past

    def outputs(self):
        """Of a run with as many words as the inputs have."""
        self.fill()
        first, self.decode.first = self.decode.first, self.past
        self.decode.rows = self.decode.end
        self.loop(0, least=1)
        self.decode.first, self.decode.rows = first, self.decode.end
        found, out = iter(self.caches), []
        for i, o in enumerate(self.described):
            if o["name"].startswith("present_"):
                out.append(next(found)[:, :, :self.past + 1])
                continue
            t = Tensor()
            self.check(self.library.poprt_stepio_output(
                self.io, c.c_size_t(len(self.inputs) + i), c.byref(t)))
            out.append(np.frombuffer(c.string_at(t.data, t.size), o["dtype"]).reshape(o["shape"]))
        return out


class PoprtOnnx(Poprt):
    """libpoprt from ONNX, compiled in the process that runs it."""
    name = "libpoprt, compiled here"
    source = "onnx"

    def open(self, files):
        return self.compile(files["onnx"])[0]


# ---------------------------------------------------------------- ONNX Runtime
class Ort(Engine):
    """ONNX Runtime; its functions by their place in the table, which only grows at its end."""
    name = "ONNX Runtime"
    source = "onnx"
    LIBRARY = ("onnxruntime", "capi/libonnxruntime.so*")
    (MESSAGE, ENV, SESSION, OPTIONS, INTRA, INTER, TENSOR, MEMORY, RUN, BINDING, BIND_INPUT,
     BIND_OUTPUT) = 2, 3, 7, 10, 24, 25, 49, 69, 133, 134, 136, 137

    def __init__(self, tools, threads):
        super().__init__(tools, threads)
        library = c.CDLL(package_file(*self.LIBRARY))
        library.OrtGetApiBase.restype = c.POINTER(POINTER)
        get = c.CFUNCTYPE(c.POINTER(POINTER), c.c_uint32)(library.OrtGetApiBase()[0])
        self.table = get(17)

    def do(self, place, *args):
        kinds = [c.c_char_p if isinstance(a, bytes) else POINTER if a is None else type(a)
                 for a in args]
        status = c.CFUNCTYPE(POINTER, *kinds)(self.table[place])(*args)
        if status:
            message = c.CFUNCTYPE(c.c_char_p, POINTER)(self.table[self.MESSAGE])(status)
            raise RuntimeError(message.decode())

    def make(self, place, *args):
        out = POINTER()
        self.do(place, *args, c.pointer(out))
        return out

    def tensor(self, memory, x):
        return self.make(self.TENSOR, memory, POINTER(x.ctypes.data), c.c_size_t(x.nbytes),
                         c.cast(dims_of(x), POINTER), c.c_size_t(x.ndim),
                         c.c_int(DTYPES[str(x.dtype)]))

    def load(self, files, inputs, outputs):
        env = self.make(self.ENV, c.c_int(3), b"bench")
        options = self.make(self.OPTIONS)
        self.do(self.INTRA, options, c.c_int(self.threads))
        self.do(self.INTER, options, c.c_int(1))
        session = self.make(self.SESSION, env, files["onnx"].encode(), options)
        memory = self.make(self.MEMORY, c.c_int(0), c.c_int(0))
        binding = self.make(self.BINDING, session)
        self.inputs = inputs
        self.results = [np.zeros(o["shape"], o["dtype"]) for o in outputs]
        for entry, x in zip(files["inputs"], inputs):
            self.do(self.BIND_INPUT, binding, entry["name"].encode(), self.tensor(memory, x))
        for entry, x in zip(outputs, self.results):
            self.do(self.BIND_OUTPUT, binding, entry["name"].encode(), self.tensor(memory, x))
        self.call = LoopCall(LOOP_ORT, self.table[self.RUN], session, None, binding)

    def outputs(self):
        return self.results


# ---------------------------------------------------------------- OpenVINO
class Shape(c.Structure):
    _fields_ = [("rank", c.c_int64), ("dims", c.POINTER(c.c_int64))]


class OpenVino(Engine):
    """OpenVINO with one stream; float32, where its default on some processors is bfloat16."""
    name = "OpenVINO"
    source = "onnx"
    LIBRARY = ("openvino", "libs/libopenvino_c.so*")

    def __init__(self, tools, threads):
        super().__init__(tools, threads)
        self.library = c.CDLL(package_file(*self.LIBRARY))
        self.library.ov_get_last_err_msg.restype = c.c_char_p

    def do(self, function, *args):
        if getattr(self.library, function)(*args):
            raise RuntimeError((self.library.ov_get_last_err_msg() or b"?").decode())

    def make(self, function, *args):
        out = POINTER()
        self.do(function, *args, c.byref(out))
        return out

    def bytes_of(self, tensor):
        data, size = self.make("ov_tensor_data", tensor), c.c_size_t()
        self.do("ov_tensor_get_byte_size", tensor, c.byref(size))
        return data.value, size.value

    def load(self, files, inputs, outputs):
        core, compiled = self.make("ov_core_create"), POINTER()
        model = self.make("ov_core_read_model", core, files["onnx"].encode(), None)
        said = [b"INFERENCE_NUM_THREADS", b"%d" % self.threads, b"NUM_STREAMS", b"1",
                b"INFERENCE_PRECISION_HINT", b"f32", b"PERFORMANCE_HINT", b"LATENCY"]
        self.do("ov_core_compile_model", core, model, b"CPU", c.c_size_t(len(said)),
                c.byref(compiled), *[c.c_char_p(s) for s in said])
        self.request = self.make("ov_compiled_model_create_infer_request", compiled)
        self.described = outputs
        for i, x in enumerate(inputs):
            tensor = self.make("ov_infer_request_get_input_tensor_by_index", self.request,
                               c.c_size_t(i))
            self.do("ov_tensor_set_shape", tensor, Shape(x.ndim, dims_of(x)))
            data, size = self.bytes_of(tensor)
            if size != x.nbytes:
                raise RuntimeError(f"input {i} has {size} bytes")
            c.memmove(data, x.ctypes.data, size)
        run = c.cast(self.library.ov_infer_request_infer, POINTER)
        self.call = LoopCall(LOOP_OPENVINO, run, self.request, None, None)

    def outputs(self):
        out = []
        for i, o in enumerate(self.described):
            data, size = self.bytes_of(self.make("ov_infer_request_get_output_tensor_by_index",
                                                 self.request, c.c_size_t(i)))
            out.append(np.frombuffer(c.string_at(data, size), o["dtype"]).reshape(o["shape"]))
        return out


# ---------------------------------------------------------------- ncnn
class Ncnn(Engine):
    """ncnn from what its converter pnnx makes of the ONNX file; float32 throughout."""
    name = "ncnn"
    source = "ncnn"

    def load(self, files, inputs, outputs):
        import ncnn
        self.module, self.net, self.described = ncnn, ncnn.Net(), outputs
        options = self.net.opt
        options.num_threads = self.threads
        for name in dir(options):
            if name.startswith(("use_fp16", "use_bf16", "use_int8", "use_vulkan")):
                setattr(options, name, False)
        stem = files["ncnn"]
        if not os.path.exists(stem + ".bin"):
            raise RuntimeError("its converter cannot read the model")
        if self.net.load_param(stem + ".param") or self.net.load_model(stem + ".bin"):
            raise RuntimeError("the converted files cannot be loaded")
        names = [sorted(n, key=lambda s: int(s.lstrip("inout")))
                 for n in (self.net.input_names(), self.net.output_names())]
        if [len(n) for n in names] != [len(inputs), len(outputs)]:
            raise RuntimeError("inputs or outputs were lost in conversion")
        self.names, self.inputs = names, [self.mat(x) for x in inputs]
        self.run()

    def mat(self, x):
        """Without the batch, the first dimension of 1: ncnn has one thing at a time."""
        x = x.astype(np.int32) if x.dtype == np.int64 else x
        if 1 in x.shape and x.ndim > 1:
            x = x.squeeze(x.shape.index(1))
        return self.module.Mat(np.ascontiguousarray(x)).clone()

    def run(self):
        extractor = self.net.create_extractor()
        for name, mat in zip(self.names[0], self.inputs):
            extractor.input(name, mat)
        out = [extractor.extract(name) for name in self.names[1]]
        if any(status for status, _ in out):
            raise RuntimeError("a run failed")
        self.results = [mat for _, mat in out]

    def loop(self, seconds, each=1, least=3):
        times, end = [], time.perf_counter() + seconds
        while len(times) < least or time.perf_counter() < end:
            start = time.perf_counter_ns()
            for _ in range(each):
                self.run()
            times.append((time.perf_counter_ns() - start) / each)
        return np.array(times)

    def outputs(self):
        return [np.array(m).reshape(o["shape"]) for m, o in zip(self.results, self.described)]


# libpoprt with other options than the default ones: what they are, and files of their own.
WEIGHTS = ("f16", "bf16", "f8e5m2", "f8e4m3", "i8", "i4")
VARIANTS = {"kept": {"winograd_growth": "300"}, "integers": {"compute": "i8"}} | {
    w: {"weights": w} for w in WEIGHTS}

ENGINES = {"popef": Poprt, "onnx": PoprtOnnx, "ort": Ort, "openvino": OpenVino, "ncnn": Ncnn}
ENGINES |= {v: type("Poprt_" + v, (Poprt,), {"source": v}) for v in VARIANTS}
CACHES = {"cache": "popef"} | {"cache_" + w: w for w in WEIGHTS}
ENGINES |= {v: type("Poprt_" + v, (PoprtCache,), {"source": s}) for v, s in CACHES.items()}
