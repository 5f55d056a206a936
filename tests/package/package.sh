#!/bin/sh
# SPDX-License-Identifier: MIT
# package.sh BUILD [CC] — installs a build into a folder of its own and uses it as other programs
# would: by poprt.pc with libpoprt.so and with libpoprt.a, by CMake's find_package, and in a host
# that has other functions by the names of nanopb's. Manual pages and completion are installed. Ends
# with the line "N passed, N failed".
build=$(cd "$1" && pwd) || exit 2
cc=${2:-cc}
here=$(cd "$(dirname "$0")" && pwd)
data=$here/../fixtures
work=$build/package
dest=$work/dest
. "$here/../support/check.sh"
rm -rf "$work"
mkdir -p "$work"

check "installing" env DESTDIR="$dest" meson install -C "$build" --no-rebuild
[ "$failed" -eq 0 ] || finish
pc=$(find "$dest" -name poprt.pc)
prefix=$dest$(sed -n 's/^prefix=//p' "$pc")
libdir=$(dirname "$(dirname "$pc")")
flags() { # OPTION...
    PKG_CONFIG_PATH=$libdir/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH} \
        pkg-config --define-variable=prefix="$prefix" "$@" poprt
}
onnx=
file=$data/popef/format_1.popef
if grep -q poprt_model_load_file "$prefix/include/poprt/model.h" &&
    nm -D "$libdir/libpoprt.so" | grep -q ' T poprt_model_load_file'; then
    onnx=-DONNX
    file=$data/digits/model.onnx
fi

by_shared() {
    $cc $onnx "$here/guest.c" $(flags --cflags --libs) -o "$work/shared" &&
        LD_LIBRARY_PATH=$libdir "$work/shared" "$file" &&
        readelf -d "$work/shared" | grep -q 'NEEDED.*libpoprt\.so\.1'
}

by_cpp() {
    c++ -std=c++17 -Wall -Wextra -Werror "$here/../../examples/run_model.cpp" \
        $(flags --cflags --libs) -o "$work/cpp" && LD_LIBRARY_PATH=$libdir "$work/cpp" "$file"
}

# static_flags: -l:libpoprt.a, as the linker would take libpoprt.so of the same folder.
static_flags() {
    flags --static --cflags --libs | sed 's/-lpoprt/-l:libpoprt.a/'
}

by_static() {
    $cc $onnx "$here/guest.c" $(static_flags) -o "$work/static" && "$work/static" "$file" &&
        ! readelf -d "$work/static" | grep -q 'NEEDED.*libpoprt'
}

# A host whose own nanopb (and cJSON, where ours is in the archive) ends the program when called.
by_mixed() {
    names="pb_decode pb_decode_tag pb_encode pb_istream_from_buffer pb_read pb_skip_field \
        pb_decode_varint pb_field_iter_begin pb_ostream_from_buffer"
    nm -u "$libdir/libpoprt.a" | grep -q cJSON ||
        names="$names cJSON_ParseWithLengthOpts cJSON_ParseWithLength cJSON_Delete cJSON_IsArray"
    {
        echo '#include <stdlib.h>'
        for symbol in $names; do
            echo "void $symbol(void); void $symbol(void) { abort(); }"
        done
    } >"$work/own.c"
    $cc $onnx "$here/guest.c" "$work/own.c" $(static_flags) -o "$work/mixed" &&
        "$work/mixed" "$file"
}

only_poprt() {
    nm -g --defined-only "$libdir/libpoprt.a" | awk 'NF == 3 && $3 !~ /^poprt_/ { print; bad = 1 }
        $3 ~ /^poprt_/ { ours = 1 }
        END { exit bad || !ours }'
}

by_cmake() { # TARGET WORDS
    mkdir -p "$work/cmake-$1" && cat >"$work/cmake-$1/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.16)
project(guest C)
find_package(poprt $2 REQUIRED CONFIG)
add_executable(guest "$here/guest.c")
target_compile_definitions(guest PRIVATE GUEST ${onnx#-D})
target_link_libraries(guest PRIVATE poprt::$1)
END
    cmake -S "$work/cmake-$1" -B "$work/cmake-$1/build" -DCMAKE_C_COMPILER="$cc" \
        -Dpoprt_DIR="$libdir/cmake/poprt" && cmake --build "$work/cmake-$1/build" &&
        "$work/cmake-$1/build/guest" "$file"
}

refused_by_cmake() {
    ! by_cmake poprt 2.0 && grep -q 'not.* compatible\|compatible with requested version' "$work/check.txt"
}

# Pages of the format and of the library; with the tool, a page for each command, and completion.
manuals() {
    scripts=
    pages="man5/popef.5"
    ! command -v python3 >/dev/null || pages="$pages man3/libpoprt.3"
    if [ -x "$prefix/bin/poprt" ]; then
        commands=$("$prefix/bin/poprt" --help |
            sed -n '/^commands:/,/^Each/s/^  poprt \([a-z0-9_]*\).*/\1/p')
        pages="$pages man1/poprt.1 man1/poprt_exec.1"
        for command in $commands; do
            pages="$pages man1/poprt-$command.1"
        done
        scripts="bash-completion/completions/poprt.bash zsh/site-functions/_poprt"
    fi
    for installed in $(printf 'man/%s ' $pages) $scripts; do
        [ -s "$prefix/share/$installed" ] || { echo "$installed is not installed"; return 1; }
    done
}

check "manual pages and completion" manuals
check "poprt.pc and libpoprt.so" by_shared
# The C++ library of this machine is made for its own C library.
if [ -n "$onnx" ] && [ "$cc" != musl-gcc ] && command -v c++ >/dev/null; then
    check "the headers of C++" by_cpp
fi
check "poprt.pc and libpoprt.a" by_static
check "libpoprt.a defines poprt_* alone" only_poprt
check "libpoprt.a beside another nanopb" by_mixed
if command -v cmake >/dev/null; then
    check "CMake, poprt::poprt" by_cmake poprt 1.0
    check "CMake, poprt::static" by_cmake static ""
    check "CMake refuses a newer major version" refused_by_cmake
fi
finish
