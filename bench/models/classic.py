# SPDX-License-Identifier: MIT
"""Models of ai.onnx.ml, as scikit-learn's and boosting libraries' exporters write them: trees and
support vectors for tables of numbers. One row, or a thousand."""
import numpy as np

from build import F32, I64, Graph

DOMAIN = {"domain": "ai.onnx.ml"}


class Trees:
    """Attribute lists of an ensemble; inner nodes compare with BRANCH_LEQ."""

    def __init__(self, rng, features, outputs, positive):
        self.rng, self.features, self.outputs, self.positive = rng, features, outputs, positive
        self.nodes, self.votes, self.trees = [], [], 0

    def add(self, depth, stop):
        """A tree that ends at `depth`, or earlier with probability `stop`."""
        self.first = len(self.nodes)
        self.grow(self.trees, depth, stop)
        self.trees += 1

    def grow(self, tree, depth, stop):
        """A subtree, its root first; where that is."""
        at = len(self.nodes) - self.first
        leaf = depth == 0 or (depth < 7 and self.rng.random() < stop)
        self.nodes.append([tree, at, 0, 0.0, "LEAF", 0, 0])
        if leaf:
            w = self.rng.random(self.outputs) if self.positive \
                else self.rng.standard_normal(self.outputs)
            for k, value in enumerate(w / (w.sum() * 100 if self.positive else 10)):
                self.votes.append((tree, at, k, float(value)))
            return at
        node = self.nodes[-1]
        node[2:5] = int(self.rng.integers(self.features)), float(self.rng.normal()), "BRANCH_LEQ"
        node[5] = self.grow(tree, depth - 1, stop)
        node[6] = self.grow(tree, depth - 1, stop)
        return at

    def lists(self, kind):
        names = ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids",
                 "falsenodeids")
        out = {f"nodes_{n}": [row[i] for row in self.nodes] for i, n in enumerate(names)}
        for i, n in enumerate(("treeids", "nodeids", "ids", "weights")):
            out[f"{kind}_{n}"] = [v[i] for v in self.votes]
        return out


def forest(rows):
    """A random forest: 100 trees as deep as 10, 20 features, 3 classes."""
    g = Graph()
    x = g.input("X", (rows, 20))
    trees = Trees(g.rng, 20, 3, True)
    for _ in range(100):
        trees.add(10, 0.2)
    g.params = len(trees.nodes) + len(trees.votes)
    label, scores = g.nodes_out("TreeEnsembleClassifier", [x], [(rows,), (rows, 3)], F32,
                                classlabels_int64s=[0, 1, 2], post_transform="NONE",
                                **trees.lists("class"), **DOMAIN)
    label.dtype = np.dtype(I64)
    g.output(label, "label")
    g.output(scores, "probabilities")
    return g


def boosted(rows):
    """Gradient boosting: 200 trees of depth 6, 32 features, one number."""
    g = Graph()
    x = g.input("X", (rows, 32))
    trees = Trees(g.rng, 32, 1, False)
    for _ in range(200):
        trees.add(6, 0.0)
    g.params = len(trees.nodes) + len(trees.votes)
    g.output(g.node("TreeEnsembleRegressor", [x], (rows, 1), F32, n_targets=1,
                    **trees.lists("target"), **DOMAIN), "variable")
    return g


def support_vectors(rows):
    """Regression by 600 support vectors of 20 features, radial kernel."""
    g = Graph()
    x = g.input("X", (rows, 20))
    g.params = 600 * 21
    numbers = lambda n: [float(v) for v in g.rng.standard_normal(n, np.float32)]
    g.output(g.node("SVMRegressor", [x], (rows, 1), F32, kernel_type="RBF", n_supports=600,
                    kernel_params=[0.05, 0.0, 3.0], support_vectors=numbers(600 * 20),
                    coefficients=numbers(600), rho=[0.1], **DOMAIN), "variable")
    return g


def sized(build, rows):
    def model():
        return build(rows)
    model.__name__ = f"{build.__name__}_b{rows}"
    return model


MODELS = tuple(sized(b, n) for b in (forest, boosted, support_vectors) for n in (1, 1000))
