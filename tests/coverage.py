# SPDX-License-Identifier: MIT
"""coverage.py BUILD LEAST — prints the sources of lib and src of which the tests ran fewer than
LEAST percent of the lines, from the counters of a build with -Db_coverage=true, and ends with 1 if
there are any outside EXCEPTIONS.
"""
import collections
import json
import pathlib
import subprocess
import sys

BATCH = 50  # objects of one call of gcov

# Sources that may be below LEAST, each with the reason.
EXCEPTIONS = {
    'lib/kern/bf16x3/bf16x3.h': 'needs AMX',
    'lib/kern/bf16x3/bf16x3.inl': 'needs AMX',
    'lib/kern/bf16x3/bf16x3_amx.c': 'needs AMX',
    'lib/kern/bf16x3/bf16x3_small_m_amx.c': 'needs AMX',
    'lib/kern/conv/windows.inl': 'needs AVX-512',
    'lib/kern/int8/amx.inl': 'needs AMX',
    'lib/kern/int8/dot_amx.c': 'needs AMX',
    'lib/kern/int8/requantize_tiles.h': 'needs AMX',
    'lib/kern/int8/requantize_tiles_amx.c': 'needs AMX',
    'src/fast/conv/bf16x3_conv.c': 'needs AMX',
    'src/fast/conv/nhwc_i8_amx.c': 'needs AMX',
    'src/fast/gemm/bf16x3.c': 'needs AMX',
    'src/fast/gemm/bf16x3_small_m.c': 'needs AMX',
    'src/fast/gemm/bf16x3_work.h': 'needs AMX',
}


def counts(build):
    """Runs of each line of each source, over all objects that it is part of."""
    notes = sorted(str(p.resolve()) for folder in ('lib', 'src')
                   for p in (build / folder).rglob('*.gcno')
                   if p.with_suffix('.o').exists())  # not of a source that was renamed
    lines = collections.defaultdict(collections.Counter)
    for i in range(0, len(notes), BATCH):
        out = subprocess.run(['gcov', '--json-format', '--stdout'] + notes[i:i + BATCH], check=True,
                             cwd=build, capture_output=True, text=True).stdout
        for report in out.splitlines():
            report = json.loads(report)
            base = pathlib.Path(report['current_working_directory'])
            for file in report['files']:
                path = (base / file['file']).resolve()
                for line in file['lines']:
                    lines[path][line['line_number']] += line['count']
    return lines


def main():
    build, least = pathlib.Path(sys.argv[1]), float(sys.argv[2])
    root = pathlib.Path(__file__).resolve().parent.parent
    total = covered = bad = 0
    for path, runs in sorted(counts(build).items()):
        if not path.is_relative_to(root) or path.relative_to(root).parts[0] not in ('lib', 'src'):
            continue
        name = str(path.relative_to(root))
        ran = sum(1 for n in runs.values() if n > 0)
        total += len(runs)
        covered += ran
        if 100 * ran < least * len(runs):
            bad += name not in EXCEPTIONS
            reason = ' (%s)' % EXCEPTIONS[name] if name in EXCEPTIONS else ''
            print('%s: %d of %d lines%s' % (name, ran, len(runs), reason))
    share = 100 * covered / total
    print('%.1f %% of %d lines; %d sources below %g %%' % (share, total, bad, least))
    return bad > 0


if __name__ == '__main__':
    sys.exit(main())
