# SPDX-License-Identifier: MIT
"""Writes the results page and its plots from the figures of results.json."""
import os
import statistics

from engines import CACHES
from measure import PEERS, Cores
from plot import bars

NAMES = {"popef": "libpoprt", "kept": "libpoprt, winograd_growth=300",
         "onnx": "libpoprt, compiled here", "integers": "libpoprt, compute=i8",
         "ort": "ONNX Runtime", "openvino": "OpenVINO",
         "ncnn": "ncnn"} | {e: "libpoprt, cache in place" + (s != "popef") * (", weights=" + s)
                             for e, s in CACHES.items()}
FLAG = 1e-4
MB = 1e6


def short(x, digits=3):
    """A number with three digits and no exponent."""
    if x is None:
        return "-"
    if x == 0 or abs(x) >= 10 ** (digits - 1):
        return f"{x:.0f}"
    whole = len(str(int(abs(x)))) if abs(x) >= 1 else 0
    return f"{x:.{digits - whole if abs(x) >= 0.1 else digits + 1}f}"


def table(head, rows):
    """Markdown; the first column to the left, the others to the right."""
    return ["| " + " | ".join(head) + " |", "| --- |" + " ---: |" * (len(head) - 1)] + [
        "| " + " | ".join(str(c) for c in row) + " |" for row in rows]


def value(row, engine, key="ms"):
    return row.get(engine, {}).get(key)


def ratio(row, peers, key="ms"):
    """The fastest of these peers by libpoprt's time: how many times faster libpoprt is."""
    ours, theirs = value(row, "popef", key), [value(row, p, key) for p in peers]
    theirs = [t for t in theirs if t]
    return min(theirs) / ours if ours and theirs else None


def mean(ratios):
    ratios = [r for r in ratios if r]
    return statistics.geometric_mean(ratios) if ratios else None


def present(rows, engines):
    return [e for e in engines if any(value(row, e) for row in rows.values())]


def plural(threads):
    return f"{threads} thread{'s' if int(threads) != 1 else ''}"


def provenance(section):
    v = section["versions"]
    peers = ", ".join(f"{label} {v[p]}" for p, label in (
        ("onnxruntime", "ONNX Runtime"), ("openvino", "OpenVINO"), ("ncnn", "ncnn")) if v.get(p))
    noise = section["noise"]
    out = [f"{section['date']}; {section['machine']}; libpoprt {v['libpoprt']} ({v['commit']}), "
           f"{peers}. Meanwhile others had {100 * noise['others']:.1f} % of the processors' time, "
           f"the host took {100 * noise['stolen']:.1f} %."]
    if section.get("cores") is not None:
        out[0] += (f" Of the rounds with two threads {100 * section['cores']:.0f} % began when the "
                   f"two processors were two cores: when both together did at least {Cores.ENOUGH} "
                   "times the multiply-adds of one.")
    if section["quick"]:
        out += ["", "**Short runs (`--quick`): good for seeing that it works, not for quoting.**"]
    return out


def failures(rows, engines):
    """One line an engine: what it cannot do, with the reason where all share it."""
    out = []
    for e in engines:
        reasons = {}
        for name, row in rows.items():
            if "error" in row.get(e, {}):
                reasons.setdefault(row[e]["error"].splitlines()[0][:100], []).append(name)
        for reason, names in reasons.items():
            out.append(f"- {NAMES[e]}: {', '.join(names)} ({reason})")
    return out


def differences(rows, engines):
    """Outputs that are not ONNX Runtime's within the bound."""
    out = []
    for e in engines:
        far = [f"{n} {row[e]['difference']:.1e}" for n, row in rows.items()
               if row.get(e, {}).get("difference", 0) > FLAG]
        if far:
            out.append(f"- {NAMES[e]}: {', '.join(far)}")
    return out


def models_table(rows, flops, peers):
    lines = []
    for name, row in rows.items():
        far = value(row, "popef", "difference")
        cells = [name, short(flops.get(name, 0) / 1e9), short(value(row, "popef")),
                 short(value(row, "popef", "best_ms")), short(value(row, "onnx"))]
        cells += [short(value(row, p)) for p in peers]
        cells += [short(ratio(row, [p])) for p in peers] + [f"**{short(ratio(row, peers))}**"]
        cells.append("-" if far is None else f"{far:.0e}" if far <= FLAG else f"**{far:.0e}**")
        lines.append(cells)
    head = ["model", "GFLOP", "libpoprt ms", "best", "compiled here"] + [NAMES[p] for p in peers] \
        + ["against " + NAMES[p] for p in peers] + ["against the best", "difference"]
    return table(head, lines)


