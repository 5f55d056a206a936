#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Judges the files that convert.py wrote by programs that are not ours.

    check.py OUT KNOWN REFUSED

onnx.checker looks at every file, strict inference of types and shapes included. Where onnxruntime can
be imported, it loads each file and runs it on the stored inputs of its case, and its outputs are
compared with those it gives for the original model, or with the stored ones where it cannot run the
original. KNOWN is a Markdown table of the files that may fail, and why. REFUSED has a line
"CONVERSION N" for each conversion: how many models the tool may refuse to convert so.
Prints a table of counts, then each failure, then the line "N passed, N failed".

What is skipped, and counted as such:
- opsets that the installed onnx does not know;
- files whose original is refused as well, with the same kind of error;
- running files with operators of ai.graphcore (FP8);
- files for which ONNX Runtime says that it has no kernel, where the conversion asked for a narrower
  type;
- values of models that draw random numbers.
"""

import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile
import threading

SECONDS = 120  # for one model and all its files
MOST_GROWTH = 64 << 10  # bytes of a file, beside a tenth: small tables are folded
MOST_CRASHES = 5  # of the process on original models, before the judge gives up
# How far outputs may be apart, as a share of the largest element. Most of the models are a single
# operator, which may lose what a few roundings of its type lose.
EXACT = 2e-5  # conversions that only rewrite
APART = {"fp16": 0.02, "bf16": 0.05, "mixed": 0.02, "fp8": 0.1, "fp8_weight": 0.1, "int8": 0.05}
NARROW = set(APART)
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
    "RandomUniformLike"}


# ---- the worker: one model at a time ----

def graphs_of(graph):
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in [attribute.g, *attribute.graphs]:
                if inner.node:
                    yield from graphs_of(inner)


def rename(graph, old, new):
    """A value of another name for all nodes of a graph."""
    for node in graph.node:
        for names in (node.input, node.output):
            for k, name in enumerate(names):
                if name == old:
                    names[k] = new
    for values in (graph.value_info, graph.initializer):
        for value in values:
            if value.name == old:
                value.name = new


def draws_numbers(model):
    import onnx
    for graph in graphs_of(model.graph):
        for node in graph.node:
            training = node.op_type == "Dropout" and len(node.input) > 2
            if node.op_type in RANDOM or training:
                return True
    return any(node.op_type in RANDOM for f in model.functions for node in f.node)


def stored(folder, prefix, values):
    """The tensors of a data set by name; None where one is not a tensor."""
    import onnx
    from onnx import numpy_helper
    found = {}
    for i, value in enumerate(values):
        path = os.path.join(folder, f"{prefix}_{i}.pb")
        if not os.path.exists(path):
            return None
        kind = value.type.WhichOneof("value")
        with open(path, "rb") as file:
            data = file.read()
        if kind != "tensor_type":
            return None
        tensor = onnx.TensorProto()
        tensor.ParseFromString(data)
        found[value.name] = numpy_helper.to_array(tensor)
    return found


def opset_of(model):
    """Version of ai.onnx that a model imports; 0: none."""
    return max((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=0)


def words_of(error):
    return " ".join(str(error).split())[:400]


def kind_of(error):
    """ONNX Runtime's name of an error, such as INVALID_GRAPH; of others the text."""
    found = re.match(r"\[ONNXRuntimeError\] : \d+ : (\w+)", str(error))
    return found.group(1) if found else words_of(error)


@dataclasses.dataclass
class Original:
    """What is known of the model before its conversion."""
    checked: str       # by onnx.checker: '' is good
    opset: int         # 0: of no known domain
    size: int          # bytes
    inputs: dict = None   # stored ones; None: there are none
    outputs: dict = None  # reference; None: there are none, or they are random
    refused: str = None   # kind of error with which ONNX Runtime refuses the model


