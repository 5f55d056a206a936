# SPDX-License-Identifier: MIT
"""One engine with one model in a process of its own; orders come as lines of JSON.

    python3 bench/worker.py JOB      (JSON: engine, threads, cpus, tools, files, folder, outputs)

Answers are lines of JSON: first how loading went, then one for each order:
{"do": "run", "seconds": S, "each": N} measures, {"do": "outputs"} writes them as .npy files.
`compile` instead of an engine writes the PopEF file and ends.
"""
import json
import os
import sys
import time

import numpy as np

from engines import ENGINES, VARIANTS, Poprt


def say(**fields):
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def measure(engine, order):
    engine.loop(0, least=2)
    ns = engine.loop(order["seconds"], order.get("each", 1))
    return {"median_ms": float(np.median(ns)) / 1e6, "min_ms": float(ns.min()) / 1e6,
            "p99_ms": float(np.percentile(ns, 99)) / 1e6, "runs": len(ns)}


def serve(engine, job):
    inputs = [np.load(path) for path in job["inputs"]]
    begin = time.perf_counter()
    engine.load(job["files"], inputs, job["outputs"])
    ready = time.perf_counter()
    engine.loop(0, least=1)
    first = time.perf_counter()
    say(load_ms=(ready - begin) * 1e3, first_ms=(first - ready) * 1e3)
    for line in sys.stdin:
        order = json.loads(line)
        if order["do"] == "run":
            say(**measure(engine, order))
        else:
            for i, x in enumerate(engine.outputs()):
                np.save(os.path.join(job["folder"], f"{job['engine']}_{i}.npy"), x)
            say(done=True)


def main():
    job = json.loads(sys.argv[1])
    os.sched_setaffinity(0, job["cpus"])
    answers = os.dup(1)
    os.dup2(2, 1)    # engines print what they like: not among the answers
    sys.stdout = os.fdopen(answers, "w")
    try:
        if job["engine"] == "compile":
            engine, files = Poprt(job["tools"], 1), job["files"]
            engine.save(files["onnx"], files["popef"])
            for variant, options in VARIANTS.items():
                if variant in files:
                    engine.save(files["onnx"], files[variant], **options)
            say(done=True)
        else:
            serve(ENGINES[job["engine"]](job["tools"], job["threads"]), job)
    except Exception as e:
        say(error=f"{type(e).__name__}: {e}")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