def means(rows, peers):
    out = []
    for key, words in (("ms", "medians"), ("best_ms", "best rounds")):
        parts = [f"{short(mean(ratio(r, [p], key) for r in rows.values()))} against {NAMES[p]} "
                 f"({sum(bool(ratio(r, [p])) for r in rows.values())} models)" for p in peers]
        parts.append(f"{short(mean(ratio(r, peers, key) for r in rows.values()))} against the best "
                     "peer of each model")
        out.append(f"- {words}: {', '.join(parts)}")
    return out


def scaling(data):
    one, two = data["1"], data["2"]
    engines = present(two, ("popef", "ort", "openvino", "ncnn"))
    gain = lambda n, e: (value(one.get(n, {}), e, "best_ms") or 0) / (
        value(two[n], e, "best_ms") or float("inf")) or None
    lines = [[n] + [short(gain(n, e)) for e in engines] for n in two]
    lines.append(["geometric mean"] + [short(mean(gain(n, e) for n in two)) for e in engines])
    return ["", "### From one thread to two", "",
            "How many times faster the best round became.", ""] + table(
                ["model"] + [NAMES[e] for e in engines], lines)


def models(section, results, folder):
    out = ["Milliseconds of one run: median over rounds of each round's median, and libpoprt's "
           "best round. libpoprt runs from a mapped PopEF file; \"compiled here\" from ONNX, "
           "compiled in the same process. \"Against\" says how many times faster libpoprt is; "
           "below 1 it is slower. \"Difference\" is the largest of libpoprt's outputs from ONNX "
           f"Runtime's, by the largest output of that name; bold above {FLAG:g}.", "",
           f"{section['rounds']} rounds of {section['seconds']} s."]
    if "again" in section:
        out[-1] += " Measured again, by themselves: " + ", ".join(section["again"]) + "."
    for threads, rows in section["data"].items():
        peers = present(rows, PEERS)
        out += ["", f"### {plural(threads)}", ""] + models_table(rows, results["flops"], peers)
        out += ["", "Geometric means of how many times faster libpoprt is:", ""]
        out += means(rows, peers)
        for words, lines in (("Not measured:", failures(rows, NAMES)),
                             (f"Outputs further than {FLAG:g} from ONNX Runtime's:",
                              differences(rows, NAMES))):
            out += ["", words, ""] + lines if lines else []
        plotted = [(n, {NAMES[p]: ratio(r, [p]) for p in peers}) for n, r in rows.items()]
        file = f"models_{threads}.svg"
        if bars(os.path.join(folder, file), f"Whole models, {plural(threads)}",
                "How many times faster libpoprt is than each peer; right of 1 it is faster.",
                plotted, [NAMES[p] for p in peers], "ratio"):
            out += ["", f"![speed-up of whole models, {plural(threads)}]({file})"]
    if "1" in section["data"] and "2" in section["data"]:
        out += scaling(section["data"])
    rows = section["data"].get("1", {})
    engines = present(rows, ("popef", "onnx", "ort", "openvino"))
    lines = [[n] + [short(value(r, e, k)) for e in engines for k in ("load_ms", "first_ms")]
             for n, r in rows.items()]
    return out + ["", "### Loading", "", "Milliseconds until a session is ready, then of the first "
                  "run; 1 thread, files in the page cache.", ""] + table(
                      ["model"] + [w for e in engines for w in (NAMES[e], "first run")], lines)


def decode(results, rate):
    """How near a word of GPT-2 comes to what memory gives."""
    rows = results["sections"].get("models", {}).get("data", {}).get("1", {})
    ms = value(rows.get("gpt2_decode_512", {}), "popef")
    if ms is None or "decode_bytes" not in results:
        return ""
    moved = results["decode_bytes"]
    return (f" gpt2_decode_512 moves {moved / 1e6:.0f} MB a word (weights, cache, new cache): "
            f"{moved / ms / 1e6:.1f} GB/s, {moved / ms / 1e4 / rate:.0f} % of that.")


