# SPDX-License-Identifier: MIT
# newest.sh — to be sourced at the root: `newest_python PACKAGE...` makes a virtual environment with
# the newest release of packages from PyPI in build/newest/venv. True where they can be imported
# afterwards; $python is then its Python. Otherwise $why says what is missing.
newest_python() {
    python=build/newest/venv/bin/python
    why=
    mkdir -p build/newest
    if [ ! -x $python ]; then
        rm -rf build/newest/venv
        python3 -m venv build/newest/venv >build/newest/venv.txt 2>&1 || {
            rm -rf build/newest/venv
            why="python3 has no venv"
            return 1
        }
    fi
    $python -m pip install -q --disable-pip-version-check --timeout 10 --retries 1 --upgrade "$@" \
        >build/newest/pip.txt 2>&1 || why="PyPI does not answer"
    for package in "$@"; do
        $python -c "import $package" 2>/dev/null || {
            why="there is no $package from PyPI"
            return 1
        }
    done
    return 0
}