class Judge:
    def __init__(self):
        import onnx
        self.onnx = onnx
        self.newest = onnx.defs.onnx_opset_version()
        try:
            import onnxruntime
            onnxruntime.set_default_logger_severity(4)
            self.runtime = onnxruntime
        except ImportError:
            self.runtime = None

    def check(self, path):
        """'' or what onnx.checker says; None where it does not know an opset."""
        model = self.onnx.load(path, load_external_data=False)
        if model.ir_version > self.onnx.IR_VERSION:
            return None
        for opset in model.opset_import:
            if opset.domain in ("", "ai.onnx") and opset.version > self.newest:
                return None
            if opset.domain == "ai.onnx.ml" and opset.version > self.newest_ml():
                return None
        try:
            self.onnx.checker.check_model(path)
            # What full_check does, which would write the inferred shapes into the file itself.
            with tempfile.NamedTemporaryFile() as inferred:
                self.onnx.shape_inference.infer_shapes_path(path, inferred.name, True, True)
        except Exception as error:
            return words_of(error)
        return ""

    def newest_ml(self):
        return max((s.since_version for s in self.onnx.defs.get_all_schemas_with_history()
            if s.domain == "ai.onnx.ml"), default=0)

    def open(self, path):
        options = self.runtime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        return self.runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def open_wide(self, path):
        """Like open, for a model whose inputs and outputs of bfloat16 numpy cannot hold: Casts around
        it let it take and give float32."""
        onnx, bfloat16 = self.onnx, self.onnx.TensorProto.BFLOAT16
        model = onnx.load(path)
        if any(o.domain in ("", "ai.onnx") and o.version < 13 for o in model.opset_import):
            return self.open(path)
        made, first, last = {i.name for i in model.graph.initializer}, [], []
        for value in [*model.graph.input, *model.graph.output]:
            kind = value.type.tensor_type
            if kind.elem_type != bfloat16 or value.name in made:
                continue
            inner = value.name + ".bfloat16"
            for graph in graphs_of(model.graph):
                rename(graph, value.name, inner)
            is_input = any(value is i for i in model.graph.input)
            kind.elem_type = onnx.TensorProto.FLOAT
            if is_input:
                first.append(onnx.helper.make_node("Cast", [value.name], [inner], to=bfloat16))
            else:
                last.append(onnx.helper.make_node("Cast", [inner], [value.name],
                    to=onnx.TensorProto.FLOAT))
        for node in reversed(first):
            model.graph.node.insert(0, node)
        model.graph.node.extend(last)
        return self.open(model.SerializeToString()) if first or last else self.open(path)

    def run(self, session, given):
        import numpy as np
        types = {"tensor(float16)": np.float16, "tensor(float)": np.float32,
            "tensor(int32)": np.int32, "tensor(int64)": np.int64, "tensor(double)": np.float64}
        feed = {}
        for value in session.get_inputs():
            if value.name not in given:
                return None
            want = types.get(value.type)
            array = given[value.name]
            if want is not None and array.dtype != want and array.dtype.kind in "fi":
                array = array.astype(want)
            feed[value.name] = array
        return dict(zip([o.name for o in session.get_outputs()], session.run(None, feed)))

    def values(self, path):
        """Pairs of inputs and reference outputs of a model's first data set; None: no such."""
        folder = os.path.join(os.path.dirname(path), "test_data_set_0")
        if not os.path.isdir(folder):
            return None
        model = self.onnx.load(path, load_external_data=False)
        made = {i.name for i in model.graph.initializer}
        inputs = stored(folder, "input", [i for i in model.graph.input if i.name not in made])
        outputs = stored(folder, "output", model.graph.output)
        return (inputs, outputs) if inputs is not None and outputs is not None else None

    def apart(self, conversion, got, want):
        """'' or how two outputs differ."""
        import numpy as np
        bound = APART.get(conversion, EXACT)
        for name, reference in want.items():
            if name not in got:
                return f"output '{name}' is missing"
            a, b = np.asarray(got[name]), np.asarray(reference)
            if a.shape != b.shape:
                return f"output '{name}' has shape {list(a.shape)}, not {list(b.shape)}"
            if a.dtype.kind in "OSU" or b.dtype.kind in "OSU":
                if a.astype(str).tolist() != b.astype(str).tolist():
                    return f"output '{name}' has other strings"
                continue
            a, b = a.astype(np.float64), b.astype(np.float64)
            if not np.array_equal(np.isnan(a), np.isnan(b)):
                return f"output '{name}' has NaN at other places"
            most = np.abs(b[np.isfinite(b)]).max(initial=1e-3)
            with np.errstate(invalid="ignore"):
                far = np.nan_to_num(np.where(a == b, 0, np.abs(a - b)), nan=0.0).max(initial=0)
            if far > bound * most:
                return f"output '{name}' is {far / most:.2g} of its largest element apart"
        return ""

    def no_kernel(self, error):
        return any(words in str(error) for words in ("NOT_IMPLEMENTED",
            "Could not find an implementation", "No corresponding Numpy type"))

    def original(self, path):
        model = self.onnx.load(path, load_external_data=False)
        found = Original(checked=self.check(path), opset=opset_of(model),
            size=os.path.getsize(path))
        if self.runtime is None:
            return found
        known = self.values(path)
        if known is not None:
            found.inputs, found.outputs = known
        try:
            session = self.open_wide(path)
            if found.inputs is not None:
                found.outputs = self.run(session, found.inputs)
        except Exception as error:
            found.refused = kind_of(error)
        if draws_numbers(model):
            found.outputs = None
        return found

    def too_large(self, path, before):
        """'' or by how much a file has grown that had no reason to."""
        most = before * 1.1 + MOST_GROWTH
        size = os.path.getsize(path)
        return f"has {size} bytes, more than {most:.0f}" if size > most else ""

    def other_opset(self, conversion, path, own):
        """'' or which opset a file is for that is not the one that was asked for."""
        if not conversion.startswith("opset"):
            return ""
        asked = int(conversion[len("opset"):]) or own
        written = opset_of(self.onnx.load(path, load_external_data=False))
        return f"is for opset {written}, not {asked}" if asked and written != asked else ""

    def infer(self, conversion, path, original):
        """(verdict on loading and running, verdict on values); None: skipped."""
        if self.runtime is None:
            return None, None
        inputs, want = original.inputs, original.outputs
        try:
            session = self.open_wide(path)
            got = self.run(session, inputs) if inputs is not None else None
        except Exception as error:
            if self.is_ours(path):
                return None, None
            if kind_of(error) == original.refused or (self.no_kernel(error) and conversion in NARROW):
                return None, None
            return words_of(error), None
        if got is None or want is None:
            return "", None
        return "", self.apart(conversion, got, want)

    def is_ours(self, path):
        """Does the file have operators of PopART that no other runtime knows?"""
        model = self.onnx.load(path, load_external_data=False)
        return any(o.domain == "ai.graphcore" for o in model.opset_import)

    def judge(self, conversion, path, original):
        """Verdicts of the checker, on running, and on values: '' is good, None is skipped."""
        checked = self.check(path)
        if checked and original.checked:
            checked = None
        checked = self.other_opset(conversion, path, original.opset) or \
            self.too_large(path, original.size) or checked
        return [checked, *self.infer(conversion, path, original)]