def kernels(section, results, folder):
    data = section["data"]
    kinds = {}
    for f in data["figures"]:
        kinds.setdefault(f["kind"], []).append(f)
    out = ["Peak of independent multiply-adds in registers, measured just before: "
           + ", ".join(f"{f['gflops']:.0f} GFLOP/s ({f['level']})" for f in kinds["peak"])
           + f". Kernels: {kinds['level'][0]['level']}, 1 thread.", "",
           "Products with B packed and everything warm; then 72 of them in order, each with "
           "weights of its own, 340 MB in all:", ""]
    products = [(f"{f['m']}, {f['n']}, {f['k']}", f) for f in kinds["product"]] + [
        (f["name"], f) for f in kinds["chain"]]
    out += table(["M, N, K", "GFLOP/s", "% of peak"],
                 [[n, f"{f['gflops']:.0f}", f"{f['percent']:.0f}"] for n, f in products])
    out += ["", "Rows, 128 of 768 elements; GB/s read and written, and % of what memcpy moves:", ""]
    out += table(["kernel", "GB/s", "% of memcpy"], [
        [f["name"], f"{f['gbytes']:.0f}", f"{f['percent']:.0f}"] for f in kinds["rows"]])
    if "stream" in kinds:
        rate, large = (kinds["stream"][0].get(k) for k in ("gbytes", "large_pages"))
        beside = f" ({large:.1f} in large pages, which mapped files have not)" if large else ""
        out += ["", f"Reading 512 MiB once: {rate:.1f} GB/s{beside}." + decode(results, rate)]
    engines = present(data["chains"], ("popef", "ort", "openvino"))
    percents = [(n, {NAMES[e]: value(r, e, "percent") for e in engines})
                for n, r in data["chains"].items()]
    out += ["", "Chains of one kind of layer as models of their own, each layer with its own "
            "weights, in % of the same peak (depthwise: 8 layers of channels, image size, kernel; "
            "Winograd needs fewer operations than are counted here and may pass 100):", ""]
    out += table(["chain"] + [NAMES[e] for e in engines], [
        [n] + [short(row[NAMES[e]]) for e in engines] for n, row in percents])
    if bars(os.path.join(folder, "kernels.svg"), "Kernels, 1 thread",
            f"% of the peak of {data['peak']:.0f} GFLOP/s measured in the same run.",
            percents + [(n, {NAMES["popef"]: f["percent"]}) for n, f in products],
            [NAMES[e] for e in engines], "linear"):
        out += ["", "![kernels in % of peak](kernels.svg)"]
    return out


def weights(section, results, folder):
    out = ["One word of a language model after 512 others, 1 thread, peers in float32: "
           "milliseconds, median over rounds and best round; how many times faster than each peer; "
           "the largest difference from ONNX Runtime's outputs by the largest one. With the cache "
           "in place (poprt_stepio_bind_cache) it grows from 480 to 544 words, and again; else it "
           "is an input and an output of its own, as with the peers.", ""]
    for name, row in section["data"].items():
        peers = [p for p in ("ort", "openvino") if value(row, p)]
        lines = []
        for e in ("popef",) + tuple(CACHES) + tuple(peers):
            times = [short(value(row, p) / value(row, e)) if e not in peers else "-"
                     for p in peers] if value(row, e) else ["-"] * len(peers)
            far = value(row, e, "difference")
            lines.append([f"{name}, {NAMES[e]}", short(value(row, e)),
                          short(value(row, e, "best_ms")), *times,
                          "-" if far is None else f"{far:.0e}"])
        out += table(["model", "ms", "best"] + ["against " + NAMES[p] for p in peers]
                     + ["difference"], lines)
    return out


def of_others(section, intro, kind):
    out = [intro + " Milliseconds, median over rounds and best round; how many times faster than "
           "each peer; the largest difference from ONNX Runtime's outputs by the largest one.", ""]
    for threads, rows in section["data"].items():
        peers = present(rows, ("ort", "openvino"))
        out += [f"### {plural(threads)}, {kind}", ""]
        out += table(["model", "libpoprt ms", "best"] + [NAMES[p] for p in peers]
                     + ["against " + NAMES[p] for p in peers] + ["difference"], [
            [n, short(value(r, "popef")), short(value(r, "popef", "best_ms"))]
            + [short(value(r, p)) for p in peers] + [short(ratio(r, [p])) for p in peers]
            + [f"{value(r, 'popef', 'difference') or 0:.0e}"] for n, r in rows.items()])
        out += ["", "Geometric means: " + ", ".join(
            f"{short(mean(ratio(r, [p]) for r in rows.values()))} against {NAMES[p]}"
            for p in peers) + "."] + [""] * (threads != list(section["data"])[-1])
    return out


