#!/bin/sh
# SPDX-License-Identifier: MIT
# headers.sh ROOT CC — each public header compiles alone, as C11 and as C++17 (where there is a C++
# compiler; headers of C++ only as C++17), and uses standard headers only; each header and .inl of
# ours compiles alone too.
root=$1
cc=$2
bad=0
cd "$root" || exit 2
w="-Wall -Wextra -Wpedantic -Werror -fsyntax-only"
for h in include/poprt/*.h; do
    echo "#include \"poprt/${h##*/}\"" | $cc -std=c11 $w -Iinclude -x c - || bad=1
    if command -v c++ >/dev/null; then
        echo "#include \"poprt/${h##*/}\"" | c++ -std=c++17 $w -Iinclude -x c++ - || bad=1
    fi
    grep -Hn '# *include <' "$h" | grep -v -e '<stddef.h>' -e '<stdint.h>' && bad=1
done
for h in include/poprt/*.hpp; do
    if command -v c++ >/dev/null; then
        echo "#include \"poprt/${h##*/}\"" | c++ -std=c++17 $w -Wshadow -Wconversion \
            -Wold-style-cast -Iinclude -x c++ - || bad=1
    fi
    grep -Hn '# *include <.*[./]' "$h" && bad=1
done
# The headers of the Python extension need those of Python.
python=$(pkg-config --cflags python3 2>/dev/null)
for h in $(find lib src -name '*.h' -o -name '*.inl' | sort); do
    case $h in src/python/*) [ -n "$python" ] || continue ;; esac
    echo "#include \"${h#*/}\"" | $cc -std=gnu11 -Wall -Werror -fsyntax-only \
        -Iinclude -Ilib -Isrc $python -x c - || { echo "$h does not stand alone"; bad=1; }
    guard=PRT_$(echo "${h#*/}" | tr 'a-z/.' 'A-Z__')
    grep -q "^#ifndef $guard\$" "$h" || { echo "$h: the guard is not $guard"; bad=1; }
done
# A machine of the other byte order is refused with a sentence, not with wrong numbers.
said=$(echo '#include "base/status.h"' | $cc -std=gnu11 -fsyntax-only -Iinclude -Ilib -Isrc \
    -U__BYTE_ORDER__ -D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__ -x c - 2>&1)
case $? in
0) echo "big-endian machines are not refused"; bad=1 ;;
*) echo "$said" | grep -q 'little-endian machines only' || { echo "$said"; bad=1; } ;;
esac
exit $bad
