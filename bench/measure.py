# SPDX-License-Identifier: MIT
"""Workers and rounds: all engines loaded beside each other, one at a time running."""
import json
import os
import resource
import statistics
import subprocess
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = ("ort", "openvino", "ncnn")
WRONG = 1e-2      # a peer whose outputs differ more computes something else: it does not count
PAUSE_S = 0.03    # lets spinning threads of the engine before go to sleep


class Worker:
    """An engine's process; `error` says why there is none."""

    def __init__(self, job):
        self.engine = job["engine"]
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "worker.py"), json.dumps(job)], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.loaded = self.answer()
        self.error = self.loaded.get("error")

    def answer(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": "the process ended"}

    def ask(self, **order):
        try:
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()
            answer = self.answer()
        except OSError:
            answer = {"error": "the process ended"}
        if "error" in answer:
            self.error = answer["error"]
        return answer

    def close(self):
        try:
            self.process.stdin.close()
        except OSError:
            pass
        self.process.stdout.close()
        self.process.wait()


class Noise:
    """How busy others kept the processors since it was made: shares of all their time."""

    def __init__(self):
        self.start, self.begin = self.now(), time.monotonic()

    @staticmethod
    def now():
        with open("/proc/stat") as f:
            user, nice, system, _, _, irq, soft, steal = map(int, f.readline().split()[1:9])
        own = sum(resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime
                  for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        tick = os.sysconf("SC_CLK_TCK")
        return (user + nice + system + irq + soft) / tick, own, steal / tick

    def shares(self):
        """Of other processes, and stolen by other guests; call it when all workers have ended."""
        busy, own, steal = (b - a for a, b in zip(self.start, self.now()))
        whole = (time.monotonic() - self.begin) * os.cpu_count()
        return {"others": max(0, busy - own) / whole, "stolen": steal / whole}


class Cores:
    """Whether two processors are two cores: a host may put both on one for a while, where nothing
    that keeps its units busy gains by a second thread. Rounds of two threads wait for better times,
    but not for ever."""
    ENOUGH, WAIT_S, PATIENCE_S = 1.7, 1, 600

    def __init__(self, tool):
        self.tool, self.waited = tool, 0
        self.begin()

    def begin(self):
        self.rounds = self.good = 0

    def wait(self):
        cpus = [str(cpu) for cpu in processors(2)]
        while True:
            done = subprocess.run([self.tool, *cpus], capture_output=True, text=True)
            good = done.returncode == 0 and float(done.stdout) >= self.ENOUGH
            if good or self.waited >= self.PATIENCE_S:
                break
            time.sleep(self.WAIT_S)
            self.waited += self.WAIT_S
        self.rounds += 1
        self.good += good

    def share(self):
        return self.good / self.rounds if self.rounds else None


def processors(threads):
    """The first so many that this process may use, for every engine alike."""
    return sorted(os.sched_getaffinity(0))[:threads]


def make_inputs(entry, folder):
    """Writes the inputs of a model; files in the model's order."""
    rng, paths = np.random.default_rng(7), []
    for i, e in enumerate(entry["inputs"]):
        if "value" in e:
            x = np.full(e["shape"], e["value"], e["dtype"])
        elif e["limit"] is None:
            x = rng.standard_normal(e["shape"]).astype(e["dtype"])
        elif "mask" in e["name"]:
            x = np.ones(e["shape"], e["dtype"])
        else:
            x = rng.integers(0, e["limit"], e["shape"]).astype(e["dtype"])
        paths.append(os.path.join(folder, f"in_{i}.npy"))
        np.save(paths[-1], x)
    return paths


def difference(folder, engine, count):
    """The largest difference from ONNX Runtime's outputs by the largest; infinite with a NaN."""
    worst = 0.0
    for i in range(count):
        x, y = (np.load(os.path.join(folder, f"{e}_{i}.npy")).astype(float)
                for e in (engine, "ort"))
        if x.shape != y.shape or not np.isfinite(x).all():
            return float("inf")
        if x.size:
            worst = max(worst, float(np.abs(x - y).max() / max(np.abs(y).max(), 1e-30)))
    return worst


def middle(samples):
    """Over rounds: the median of the medians, the lowest of them, the median of the 99th."""
    medians = [s["median_ms"] for s in samples]
    return {"ms": statistics.median(medians), "best_ms": min(medians),
            "p99_ms": statistics.median(s["p99_ms"] for s in samples),
            "runs": sum(s["runs"] for s in samples)}


def take_rounds(workers, rounds, seconds, each=1, cores=None):
    """Every round asks every worker, beginning with another one each time; {engine: figures}."""
    samples = {w.engine: [] for w in workers}
    for turn in range(rounds):
        if cores:
            cores.wait()
        for i in range(len(workers)):
            w = workers[(i + turn) % len(workers)]
            if w.error:
                continue
            time.sleep(PAUSE_S)
            answer = w.ask(do="run", seconds=seconds, each=each)
            if not w.error:
                samples[w.engine].append(answer)
    return {w.engine: {"error": w.error} if w.error else middle(samples[w.engine])
            for w in workers}


def start_workers(bench, name, threads, engines):
    """Loads one model into every engine; those that cannot have an error."""
    entry = bench.entries[name]
    folder = os.path.join(bench.work, "run")
    os.makedirs(folder, exist_ok=True)
    files = dict(bench.files(name), inputs=entry["inputs"])
    job = {"threads": threads, "cpus": processors(threads), "tools": bench.tools, "files": files,
           "folder": folder, "outputs": entry["outputs"], "inputs": make_inputs(entry, folder)}
    workers = [Worker(dict(job, engine=e)) for e in engines]
    for w in workers:
        if not w.error:
            w.ask(do="outputs")
    return workers


def compare_engines(bench, name, threads, engines, rounds, seconds, each=1, wrong=WRONG):
    """Figures of one model for each engine, with how loading went and how far outputs differ."""
    workers = start_workers(bench, name, threads, engines)
    try:
        figures = take_rounds(workers, rounds, seconds, each, bench.cores if threads == 2 else None)
    finally:
        for w in workers:
            w.close()
    folder, count = os.path.join(bench.work, "run"), len(bench.entries[name]["outputs"])
    reference = any(w.engine == "ort" and not w.error for w in workers)
    for w in workers:
        if not w.error:
            figures[w.engine].update(w.loaded)
            if reference:
                far = figures[w.engine]["difference"] = difference(folder, w.engine, count)
                if far > wrong and w.engine in PEERS:
                    figures[w.engine] = {"error": "its outputs are others"}
    return figures
