# SPDX-License-Identifier: MIT
"""rows.py: the operator table as the library has it, read from the .def files below src/op."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Row:
    def __init__(self, key, domain, name, since, traits):
        self.key, self.domain, self.name = key, domain, name
        self.since, self.traits = since, traits
        self.types, self.ins, self.outs, self.attrs = {}, [], [], {}

    def var(self, slot):
        """Type variable of input `slot`."""
        return self.ins[min(slot, len(self.ins) - 1)][1]


def _sets():
    """The PRT_T_* names of op.h, each as a list of element types (and seq, opt, map)."""
    text = (ROOT / 'src/op/op.h').read_text().replace('\\\n', ' ')
    sets = {'PRT_T_SEQ': ['seq'], 'PRT_T_OPT': ['opt'], 'PRT_T_MAP': ['map']}
    for name, body in re.findall(r'#define (PRT_T_\w+)\s+(.*)', text):
        if name not in sets:
            sets[name] = _members(re.sub(r'/\*.*?\*/', '', body), sets)
    return sets


def _members(text, sets):
    found = []
    for one, group in re.findall(r'PRT_T\((\w+)\)|(PRT_T_\w+)', text):
        found += [one] if one else sets[group]
    return list(dict.fromkeys(found))


def _arguments(text):
    """Arguments of a macro call, split at commas outside of parentheses and quotes."""
    parts, depth, quoted, part = [], 0, False, ''
    for c in text:
        quoted ^= c == '"'
        depth += 0 if quoted else (c == '(') - (c == ')')
        if c == ',' and depth == 0 and not quoted:
            parts.append(part.strip())
            part = ''
        else:
            part += c
    return parts + [part.strip()]


def read():
    """All rows in the order of ops.def."""
    sets, rows = _sets(), []
    folder = ROOT / 'src'
    families = re.findall(r'#include "(op/\S+\.def)"', (folder / 'op/ops.def').read_text())
    for family in families:
        text = re.sub(r'/\*.*?\*/', '', (folder / family).read_text(), flags=re.S)
        for call in re.finditer(r'^\s*(OP_BEGIN|TYPE|IN|OUT|ATTR)\((.*?)\)\s*$', text, re.M | re.S):
            kind, a = call.group(1), _arguments(' '.join(call.group(2).split()))
            plain = [x.strip('"') for x in a]
            if kind == 'OP_BEGIN':
                rows.append(Row(plain[0], plain[1], plain[2], int(a[3]), a[4]))
            elif kind == 'TYPE':
                rows[-1].types[plain[1]] = _members(a[2], sets)
            elif kind == 'IN':
                rows[-1].ins.append((plain[1], plain[2], a[3]))
            elif kind == 'OUT':
                rows[-1].outs.append((plain[1], plain[2], a[3]))
            else:
                rows[-1].attrs[plain[2]] = (a[1], a[3])
    return rows
