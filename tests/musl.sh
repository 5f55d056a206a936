#!/bin/sh
# SPDX-License-Identifier: MIT
# musl.sh — builds for musl with cJSON and nanopb from Debian's source packages in the place of the
# wraps, runs the models of tests/fixtures with the tool, and links a static program that runs one of
# them. Ends with the line "N passed, N failed". Needs Debian and its archive; by hand or by run.sh.
cd "$(dirname "$0")/.." || exit 1
. tests/support/need.sh
need musl-tools dpkg-dev meson ninja-build pkg-config binutils || exit 1
root=$(pwd)
work=$root/build/musl
. tests/support/check.sh

# apt with the archive's sources, which images of Debian leave out, and lists of its own.
source_apt() {
    apt-get -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/apt" \
        -o Dir::State::lists="$work/apt/lists" -o Dir::Cache::srcpkgcache= \
        -o Dir::Cache::pkgcache= -o APT::Sandbox::User=root "$@"
}

# sources: a tree of links to this one whose subprojects are Debian's.
sources() {
    mkdir -p "$work/apt/lists/partial" "$work/debian" "$work/tree/subprojects" || return 1
    release=$(. /etc/os-release && echo "$VERSION_CODENAME")
    printf '%s\n' 'Types: deb-src' 'URIs: http://deb.debian.org/debian' "Suites: $release" \
        'Components: main' 'Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg' \
        >"$work/apt/debian.sources"
    source_apt update && (cd "$work/debian" && source_apt source cjson nanopb) || return 1
    for entry in "$root"/*; do
        case ${entry##*/} in
        build | subprojects) ;;
        *) ln -sfn "$entry" "$work/tree/${entry##*/}" ;;
        esac
    done
    for name in cjson nanopb; do
        cp "$root/subprojects/$name.wrap" "$work/tree/subprojects/" &&
            cp -r "$work/debian/$name"-*/. "$work/tree/subprojects/$name" &&
            cp "$root/subprojects/packagefiles/$name/meson.build" \
                "$work/tree/subprojects/$name/" || return 1
    done
}

build() {
    [ -f "$work/build/build.ninja" ] ||
        CC=musl-gcc meson setup "$work/build" "$work/tree" --force-fallback-for=libcjson,nanopb \
            --wrap-mode=nodownload -Dtests=false -Dpython=disabled -Dimages=disabled \
            -Dzlib=disabled -Dyaml=disabled -Dkernels=portable,avx2 -Doptimization=1 \
            -Dprefix="$work/install" \
            -Dlibdir=lib --werror -Dc_args=-Wno-maybe-uninitialized || return 1
    ninja -C "$work/build" && meson install -C "$work/build" --no-rebuild
}

# examples/digits.c as a static program, by the flags of poprt.pc.
link_static() {
    flags=$(PKG_CONFIG_LIBDIR="$work/install/lib/pkgconfig" pkg-config --static --cflags --libs \
        poprt) || return 1
    echo "$flags"
    musl-gcc -static -o "$work/digits" examples/digits.c $flags -lm
}

static_runs() {
    ! readelf -d "$work/digits" | grep -q NEEDED || return 1
    sh tests/tools/digits.sh "$work/install/bin/poprt" "$work/digits" "$root"
}

mkdir -p "$work" || exit 1
check "sources of cJSON and nanopb" sources
check "build with musl-gcc" build
[ "$failed" -eq 0 ] || finish
check "no library of glibc" sh -c "! readelf -d '$work/install/bin/poprt' | grep -q 'libc\.so\.6'"
"$work/install/bin/poprt" test tests/fixtures >"$work/cases.txt" 2>&1
check "models of tests/fixtures" test $? -eq 0
tail -1 "$work/cases.txt"
check "a static program" link_static
check "the static program runs" static_runs
# Here cJSON is part of libpoprt.a: a host may have another one, of any version.
check "the installed package" sh tests/package/package.sh "$work/build" musl-gcc
finish
