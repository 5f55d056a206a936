# SPDX-License-Identifier: MIT
"""popart_suite.py PATH [-k TEXT] [--jobs N] [--out FILE] [--time S] — runs PopART's own integration
tests with our popart.

PATH is a checkout of the public repository graphcore/popart. The test files are those that its
build files run on the Cpu device; each item runs in a process of its own, where it lies, and
nothing of it is changed. An item counts as passed only if our engine ran in it or built nodes
(poprt.statistics() moved). Prints passed, failed and skipped by file; FILE gets a line for each
item: outcome, item, and the last line of its failure. Needs pytest, torch, onnx and numpy.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

PLUGIN = '''
import pytest, poprt

def _moved(before):
    after = poprt.statistics()
    return any(after[k] != before[k] for k in ("nodes_built", "runs", "models_built", "compilations"))

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item, nextitem):
    before = poprt.statistics()
    yield
    print("ENGINE", "moved" if _moved(before) else "still", flush=True)
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
                    if word.isupper() and word not in ("HW",):
                        break
                    variants.append(word)
            if variants and "Cpu" not in variants:
                continue
            path = os.path.join(folder, words[0] + ".py")
            if os.path.exists(path):
                result.append(path)
    return sorted(set(result))


def environment(plugin):
    import poprt
    env = dict(os.environ)
    ours = os.path.dirname(os.path.dirname(os.path.abspath(poprt.__file__)))
    env["PYTHONPATH"] = ours + os.pathsep + plugin
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    env["OMP_NUM_THREADS"] = "1"
    return env


def pytest_command(*args):
    return [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "poprt_suite_plugin",
            "-q", "--rootdir", "/", *args]


def collect(path, env):
    run = subprocess.run(pytest_command("--collect-only", path), env=env, text=True,
                         cwd=os.path.dirname(path), capture_output=True)
    items = [line for line in run.stdout.split("\n") if "::" in line and not line.startswith(" ")]
    return [path + item[item.index("::"):] for item in items], run


def run_item(item, env, seconds):
    folder = os.path.dirname(item.split("::")[0])
    with tempfile.TemporaryDirectory() as scratch:
        try:
            run = subprocess.run(
                pytest_command("-s", "--tb=short", "--basetemp", scratch, item), env=env, text=True,
                cwd=folder, capture_output=True, timeout=seconds, errors="replace")
        except subprocess.TimeoutExpired:
            return "failed", "timeout"
    summary = [line for line in run.stdout.split("\n") if re.match(r"^\d+ \w+.* in ", line)]
    text = summary[-1] if summary else ""
    errors = [line for line in run.stdout.split("\n") if line.startswith("E  ")]
    reason = (errors[0][1:].strip() if errors else
              f"exit status {run.returncode}: " + (run.stderr.strip().split("\n") or [""])[-1])
    if "failed" in text or "error" in text or not text:
        return "failed", reason
    if "skipped" in text:
        return "skipped", ""
    if "xfailed" in text:
        return "skipped", "expected failure"
    if "ENGINE moved" not in run.stdout:
        return "failed", "our engine did not run"
    return "passed", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("path")
    parser.add_argument("-k", default="")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--out")
    parser.add_argument("--time", type=int, default=300)
    args = parser.parse_args()
    out = open(args.out, "w") if args.out else None
    totals = dict(passed=0, failed=0, skipped=0)
    with tempfile.TemporaryDirectory() as plugin:
        with open(os.path.join(plugin, "poprt_suite_plugin.py"), "w") as file:
            file.write(PLUGIN)
        env = environment(plugin)
        for path in files(os.path.abspath(args.path)):
            if args.k not in path:
                continue
            items, collected = collect(path, env)
            counts = dict(passed=0, failed=0, skipped=0)
            if not items:
                items = [path]
            with ThreadPoolExecutor(args.jobs) as pool:
                results = list(pool.map(lambda item: run_item(item, env, args.time), items))
            for item, (outcome, reason) in zip(items, results):
                counts[outcome] += 1
                totals[outcome] += 1
                if out:
                    name = os.path.relpath(item, args.path)
                    out.write(f"{outcome}\t{name}\t{reason}\n")
                    out.flush()
            name = os.path.relpath(path, os.path.join(args.path, "tests", "integration"))
            print(f"{counts['passed']:5} passed {counts['failed']:5} failed "
                  f"{counts['skipped']:5} skipped  {name}", flush=True)
    total = sum(totals.values())
    print(f"{total} items, {100 * totals['passed'] / max(total, 1):.1f} % passed")
    print(f"{totals['passed']} passed, {totals['failed']} failed")
    return 0


sys.exit(main())