def quantised(section, results, folder):
    return of_others(section, "Models quantised by onnxruntime (`bench/quantise.py`), the same "
                     "file in all engines. `_int8`: data uint8, weights int8 by channel, QDQ; "
                     "`_dynamic`: the same found by each run; `_int4`: data float32, weights of 4 "
                     "bits in blocks of 32. A unit of 8 bits is 1/127 of the largest or less.",
                     "quantised")


def integers(section, results, folder):
    out = ["With the option `compute=i8` constants of products and convolutions are stored as int8 "
           "and the rows or images of the other side quantised by each run; `_int4`: 4-bit weights "
           "in blocks of 32 as above. "
           "Peers get the same files; OpenVINO quantises the other side of 4-bit weights unasked, "
           "ONNX Runtime does where the file allows it, which this one does not. Milliseconds, "
           "median over rounds; how many times faster compute=i8 is than each; the largest "
           "difference of its outputs from ONNX Runtime's by the largest one, with random weights, "
           "which multiply errors.", ""]
    for threads, rows in section["data"].items():
        others = present(rows, ("popef", "ort", "openvino"))
        by = lambda r, e: value(r, e) / value(r, "integers") if value(r, e) else None
        out += [f"### {plural(threads)}, integers", ""]
        out += table(["model", NAMES["integers"], "best"] + [NAMES[e] for e in others]
                     + ["against " + NAMES[e] for e in others] + ["difference"], [
            [n, short(value(r, "integers")), short(value(r, "integers", "best_ms"))]
            + [short(value(r, e)) for e in others] + [short(by(r, e)) for e in others]
            + [f"{value(r, 'integers', 'difference') or 0:.0e}"]
            for n, r in rows.items() if value(r, "integers")])
        out += [""] * (threads != list(section["data"])[-1])
    return out


def packages(section, results, folder):
    return of_others(section, "Models that packages of PyPI bring along (`bench/packages.py` names "
                     "them with versions and shapes), as their exporters wrote them: PyTorch, "
                     "TensorFlow, JAX, Paddle; sizes are symbols where they left them "
                     "open.", "packages")


def classic(section, results, folder):
    return of_others(section, "Trees and support vectors of ai.onnx.ml, for one row and for a "
                     "thousand (`bench/models/classic.py`). OpenVINO reads none of them.",
                     "ai.onnx.ml")


def other(section, results, folder):
    return of_others(section, "Volumes, and images and sounds that are made "
                     "(`bench/models/other.py`), with seeded random weights.", "other")


