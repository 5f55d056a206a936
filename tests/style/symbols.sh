#!/bin/sh
# SPDX-License-Identifier: MIT
# symbols.sh ROOT LIBRARY — what the shared object exports is what the version script lists is what
# the headers declare; and it takes nothing from outside that could end, speak for or change the
# process it is a guest in.
root=$1
library=$2
bad=0
temp=$(mktemp -d) || exit 2
trap 'rm -rf "$temp"' EXIT
nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sed 's/@.*//' | sort >"$temp/exported"
sed -n 's/^ *\(poprt_[a-z0-9_]*\);$/\1/p' "$root/src/api/poprt.map" | sort >"$temp/map"
grep -hv '^#' "$root"/include/poprt/*.h | tr '\n' ' ' | grep -o 'POPRT_API [^;]*' |
    sed 's/^[^(]*[ *]\(poprt_[a-z0-9_]*\)(.*/\1/' | sort >"$temp/declared"
diff "$temp/map" "$temp/exported" || { echo "map (<) and exports (>) differ"; bad=1; }
diff "$temp/map" "$temp/declared" || { echo "map (<) and headers (>) differ"; bad=1; }

# The sanitizers bring their own.
if nm -D --undefined-only "$library" | grep -q -e __asan_ -e __ubsan_ -e __tsan_; then
    exit $bad
fi
nm -D --undefined-only "$library" | awk '{ print $2 }' | sed 's/@.*//' | sort >"$temp/undefined"
for name in abort exit _exit quick_exit atexit __cxa_atexit __assert_fail printf fprintf puts \
    putchar perror vprintf vfprintf __printf_chk __fprintf_chk stderr stdout getenv secure_getenv \
    setenv putenv setlocale signal sigaction raise kill chdir fork system popen umask \
    pthread_setaffinity_np rand srand strtok; do
    grep -qx "$name" "$temp/undefined" && { echo "$name is used"; bad=1; }
done
# The pool's own workers are moved, by themselves (place.c), and nobody else is.
[ "$(grep -rl 'sched_setaffinity(' "$root/lib" "$root/src")" = "$root/lib/par/affinity.c" ] &&
    [ "$(grep -c 'sched_setaffinity(0, ' "$root/lib/par/affinity.c")" -eq \
        "$(grep -c 'sched_setaffinity(' "$root/lib/par/affinity.c")" ] ||
    { echo "sched_setaffinity is used for more than a worker's own place"; bad=1; }
# Shared objects are opened where a caller names a plug-in, and nowhere else.
[ "$(grep -rl 'dlopen(' "$root/lib" "$root/src")" = "$root/src/plugin/load.c" ] ||
    { echo "dlopen is used for more than plug-ins"; bad=1; }
readelf -d "$library" | awk '/NEEDED/ { gsub(/[][]/, "", $5); print $5 }' |
    grep -v -e '^libc\.so' -e '^libm\.so' -e '^libcjson\.so' -e '^libz\.so' -e '^ld-linux' -e '^libpthread\.so' &&
    { echo "is needed at run time"; bad=1; }
readelf -d "$library" | grep -q 'SONAME.*libpoprt\.so\.1' || { echo "soname"; bad=1; }
exit $bad
