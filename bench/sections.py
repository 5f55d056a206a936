# SPDX-License-Identifier: MIT
"""What is measured, section by section; each function gives plain data for results.json."""
import json
import os
import statistics
import subprocess
import sys
import time

from classic import MODELS as CLASSIC
from engines import CACHES, WEIGHTS, OpenVino, Ort, package_file
from measure import compare_engines, middle, processors, start_workers
from other import MODELS as OTHER
from packages import NAMES as PACKAGES
from quantise import NAMES as QUANTISED

ALL = ("popef", "onnx", "ort", "openvino", "ncnn")
MAIN = ("popef", "ort", "openvino")
COLD_MODELS = ("tiny_mlp", "squeezenet1_1", "resnet50")
KEPT_MODELS = ("squeezenet1_1", "resnet50", "vgg16")  # also with all of Winograd's weights kept
DECODER = "gpt2_decode_512"
OPEN_DECODER = "gpt2_decode"    # any past: its cache can stay in place
MEMORY_MODELS = COLD_MODELS + ("mobilenet_v2", "vgg16", "bert_base_128", DECODER)
INTEGER_MODELS = ("minilm_l6_128", "bert_base_128", "gpt2_prefill_64", "resnet18",
                  "resnet50")  # by compute=i8
INTEGER_MODELS_4 = ("minilm_l6_128_int4",)
DISTURBED_MODELS = ("resnet50", "mobilenet_v2")
THREADS = (1, 2)
UNITS = 0.1    # of the largest output, by which engines that round apart differ with 8 bits


def variants_of(name):
    """Options other than the default ones that a model is measured with."""
    return ("kept",) * (name in KEPT_MODELS) + WEIGHTS * (name == OPEN_DECODER) + (
        "integers",) * (name in INTEGER_MODELS + INTEGER_MODELS_4)


def say(text):
    print(text, file=sys.stderr, flush=True)


def thread_counts():
    """Those that there are processors for."""
    return [t for t in THREADS if len(processors(t)) == t]


def models(bench):
    """Whole models with one thread and with two."""
    out = {}
    for threads in thread_counts():
        rows = out[str(threads)] = {}
        for name in bench.names:
            rows[name] = compare_engines(bench, name, threads, ALL, bench.rounds, bench.seconds)
            said = ", ".join(f"{e} {f['ms']:.3f}" if "ms" in f else f"{e}: {f['error']}"
                             for e, f in rows[name].items())
            say(f"{threads} threads, {name}: {said}")
    return out


def kernels(bench):
    """Figures of the kernels program, and chains of layers; percentages of the same run's peak."""
    limit = "0.05" if bench.quick else "0.3"
    os.sched_setaffinity(0, processors(1))
    lines = subprocess.run([bench.tools["kernels"], limit], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    os.sched_setaffinity(0, bench.cpus)
    figures = [json.loads(line) for line in lines]
    peak = next(f["gflops"] for f in figures if f["kind"] == "peak")
    chains = {}
    for name in bench.layer_names:
        chains[name] = compare_engines(bench, name, 1, MAIN, bench.rounds, bench.seconds)
        for f in chains[name].values():
            if "ms" in f:
                f["percent"] = bench.entries[name]["flops"] / f["ms"] / peak / 1e4
        say(f"layers, {name}: " + ", ".join(f"{e} {f.get('percent', 0):.0f} %"
                                            for e, f in chains[name].items()))
    return {"figures": figures, "chains": chains, "peak": peak}


def weights(bench):
    """A word of a language model with its cache in place and its weights in fewer bits."""
    name = OPEN_DECODER
    row = compare_engines(bench, name, 1, MAIN + tuple(CACHES), bench.rounds, bench.seconds)
    say(f"weights, {name}: " + ", ".join(f"{e} {f.get('ms', 0):.2f}" for e, f in row.items()))
    return {name: row}


def of_others(bench, names, engines=MAIN):
    """Models that are not made here, the same files in all engines."""
    out = {}
    for threads in thread_counts():
        rows = out[str(threads)] = {}
        for name in names:
            rows[name] = compare_engines(bench, name, threads, engines, bench.rounds,
                                         bench.seconds, wrong=UNITS)
            say(f"{threads} threads, {name}: "
                + ", ".join(f"{e} {f.get('ms', 0):.2f}" for e, f in rows[name].items()))
    return out


def quantised(bench):
    return of_others(bench, QUANTISED)


def integers(bench):
    """Products of float32 and of 4-bit weights, by integers where they are asked for."""
    return of_others(bench, INTEGER_MODELS + INTEGER_MODELS_4, MAIN + ("integers",))


def packages(bench):
    return of_others(bench, PACKAGES)


def classic(bench):
    return of_others(bench, [f.__name__ for f in CLASSIC])


def other(bench):
    return of_others(bench, [f.__name__ for f in OTHER])


def input_words(entry):
    kind = {"float32": "f32", "int64": "i64"}
    return [f"{e['name']}={kind[e['dtype']]}:{'x'.join(map(str, e['shape']))}"
            for e in entry["inputs"]]


def cold_commands(bench, name, threads):
    """How each engine is started for one answer; files as each of them reads them."""
    files, tail = bench.files(name), [str(threads)] + input_words(bench.entries[name])
    out = {"popef": [bench.tools["cold_poprt"], files["popef"]]}
    if name in KEPT_MODELS and threads == 1:
        out["kept"] = [bench.tools["cold_poprt"], files["kept"]]
    for engine, kind in (("ort", Ort), ("openvino", OpenVino)):
        try:
            library = package_file(*kind.LIBRARY)
            out[engine] = [bench.tools["cold_" + engine], library, files["onnx"]]
        except RuntimeError as e:
            say(f"{engine}: {e}")
    return {e: command + tail for e, command in out.items()}


def start_once(command):
    """Wall time of the whole process and what it says of itself."""
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    wall = (time.perf_counter() - begin) * 1e3
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1] if done.stderr else "it ended"}
    return dict(json.loads(done.stdout) if done.stdout else {}, wall_ms=wall)