def cold(section, results, folder):
    from sections import COLD_MODELS
    data = section["data"]
    alone = data["1"]["rows"]
    there = [e for e in ("popef", "kept", "ort", "openvino")
             if any("wall_ms" in r.get(e, {}) for r in alone.values())]
    engines = [e for e in there if e != "kept"]
    out = ["A small C program over each engine's C interface: start, load, run once, end; files in "
           "the page cache (a PopEF file as writing it leaves it there). libpoprt reads PopEF, the "
           "others ONNX. Milliseconds: the whole process, in it until the session is ready, and "
           "the first run."]
    for threads, part in data.items():
        rows = {n: part["rows"][n] for n in COLD_MODELS if n in part["rows"]}
        out += ["", f"### {plural(threads)}", "",
                f"An empty process takes {part['empty_ms']:.1f}.", ""]
        out += table(["model"] + [w for e in engines for w in (NAMES[e], "ready", "first run")], [
            [n] + [short(value(r, e, k)) for e in engines
                   for k in ("wall_ms", "ready_ms", "first_ms")] for n, r in rows.items()])
    rows = {n: alone[n] for n in COLD_MODELS if n in alone}
    if bars(os.path.join(folder, "cold.svg"), "Cold start",
            "Milliseconds from process start to the end after one answer, 1 thread.",
            [(n, {NAMES[e]: value(r, e, "wall_ms") for e in engines}) for n, r in rows.items()],
            [NAMES[e] for e in engines], "log"):
        out += ["", "![cold start](cold.svg)"]
    out += ["", "### Memory", "", "Of the same processes with one thread, MB: once the session is "
            "ready and after the first run, what is resident, as anonymous + mapped from files "
            "(which processes share); the peak; the peak by the "
            "weights plus what libpoprt plans for activations "
            "and scratch. A process that runs the tiny model has the peak of its row from the "
            "program and its libraries alone. Winograd's transformed weights are larger than the "
            "model's: they are kept until weights have grown by a tenth, with "
            "`winograd_growth=300` all of them.", ""]
    lines = []
    for name, row in alone.items():
        for e in there:
            f = row.get(e, {})
            if "wall_ms" not in f:
                continue
            plan = value(row, e, "plan") or value(row, "popef", "plan") or 0
            need = f["weights"] + plan
            resident = [" + ".join(f"{f[f'{when}_{k}'] / MB:.0f}" for k in ("anon", "file"))
                        for when in ("ready", "end")]
            times = short(f["end_peak"] / need) if need > MB else "-"
            lines.append([f"{name}, {NAMES[e]}", f"{f['weights'] / MB:.1f}", f"{plan / MB:.1f}",
                          *resident, f"{f['end_peak'] / MB:.0f}", times])
    return out + table(["model", "weights", "planned", "ready", "after a run", "peak",
                        "peak by need"], lines)


def overhead(section, results, folder):
    out = ["Nanoseconds of one call on a model with next to nothing to do, 1 thread, called from "
           "C.", ""]
    for name, row in section["data"].items():
        engines = [e for e in ("popef", "ort", "openvino") if value(row, e)]
        out += table(["model"] + [NAMES[e] for e in engines],
                     [[name] + [f"{value(row, e) * 1e6:.0f}" for e in engines]])
    return out


def disturbed(section, results, folder):
    out = ["Two threads; then the same while another process keeps one of their two processors "
           "busy. Milliseconds of the median run and of the 99th in 100, and how many times as "
           "long as when it was quiet. With half a processor taken away, 1.33 is the least.", ""]
    lines = []
    for name, row in section["data"].items():
        for e, f in row.items():
            if "quiet" not in f:
                continue
            q, b = f["quiet"], f["busy"]
            lines.append([f"{name}, {NAMES[e]}", short(q["ms"]), short(q["p99_ms"]), short(b["ms"]),
                          short(b["p99_ms"]), short(b["ms"] / q["ms"]),
                          short(b["p99_ms"] / q["p99_ms"])])
    return out + table(["model", "quiet", "99th", "disturbed", "99th", "times as long", "99th"],
                       lines)


PARTS = (("models", "Whole models", models), ("kernels", "Kernels", kernels),
         ("weights", "A word of GPT-2", weights), ("quantised", "Quantised models", quantised),
         ("integers", "Products by integers", integers),
         ("packages", "Models found in packages", packages),
         ("classic", "Trees and support vectors", classic),
         ("other", "Volumes, images and sounds that are made", other),
         ("cold", "Cold start and memory", cold), ("overhead", "Call overhead", overhead),
         ("disturbed", "A disturbed machine", disturbed))
HEAD = """# Results

Written by `bench/run.py`, plots and all; figures in `results.json`. Everything is float32 where
nothing else is said. Each engine has a process of its own, pinned to the same processors, and gets
the same inputs; all are loaded beside each other and run in turn, another first in each round, so
that a drift of the machine meets them all. Models are made by `bench/models/generate.py` with
seeded random weights. The engines are called through their C interfaces from a C loop (ncnn from
Python). OpenVINO is told to compute in float32, ncnn to keep from float16 and bfloat16; its files
come from its converter, pnnx. Where the processor has AMX libpoprt's products are bf16x3, its
default there (docs/guide/performance.md); the column "difference" has its effect.
"""


def write(path, results):
    folder = os.path.dirname(os.path.abspath(path))
    out = [HEAD.rstrip()]
    for key, title, part in PARTS:
        section = results["sections"].get(key)
        if section:
            out += ["", f"## {title}", ""] + provenance(section) + [""]
            out += part(section, results, folder)
    with open(path, "w") as f:
        f.write("\n".join(out) + "\n")