def work():
    """Reads models from standard input, one JSON list a line, and answers a line for each file."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    judge = Judge()
    for line in sys.stdin:
        path, files = json.loads(line)
        original = judge.original(path)
        for conversion, target in files:
            out.write(json.dumps(["begin", conversion]) + "\n")
            verdicts = judge.judge(conversion, target, original)
            out.write(json.dumps(["done", conversion, *verdicts]) + "\n")
        out.write(json.dumps(["end"]) + "\n")


# ---- the lead: deals models to workers, which may crash ----

class Worker:
    def __init__(self, errors):
        self.errors = errors
        self.start()

    def start(self):
        self.process = subprocess.Popen([sys.executable, *sys.argv, "--worker"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)

    def judge(self, path, files):
        """A verdict for each file; one whose judging ends the worker is a crash."""
        files = list(files)
        while files:
            timer = threading.Timer(SECONDS, self.process.kill)
            timer.start()
            self.process.stdin.write(json.dumps([path, files]) + "\n")
            self.process.stdin.flush()
            at = None
            for line in self.process.stdout:
                answer = json.loads(line)
                if answer[0] == "end":
                    files = []
                    break
                at = answer[1]
                if answer[0] == "done":
                    yield answer[1:]
                    files = [f for f in files if f[0] != at]
            timer.cancel()
            if not files:
                return
            self.process.kill()
            self.process.wait()
            self.start()
            if at is None:
                yield ["original", None, "ends the process, or takes too long", None]
                return
            yield [at, None, "ends the process, or takes too long", None]
            files = [f for f in files if f[0] != at]


def read_conversions(out):
    models = {}
    tried = {}
    with open(os.path.join(out, "conversions.tsv"), encoding="utf-8") as file:
        for line in file:
            conversion, path, target, said = line.rstrip("\n").split("\t", 3)
            tried.setdefault(conversion, []).append((path, target, said))
            if target != "-":
                models.setdefault(path, []).append([conversion, target])
    return tried, models


def read_known(path):
    """(file pattern, conversions, what fails) of each row."""
    rows = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            cells = [c.strip() for c in line.split("|")]
            if len(cells) > 4 and cells[1].startswith("`"):
                rows.append((cells[1].strip("`"), cells[2].split(", "), cells[3]))
    return rows


def read_refused(path):
    with open(path, encoding="utf-8") as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return {conversion: int(most) for conversion, most in rows}


def is_known(known, name, conversion, kind):
    import fnmatch
    return any(fnmatch.fnmatch(name, n) and (conversion in c or c == ["all"]) and kind == k
        for n, c, k in known)


def main():
    if sys.argv[-1] == "--worker":
        return work()
    out, known, refused = sys.argv[1], read_known(sys.argv[2]), read_refused(sys.argv[3])
    tried, models = read_conversions(out)
    todo, results, lock = list(models.items()), [], threading.Lock()

    errors = open(os.path.join(out, "workers.txt"), "w", encoding="utf-8")

    def deal():
        worker = Worker(errors)
        while True:
            with lock:
                if not todo or sum(r[1] == "original" for r in results) > MOST_CRASHES:
                    break
                path, files = todo.pop()
            for verdict in worker.judge(path, files):
                with lock:
                    results.append([path, *verdict])
        worker.process.stdin.close()
        worker.process.wait()

    threads = [threading.Thread(target=deal) for _ in range(os.cpu_count())]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return report(tried, models, results, known, refused)


def report(tried, models, results, known, refused):
    names = {path: os.path.basename(files[0][1])[:-len(".onnx")] for path, files in models.items()}
    kinds = ("checker", "runtime", "values")
    tried.setdefault("original", [])
    counts = {c: dict.fromkeys([f"{k} {w}" for k in kinds for w in ("ok", "bad", "known", "none")],
        0) for c in tried}
    failures = []
    for path, conversion, *verdicts in results:
        for kind, verdict in zip(kinds, verdicts):
            if verdict is None:
                word = "none"
            elif verdict == "":
                word = "ok"
            elif is_known(known, names[path], conversion, kind):
                word = "known"
            else:
                word = "bad"
                failures.append((kind, conversion, names[path], verdict))
            counts[conversion][f"{kind} {word}"] += 1
    print("conversion  tried written | checker: ok known bad none | runtime: ok known bad none | "
        "values: ok known bad none")
    for conversion, files in tried.items():
        if not files:
            continue
        written = sum(target != "-" for _, target, _ in files)
        row = " | ".join(" ".join(f"{counts[conversion][f'{k} {w}']:5}"
            for w in ("ok", "known", "bad", "none")) for k in kinds)
        print(f"{conversion:11} {len(files):5} {written:7} | {row}")
    for path, files in models.items():
        if not any(r[0] == path for r in results):
            failures.append(("runtime", "original", path, "was not judged"))
    for conversion, files in tried.items():
        for path, target, said in files:
            if said.startswith("exit code") or "took more than" in said:
                failures.append(("tool", conversion, path, said))
        not_written = sum(target == "-" for _, target, _ in files)
        if not_written > refused.get(conversion, 0):
            failures.append(("tool", conversion, f"{not_written} of {len(files)} models",
                f"are not converted, more than the {refused.get(conversion, 0)} that may be"))
    for kind, conversion, name, verdict in sorted(failures):
        print(f"FAILED {kind} {conversion} {name}: {verdict}")
    passed = sum(counts[c][f"{k} ok"] for c in counts for k in kinds)
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
