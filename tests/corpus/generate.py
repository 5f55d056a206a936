# SPDX-License-Identifier: MIT
"""generate.py: random cases for every operator of the table, with the values they must give.

    generate.py [--seed N] [--cases N] [--out FOLDER] [--only ID,ID] [--domain D] [--missing]

Writes FOLDER/<id>.txt (README.md has the format) and prints what is covered: types of each type
variable, and classes of shapes (zero-size, scalar, broadcast, rank 8). Rows without a recipe and
combinations that no case has are listed; --missing makes them an error.
"""
import argparse
import collections
import pathlib
import sys
import traceback

import recipes  # noqa: F401  registers all
import rows
from draw import Draw, Skip
from registry import CLASSES, RECIPES

HERE = pathlib.Path(__file__).resolve().parent
TRIES = 12
KINDS = ('seq', 'opt', 'map')  # of values that are no tensors


def plan(row, classes, more):
    """Types and classes of shapes to draw: each type of the first variable with each class, each
    type of every other one at least once, then `more` at random (None: chosen by the draw)."""
    variables = list(row.types)
    first = variables[0] if variables else None
    done = []
    for k, t in enumerate(row.types[first] if first else [None]):
        for j, c in enumerate(['any'] + (classes if t not in KINDS else [])):
            types = {v: row.types[v][(k + j) % len(row.types[v])] for v in variables}
            if first:
                types[first] = t
            done.append((types, c, None))
    for v in variables[1:]:
        done += [(None, 'any', (v, t)) for t in row.types[v]]
    return done + [(None, None, None)] * more


def draw_types(row, fixed, rng):
    types = {v: rng.choice(s) for v, s in row.types.items()}
    if fixed:
        types[fixed[0]] = fixed[1]
    return types


def make(row, seed, more):
    """Cases of a row, what they cover, and why the rest is not."""
    classes, cases, skipped, failures = CLASSES[row.key], [], collections.Counter(), []
    for index, (types, cls, fixed) in enumerate(plan(row, classes, more)):
        for attempt in range(TRIES):
            g = Draw(row, {}, 'any', '%s/%d/%d/%d' % (row.key, seed, index, attempt))
            g.t = types or draw_types(row, fixed, g.rng)
            g.cls = cls or g.pick(['any'] * 3 + classes)
            try:
                case = RECIPES[row.key](g)
                case.types = dict(g.t)
                if cls in (None, 'any') or cls in case.shapes or attempt == TRIES - 1:
                    cases.append(case)
                    break
            except Skip as reason:
                skipped[str(reason)] += 1
                if types and attempt > 2:  # other variables may be in the way
                    keep = list(types)[0]
                    types = draw_types(row, (keep, types[keep]), g.rng)
            except Exception:
                failures.append('%s %s\n%s' % (g.t, g.cls, traceback.format_exc(limit=-4)))
                break
    return cases, skipped, failures


def write(path, row, cases, seed):
    # Equal cases say nothing new.
    seen, out = set(), []
    for c in cases:
        body = '\n'.join(c.graph + c.results)
        if body in seen:
            continue
        seen.add(body)
        tolerance = '' if c.tolerance == 'exact' else ' ~' + c.tolerance
        types = ' '.join(dict.fromkeys(t for t in c.types.values() if t))
        shapes = ''.join(' ' + s for s in sorted(c.shapes))
        out.append('case %d %s%s%s\n%s\n' % (len(out) + 1, types, shapes, tolerance, body))
    title = '# SPDX-License-Identifier: MIT\n# %s, by generate.py --seed %d.\n' % (row.name, seed)
    path.write_text(title + '\n'.join(out))
    return len(out)


def gaps(row, cases):
    """Combinations that the row claims and no case has."""
    missing = []
    for v, set_ in row.types.items():
        have = {c.types.get(v) for c in cases}
        left = [t for t in set_ if t not in have]
        if left:
            missing.append('%s: %s' % (v, ' '.join(left)))
    first = next(iter(row.types), None)
    for cls in CLASSES[row.key]:
        left = [t for t in (row.types[first] if first else []) if t not in KINDS and not any(
            cls in c.shapes and c.types.get(first) == t for c in cases)]
        if left:
            missing.append('%s: %s' % (cls, ' '.join(left)))
    return missing


def main():
    args = argparse.ArgumentParser()
    args.add_argument('--seed', type=int, default=1)
    args.add_argument('--cases', type=int, default=4, help='random ones after the planned ones')
    args.add_argument('--out', type=pathlib.Path, default=HERE)
    args.add_argument('--only', default='')
    args.add_argument('--domain', default=None)
    args.add_argument('--missing', action='store_true')
    args = args.parse_args()
    only = set(filter(None, args.only.split(',')))
    args.out.mkdir(parents=True, exist_ok=True)
    total, none, wrong = 0, [], 0
    for row in rows.read():
        if only and row.key not in only or args.domain not in (None, row.domain):
            continue
        if row.key not in RECIPES:
            none.append(row.key)
            continue
        cases, skipped, failures = make(row, args.seed, args.cases)
        total += write(args.out / (row.key + '.txt'), row, cases, args.seed)
        missing = gaps(row, cases)
        reasons = '; '.join('%s (%d)' % r for r in skipped.most_common(4))
        covered = ' '.join(c for c in ['zero', 'scalar', 'broadcast', 'rank8']
                           if any(c in x.shapes for x in cases))
        print('%-28s %4d  %s' % (row.key, len(cases), covered))
        for m in missing:
            print('    without a case: %s%s' % (m, ' because ' + reasons if reasons else ''))
        for f in failures[:2]:
            print('    recipe failed (%d): %s' % (len(failures), f))
        wrong += len(missing) + len(failures)
    print('%d cases; rows without a recipe: %s' % (total, ' '.join(none) or 'none'))
    return 1 if args.missing and (wrong or none) else 0


if __name__ == '__main__':
    sys.exit(main())
