#!/bin/sh
# SPDX-License-Identifier: MIT
# broken.sh POPRT LIBDIR ROOT CC — blocks.sh and links.sh find what is wrong: each page here has one
# fault, or none. Ends with the line "N passed, N failed".
root=$(cd "$3" && pwd) || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
. "$root/tests/support/check.sh"
fence='```'

# says PATTERN COUNTS SCRIPT ARGUMENT...: the script prints both, and fails unless nothing did.
says() {
    pattern=$1
    counts=$2
    shift 2
    sh "$@" >"$work/said" 2>&1
    status=$?
    cat "$work/said"
    grep -q -e "$pattern" "$work/said" && [ "$(tail -1 "$work/said")" = "$counts" ] || return 1
    case $counts in
    *' 0 failed') [ $status -eq 0 ] ;;
    *) [ $status -ne 0 ] ;;
    esac
}

# block NAME PATTERN COUNTS: a page from stdin, in which @ stands for a fence.
block() {
    sed "s/^@/$fence/" >"$work/$1.md"
    check "$1" says "$2" "$3" "$root/tests/docs/blocks.sh" "$poprt" "$libdir" "$root" "$cc" \
        "$work/$1.md"
}

link() {
    cat >"$work/$1.md"
    check "$1" says "$2" "$3" "$root/tests/docs/links.sh" "$root" "$work/$1.md"
}

poprt=$1
libdir=$2
cc=$4

block unknown_function 'poprt_fly' '0 passed, 1 failed' <<'END'
@c
poprt_fly();
@
END
block wrong_argument 'poprt_compile' '0 passed, 1 failed' <<'END'
<!-- context: poprt_model *model -->
@c
poprt_compile(model, NULL);
@
END
block context 'passed' '1 passed, 0 failed' <<'END'
<!-- context: poprt_model *model, poprt_executable *exec -->
@c
poprt_compile(model, NULL, &exec);
@
END
block forgotten_context 'model' '1 passed, 1 failed' <<'END'
<!-- context: poprt_model *model -->
@c
poprt_model_release(model);
@
@c
poprt_model_release(model);
@
END
block unknown_option 'no_such_option' '0 passed, 1 failed' <<'END'
@sh
poprt --no_such_option
echo done
@
END
block one_folder 'passed' '3 passed, 0 failed' <<'END'
<!-- file: program.c -->
@c
#include <poprt/poprt.h>
int main(void)
{
    return poprt_abi_version() != POPRT_ABI_VERSION;
}
@
@sh
cc program.c $(pkg-config --cflags --libs poprt) -o program
@
@sh
./program
@
END
block not_run 'passed' '1 passed, 0 failed' <<'END'
<!-- not run: installs packages -->
@sh
false
@
END
block not_shell 'yntax' '0 passed, 1 failed' <<'END'
<!-- not run: installs packages -->
@sh
if true
@
END
block python 'SyntaxError' '0 passed, 1 failed' <<'END'
@python
def f(:
@
END
block json 'Expecting' '0 passed, 1 failed' <<'END'
@json
{"a": }
@
END
block unread_yaml 'no later sh block' '0 passed, 1 failed' <<'END'
<!-- file: job.yaml -->
@yaml
input_model: model.onnx
@
END
block refused_yaml 'no_such_key' '1 passed, 1 failed' <<'END'
<!-- file: job.yaml -->
@yaml
no_such_key: 1
@
@sh
poprt --config_yaml job.yaml
@
END
block no_language 'expected c, sh' '0 passed, 1 failed' <<'END'
@
words
@
END
block no_end 'has no end' '0 passed, 1 failed' <<'END'
@text
words
END
block no_block 'there are no blocks' '0 passed, 1 failed' <<'END'
Words.
END
link no_file 'there is no' '0 passed, 1 failed' <<'END'
[a page](nowhere.md)
END
link no_heading 'no heading for #other' '1 passed, 1 failed' <<'END'
# This heading: `code`
[here](#this-heading-code) and [there](no_heading.md#other)
END
link absolute 'an absolute link' '0 passed, 1 failed' <<'END'
[a page](/etc/passwd)
END
link elsewhere 'passed' '0 passed, 0 failed' <<'END'
[another site](https://example.com) and `[code](nowhere.md)`
END
finish
