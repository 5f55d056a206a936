# SPDX-License-Identifier: MIT
"""Runs the Python blocks of docs/python, those of a page in order and in one folder."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import onnx  # noqa: F401
except ImportError:
    print("the package onnx is missing (Debian: python3-onnx)")
    sys.exit(77)

FIXTURES = os.environ["FIXTURES"]
PAGES = os.path.join(FIXTURES, "..", "..", "docs", "python")


class Pages(unittest.TestCase):
    def test_blocks_run(self):
        pages = sorted(name for name in os.listdir(PAGES) if name.endswith(".md"))
        self.assertGreaterEqual(len(pages), 5)
        for name in pages:
            with open(os.path.join(PAGES, name), encoding="utf-8") as file:
                blocks = re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)
            self.assertTrue(blocks, name)
            with self.subTest(page=name), tempfile.TemporaryDirectory() as folder:
                os.makedirs(os.path.join(folder, "tests"))
                os.symlink(FIXTURES, os.path.join(folder, "tests", "fixtures"))
                done = subprocess.run([sys.executable, "-W", "error", "-c", "\n".join(blocks)],
                                      cwd=folder, capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
