# SPDX-License-Identifier: MIT
"""popart_suite.py PATH [-k TEXT] [--jobs N] [--out FILE] [--time S] — runs PopART's own integration
tests with our popart.

PATH is a checkout of the public repository graphcore/popart. The test files are those that its
build files run on the Cpu device; each item runs in a process of its own, forked after its file was
imported, where it lies, and nothing of it is changed. An item counts as passed only if our engine
ran in it or built nodes (poprt.statistics() moved). Prints passed, failed and skipped by file; FILE
gets a line for each item: outcome, item, and the first line of its failure. Needs pytest, torch,
onnx and numpy.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

PLUGIN = '''
import os, pickle, select, signal, time
import pytest
from _pytest.runner import runtestprotocol

OUT = os.environ["POPRT_SUITE_OUT"]
LIMIT = float(os.environ["POPRT_SUITE_TIME"])
KEYS = ("nodes_built", "runs", "models_built", "compilations")

def outcome(item):
    import poprt
    before = poprt.statistics()
    reports = runtestprotocol(item, nextitem=None, log=False)
    after = poprt.statistics()
    bad = [r for r in reports if r.failed]
    if bad:
        text = str(bad[0].longrepr)
        lines = [line for line in text.split("\\n") if line.startswith("E  ")]
        return "failed", (lines or text.strip().split("\\n")[-1:] or [""])[0].lstrip("E ").strip()
    if any(r.skipped for r in reports):
        return "skipped", ""
    if all(before[k] == after[k] for k in KEYS):
        return "failed", "our engine did not run"
    return "passed", ""

def in_child(item):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            result = outcome(item)
        except BaseException as error:
            result = "failed", repr(error)
        os.write(write, pickle.dumps(result)[:60000])
        os._exit(0)
    os.close(write)
    data, end = b"", time.time() + LIMIT
    while True:
        ready = select.select([read], [], [], max(0, end - time.time()))[0]
        part = os.read(read, 65536) if ready else None
        if not part:
            break
        data += part
    if part is None:
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    os.close(read)
    if part is None:
        return "failed", f"no result within {LIMIT:.0f} s"
    try:
        return pickle.loads(data)
    except Exception:
        return "failed", f"the process ended with status {status}"

def pytest_runtest_protocol(item, nextitem):
    result, reason = in_child(item)
    with open(OUT, "a") as file:
        file.write(result + "\\t" + item.nodeid.partition("::")[2] + "\\t" +
                   reason.replace("\\t", " ") + "\\n")
    return True
'''


def files(root):
    """Test files with the Cpu device, from the calls in the build files."""
    result = []
    for folder, _, names in sorted(os.walk(os.path.join(root, "tests", "integration"))):
        if "CMakeLists.txt" not in names or "popxl" in folder:
            continue
        with open(os.path.join(folder, "CMakeLists.txt")) as file:
            text = re.sub(r"#[^\n]*", "", file.read())
        for call in re.finditer(r"add_popart_py_unit_test\(([^)]*)\)", text):
            words = call.group(1).replace('"', " ").replace(";", " ").split()
            variants = []
            if "VARIANTS" in words:
                for word in words[words.index("VARIANTS") + 1:]:
                    if word.isupper():
                        break
                    variants.append(word)
            path = os.path.join(folder, words[0] + ".py")
            if ("VARIANTS" not in words or "Cpu" in variants) and "DISABLED" not in words and \
                    os.path.exists(path):
                result.append(path)
    return sorted(set(result))


def run_file(path, env, seconds):
    """Returns a list of (outcome, item, reason)."""
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "items")
        open(out, "w").close()
        env = dict(env, POPRT_SUITE_OUT=out, POPRT_SUITE_TIME=str(seconds))
        run = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "poprt_suite_plugin",
             "-q", "--rootdir", "/", "--basetemp", os.path.join(scratch, "t"), path],
            env=env, text=True, cwd=os.path.dirname(path), capture_output=True, errors="replace")
        with open(out) as file:
            rows = [line.rstrip("\n").split("\t") for line in file]
    if not rows:
        errors = [line for line in run.stdout.split("\n") if line.startswith("E  ")]
        rows = [("failed", "", "cannot be imported: " + (errors or ["?"])[-1][1:].strip())]
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("path")
    parser.add_argument("-k", default="")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--out")
    parser.add_argument("--time", type=int, default=120)
    args = parser.parse_args()
    import poprt
    totals = dict(passed=0, failed=0, skipped=0)
    lines = []
    with tempfile.TemporaryDirectory() as plugin:
        with open(os.path.join(plugin, "poprt_suite_plugin.py"), "w") as file:
            file.write(PLUGIN)
        ours = os.path.dirname(os.path.dirname(os.path.abspath(poprt.__file__)))
        env = dict(os.environ, PYTHONPATH=ours + os.pathsep + plugin, PYTHONDONTWRITEBYTECODE="1",
                   OMP_NUM_THREADS="1")
        paths = [path for path in files(os.path.abspath(args.path)) if args.k in path]
        with ThreadPoolExecutor(args.jobs) as pool:
            for path, rows in zip(paths, pool.map(lambda p: run_file(p, env, args.time), paths)):
                counts = dict(passed=0, failed=0, skipped=0)
                name = os.path.relpath(path, os.path.join(args.path, "tests", "integration"))
                for outcome, item, reason in rows:
                    counts[outcome] += 1
                    totals[outcome] += 1
                    lines.append(f"{outcome}\t{name}::{item}\t{reason}\n")
                print(f"{counts['passed']:5} passed {counts['failed']:5} failed "
                      f"{counts['skipped']:5} skipped  {name}", flush=True)
    if args.out:
        with open(args.out, "w") as file:
            file.writelines(lines)
    total = sum(totals.values())
    print(f"{total} items, {totals['skipped']} skipped, "
          f"{100 * totals['passed'] / max(total, 1):.1f} % passed")
    print(f"{totals['passed']} passed, {totals['failed']} failed")
    return 0


sys.exit(main())