def cache(command):
    """Puts the file of the command into the page cache, should the system have dropped it; one of
    ours as writing it leaves it there."""
    path = next(c for c in command if c.endswith((".onnx", ".popef")))
    if path.endswith(".popef"):
        with open(path, "rb") as f, open(path + ".copy", "wb", buffering=0) as to:
            while piece := f.read(1 << 21):
                to.write(piece)
            os.fsync(to.fileno())  # the system would go on writing meanwhile
        os.replace(path + ".copy", path)
    else:
        with open(path, "rb") as f:
            while f.read(1 << 21):
                pass


def starts(bench, name, threads, times):
    """Medians over starts, engines in turn."""
    commands, samples = cold_commands(bench, name, threads), {}
    for _ in range(times):
        for engine, command in commands.items():
            cache(command)
            samples.setdefault(engine, []).append(start_once(command))
    out = {}
    for engine, found in samples.items():
        bad = [s for s in found if "error" in s]
        keys = [] if bad else found[0]
        out[engine] = bad[0] if bad else {k: statistics.median(s[k] for s in found) for k in keys}
    return out


def cold(bench):
    """From process start to an answer; of one thread also what the process holds then."""
    times, out = 5 if bench.quick else 21, {}
    for threads in thread_counts():
        os.sched_setaffinity(0, processors(threads))
        try:
            empty = statistics.median(start_once(["true"])["wall_ms"] for _ in range(times))
            rows = {name: starts(bench, name, threads, times if name in COLD_MODELS else 3)
                    for name in (MEMORY_MODELS if threads == 1 else COLD_MODELS)
                    if name in bench.entries}
        finally:
            os.sched_setaffinity(0, bench.cpus)
        for name, row in rows.items():
            for f in row.values():
                f["weights"] = 4 * bench.entries[name]["params"]
            say(f"cold, {threads} threads, {name}: "
                + ", ".join(f"{e} {f.get('wall_ms', 0):.1f}" for e, f in row.items()))
        out[str(threads)] = {"empty_ms": empty, "rows": rows}
    return out


def overhead(bench):
    """Nanoseconds of one call with next to nothing to do."""
    return {n: compare_engines(bench, n, 1, MAIN, bench.rounds, bench.seconds, 1000)
            for n in ("tiny_mlp",)}


def keep_busy(cpu):
    """A process that does nothing, all the time, on one processor."""
    command = f"import os\nos.sched_setaffinity(0, [{cpu}])\nwhile True: pass"
    return subprocess.Popen([sys.executable, "-c", command])


def disturbed(bench):
    """Two threads while another process keeps one of the two processors busy."""
    cpus, out = processors(2), {}
    if len(cpus) < 2:
        return out
    rounds, seconds = (1, 0.5) if bench.quick else (3, 3)
    for name in DISTURBED_MODELS:
        workers = start_workers(bench, name, 2, MAIN)
        samples = {w.engine: {"quiet": [], "busy": []} for w in workers}
        for w in [w for _ in range(rounds) for w in workers if not w.error]:
            samples[w.engine]["quiet"].append(w.ask(do="run", seconds=seconds))
            other = keep_busy(cpus[-1])
            try:
                time.sleep(0.2)
                samples[w.engine]["busy"].append(w.ask(do="run", seconds=seconds))
            finally:
                other.kill()
                other.wait()
        out[name] = {w.engine: {"error": w.error} if w.error else
                     {k: middle(found) for k, found in samples[w.engine].items()}
                     for w in workers}
        for w in workers:
            w.close()
        say(f"disturbed, {name}: " + ", ".join(
            f"{e} {f['busy']['ms'] / f['quiet']['ms']:.2f}" for e, f in out[name].items()
            if "busy" in f))
    return out


SECTIONS = {"models": models, "kernels": kernels, "weights": weights, "quantised": quantised,
            "integers": integers, "packages": packages, "classic": classic, "other": other,
            "cold": cold, "overhead": overhead, "disturbed": disturbed}
