# SPDX-License-Identifier: MIT
"""Language models: BERT and its small sister, GPT-2 reading a prompt and writing a word."""
import math

import numpy as np

from build import F32, I64, Graph


def heads_apart(g, x, heads):
    b, n, c = x.shape
    return g.transpose(g.reshape(x, (b, n, heads, c // heads)), (0, 2, 1, 3))


def heads_together(g, x):
    b, heads, n, d = x.shape
    return g.reshape(g.transpose(x, (0, 2, 1, 3)), (b, n, heads * d))


def bert(d, heads, inner, layers, n=128, words=30522):
    """Norms written out, biases added after the product, a mask of the words that count."""
    g = Graph()
    ids, mask, kinds = (g.input(name, (1, n), I64, limit) for name, limit in (
        ("input_ids", words), ("attention_mask", 2), ("token_type_ids", 2)))
    mask = g.node("Cast", [g.unsqueeze(g.unsqueeze(mask, 1), 2)], (1, 1, 1, n), F32, to=1)
    mask = g.mul(g.two("Sub", 1, mask), -10000)
    places = g.gather(g.normal((512, d), 0.5), g.ints([range(n)]))
    x = g.add(g.gather(g.normal((words, d), 1), ids), g.gather(g.normal((2, d), 0.5), kinds))
    x = g.layer_norm_written_out(g.add(x, places))
    for _ in range(layers):
        q, k, v = (heads_apart(g, g.linear(x, d), heads) for _ in range(3))
        s = g.matmul(q, g.transpose(k, (0, 1, 3, 2)))
        s = g.add(g.two("Div", s, math.sqrt(d // heads)), mask)
        y = heads_together(g, g.matmul(g.softmax(s), v))
        x = g.layer_norm_written_out(g.add(g.linear(y, d), x))
        y = g.linear(g.linear(x, inner, "gelu"), d)
        x = g.layer_norm_written_out(g.add(y, x))
    g.output(x, "last_hidden_state")
    g.output(g.gemm(g.gather(x, g.ints(0), 1), d, "tanh"), "pooler_output")
    return g


def bert_base_128():
    return bert(768, 12, 3072, 12)


def minilm_l6_128():
    return bert(384, 12, 1536, 6)


def gpt2(n, past, d=768, heads=12, layers=12, words=50257, grows=False):
    """`n` words after `past` others, whose keys and values come in and go out longer. If it grows,
    the model leaves open how many others those are; they are masked by an input."""
    g = Graph()
    ids = g.input("input_ids", (1, n), I64, words)
    seen = places = None
    if grows:
        seen = g.input("attention_mask", (1, past + n), I64, 2, {1: f"past + {n}"})
        places = g.input("position_ids", (1, n), I64, 1024)
    kept = [[g.input(f"past_{kind}_{i}", (1, heads, past, d // heads), open={2: "past"} if grows
                     else None) for kind in ("key", "value")]
            for i in range(layers)] if past else []
    x = g.gather(g.normal((words, d), 0.5), ids)
    x = g.add(x, g.gather(g.normal((1024, d), 0.2), places or g.ints([range(past, past + n)])))
    if grows:
        seen = g.node("Cast", [g.unsqueeze(g.unsqueeze(seen, 1), 2)], (1, 1, 1, past + n), F32, to=1)
        seen = g.mul(g.two("Sub", 1, seen), -10000)
    else:
        seen = g.const(np.tri(n, past + n, past)[None, None], np.bool_)
    present = []

    def dense(x, units, act=None, gain=1.0):
        """A product of the flattened batch, as the original's one-wide convolutions are written."""
        flat = g.reshape(x, (-1, x.shape[-1]))
        w = g.normal((x.shape[-1], units), g.fan(x.shape[-1], act, gain))
        g.flops += 2 * math.prod(x.shape) * units
        y = g.node("Gemm", [flat, w, g.near(units, 0)], (flat.shape[0], units), alpha=1.0, beta=1.0)
        return g.act(g.reshape(y, (*x.shape[:-1], units)), act)

    for i in range(layers):
        parts = g.split(dense(g.layer_norm(x), 3 * d), [d] * 3, 2)
        q, k, v = (heads_apart(g, part, heads) for part in parts)
        if past:
            k, v = g.concat([kept[i][0], k], -2), g.concat([kept[i][1], v], -2)
        present += [(k, f"present_key_{i}"), (v, f"present_value_{i}")]
        s = g.two("Div", g.matmul(q, g.transpose(k, (0, 1, 3, 2))), math.sqrt(d // heads))
        s = (g.add(s, seen) if grows else
             g.node("Where", [seen, s, g.const(-10000)], s.shape, F32))
        y = heads_together(g, g.matmul(g.softmax(s), v))
        x = g.add(dense(y, d, gain=0.3), x)
        y = dense(dense(g.layer_norm(x), 4 * d, "gelu_tanh"), d, gain=0.3)
        x = g.add(x, y)
    g.output(g.linear(g.layer_norm(x), words, bias=False), "logits")
    for value, name in present:
        g.output(value, name)
        value.open = {2: f"past + {n}"} if grows else {}
    return g


def gpt2_prefill_64():
    return gpt2(64, 0)


def gpt2_decode_512():
    return gpt2(1, 512)


def gpt2_decode():
    """Of any past; measured after 512 words."""
    return gpt2(1, 512, grows=True)


MODELS = (bert_base_128, minilm_l6_128, gpt2_prefill_64, gpt2_decode_512, gpt2_decode)
