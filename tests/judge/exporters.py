#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes models with the exporters of today, with inputs and outputs, for judge.sh to judge.

    exporters.py OUT [--only PREFIX] [--list]

Writes OUT/NAME/model.onnx and OUT/NAME/test_data_set_0 for each model whose packages are installed:

    pip install torch torchvision onnxscript transformers scikit-learn skl2onnx lightgbm xgboost \\
        onnxmltools keras jax2onnx onnxruntime

Weights are random, sizes are tiny, and nothing is downloaded: architectures come from
configurations. The outputs are those of the framework, or of ONNX Runtime where the framework's do
not have the form of the file's. NAME begins with the exporter:

    script      torch.onnx.export(dynamo=False), the TorchScript exporter
    dynamo      torch.onnx.export(dynamo=True), with onnxscript
    keras       keras.Model.export(format="onnx") on the torch backend
    jax         jax2onnx
    sklearn     skl2onnx
    lightgbm, xgboost   onnxmltools

Models of transformers say how attention is computed: .sdpa or .eager. Prints a line for each model
that an exporter fails on, and the versions last, which OUT/versions.txt keeps.
"""

import argparse
import contextlib
import importlib
import importlib.metadata
import os
import pathlib
import sys
import traceback
import warnings

os.environ["KERAS_BACKEND"] = "torch"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

BATCH, LENGTH, HIDDEN, HEADS, VOCABULARY = 2, 16, 32, 4, 64
PACKAGES = ["torch", "torchvision", "onnxscript", "transformers", "keras", "jax", "jax2onnx",
    "scikit-learn", "skl2onnx", "lightgbm", "xgboost", "onnxmltools", "onnx", "onnxruntime"]

# Name of a model (without the exporter's) -> maker of (module, tuple of inputs).
MODULES = {}
# The same for models of transformers, by makers that take "sdpa" or "eager".
TRANSFORMERS = {}


def module(name):
    def add(function):
        MODULES[name] = function
        return function
    return add


def transformer(name):
    def add(function):
        TRANSFORMERS[name] = function
        return function
    return add


# ---- torch: the layers that patterns are about ----

def sized(*shape):
    import torch
    return torch.randn(*shape)


def layer(make, *shape):
    """A maker of one layer between two products, so that fusing into neighbours is possible."""
    def build():
        from torch import nn
        width = shape[-1]
        return nn.Sequential(nn.Linear(width, width), make(nn), nn.Linear(width, width)), (sized(*shape),)
    return build


ROWS = (BATCH, LENGTH, HIDDEN)
for _name, _make in {
    "gelu": lambda nn: nn.GELU(),
    "gelu_tanh": lambda nn: nn.GELU(approximate="tanh"),
    "silu": lambda nn: nn.SiLU(),
    "mish": lambda nn: nn.Mish(),
    "hardswish": lambda nn: nn.Hardswish(),
    "hardsigmoid": lambda nn: nn.Hardsigmoid(),
    "leaky_relu": lambda nn: nn.LeakyReLU(0.1),
    "relu6": lambda nn: nn.ReLU6(),
    "softplus": lambda nn: nn.Softplus(),
    "layer_norm": lambda nn: nn.LayerNorm(HIDDEN),
    "layer_norm_plain": lambda nn: nn.LayerNorm(HIDDEN, elementwise_affine=False),
    "rms_norm": lambda nn: nn.RMSNorm(HIDDEN, eps=1e-6),
    "encoder_layer": lambda nn: nn.TransformerEncoderLayer(HIDDEN, HEADS, 64, batch_first=True).eval(),
}.items():
    MODULES[_name] = layer(_make, *ROWS)


@module("written_norms")
def written_norms():
    """Norms and activations as models write them by hand."""
    import torch
    from torch import nn

    class Written(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(HIDDEN))
            self.bias = nn.Parameter(torch.randn(HIDDEN))
            self.line = nn.Linear(HIDDEN, HIDDEN)

        def forward(self, x):
            mean = x.mean(-1, keepdim=True)
            var = (x - mean).pow(2).mean(-1, keepdim=True)
            x = self.weight * ((x - mean) / torch.sqrt(var + 1e-6)) + self.bias
            x = self.line(x)
            x = self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))
            x = self.line(x)
            x = 0.5 * x * (1.0 + torch.tanh(0.7978845608 * (x + 0.044715 * torch.pow(x, 3.0))))
            x = self.line(x)
            x = x * 0.5 * (1.0 + torch.erf(x / 1.4142135623730951))
            x = self.line(x)
            x = x * torch.sigmoid(x)
            x = self.line(x)
            d = x - x.mean(-1, keepdim=True)
            x = self.weight * d * torch.rsqrt((d * d).mean(-1, keepdim=True) + 1e-5) + self.bias
            return x * nn.functional.relu6(x + 3) / 6

    return Written(), (sized(*ROWS),)


@module("mha")
def mha():
    from torch import nn

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.MultiheadAttention(HIDDEN, HEADS, batch_first=True)

        def forward(self, x):
            return self.inner(x, x, x, need_weights=False)[0]

    return Attention(), (sized(*ROWS),)


@module("mha_weights")
def mha_weights():
    from torch import nn

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.MultiheadAttention(HIDDEN, HEADS, batch_first=True)

        def forward(self, x):
            return self.inner(x, x, x, need_weights=True)[0]

    return Attention(), (sized(*ROWS),)


def sdpa(causal, masked, groups=1):
    def build():
        import torch
        from torch import nn

        class Attention(nn.Module):
            def __init__(self):
                super().__init__()
                small = HIDDEN // groups
                self.q, self.k = nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, small)
                self.v, self.out = nn.Linear(HIDDEN, small), nn.Linear(HIDDEN, HIDDEN)

            def forward(self, x, *mask):
                q = self.q(x).view(BATCH, LENGTH, HEADS, -1).transpose(1, 2)
                k = self.k(x).view(BATCH, LENGTH, HEADS // groups, -1).transpose(1, 2)
                v = self.v(x).view(BATCH, LENGTH, HEADS // groups, -1).transpose(1, 2)
                y = nn.functional.scaled_dot_product_attention(q, k, v,
                    attn_mask=mask[0] if masked else None, is_causal=causal,
                    enable_gqa=groups != 1)
                return self.out(y.transpose(1, 2).reshape(BATCH, LENGTH, HIDDEN))

        mask = {"": (), "bool": (torch.rand(BATCH, 1, LENGTH, LENGTH) > 0.3,),
            "float": (sized(BATCH, 1, LENGTH, LENGTH),)}[masked]
        return Attention(), (sized(*ROWS), *mask)
    return build


MODULES["sdpa"] = sdpa(False, "")
MODULES["sdpa_causal"] = sdpa(True, "")
MODULES["sdpa_bool"] = sdpa(False, "bool")
MODULES["sdpa_float"] = sdpa(False, "float")
MODULES["sdpa_groups"] = sdpa(False, "", 2)


@module("conv_norms")
def conv_norms():
    from torch import nn
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.Hardswish(),
        nn.Conv2d(8, 16, 3, stride=2, bias=False), nn.GroupNorm(4, 16), nn.SiLU(),
        nn.Conv2d(16, 16, 3, groups=16, padding=1), nn.InstanceNorm2d(16, affine=True), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5)).eval(), (sized(1, 3, 17, 17),)


@module("lstm")
def lstm():
    from torch import nn
    return nn.LSTM(HIDDEN, 24, 2, batch_first=True, bidirectional=True), (sized(*ROWS),)


@module("gru")
def gru():
    from torch import nn
    return nn.GRU(HIDDEN, 24, batch_first=True), (sized(*ROWS),)


@module("einsum_topk")
def einsum_topk():
    import torch
    from torch import nn

    class Mixed(nn.Module):
        def forward(self, x):
            scores = torch.einsum("bik,bjk->bij", x, x)
            values, indices = torch.topk(scores, 4, dim=-1)
            return values.softmax(-1), indices, torch.cumsum(x, 1), x.std(-1), torch.where(x > 0, x, -x)

    return Mixed(), (sized(*ROWS),)


def vision(name, size=64, **options):
    def build():
        import torchvision
        return getattr(torchvision.models, name)(weights=None, **options).eval(), (sized(1, 3, size, size),)
    return build


for _name in ("squeezenet1_1", "mobilenet_v3_small", "shufflenet_v2_x0_5"):
    MODULES[_name] = vision(_name, num_classes=10)


@module("swin")
def swin():
    import torchvision
    return torchvision.models.SwinTransformer([4, 4], 16, [2, 2], [2, 4], [4, 4],
        num_classes=10).eval(), (sized(1, 3, 64, 64),)


# ---- transformers: random weights from a configuration ----

def ids():
    import torch
    return torch.arange(BATCH * LENGTH).reshape(BATCH, LENGTH) * 7 % (VOCABULARY - 4) + 3


def mask():
    import torch
    rows = torch.ones(BATCH, LENGTH, dtype=torch.int64)
    rows[1, 11:] = 0
    return rows


def common(**more):
    return dict(vocab_size=VOCABULARY, hidden_size=HIDDEN, num_hidden_layers=2,
        num_attention_heads=HEADS, intermediate_size=64, max_position_embeddings=64, **more)


def encoder(model, config, **more):
    def build(attention):
        import transformers
        c = getattr(transformers, config)(**{**common(), **more})
        return getattr(transformers, model)._from_config(c, attn_implementation=attention), \
            dict(input_ids=ids(), attention_mask=mask())
    return build


TRANSFORMERS.update({
    "bert": encoder("BertModel", "BertConfig"),
    "roberta": encoder("RobertaModel", "RobertaConfig"),
    "electra": encoder("ElectraModel", "ElectraConfig", embedding_size=16),
    "albert": encoder("AlbertModel", "AlbertConfig", embedding_size=16),
    "distilbert": encoder("DistilBertModel", "DistilBertConfig", dim=HIDDEN, n_heads=HEADS, n_layers=2,
        hidden_dim=64),
    "mpnet": encoder("MPNetModel", "MPNetConfig"),
    "modernbert": encoder("ModernBertModel", "ModernBertConfig", pad_token_id=0, bos_token_id=1,
        eos_token_id=2, cls_token_id=1, sep_token_id=2),
    "llama": encoder("LlamaModel", "LlamaConfig", num_key_value_heads=2, use_cache=False),
    "mistral": encoder("MistralModel", "MistralConfig", num_key_value_heads=2, use_cache=False),
    "qwen2": encoder("Qwen2Model", "Qwen2Config", num_key_value_heads=2, use_cache=False),
    "qwen3": encoder("Qwen3Model", "Qwen3Config", num_key_value_heads=2, head_dim=8, use_cache=False),
    "gemma": encoder("GemmaModel", "GemmaConfig", num_key_value_heads=1, head_dim=8, use_cache=False,
        pad_token_id=0),
    "phi": encoder("PhiModel", "PhiConfig", use_cache=False),
    "gpt2": encoder("GPT2Model", "GPT2Config", n_embd=HIDDEN, n_head=HEADS, n_layer=2, n_positions=64,
        n_inner=64, use_cache=False, bos_token_id=1, eos_token_id=2),
    "gpt_neox": encoder("GPTNeoXModel", "GPTNeoXConfig", use_cache=False),
    "opt": encoder("OPTModel", "OPTConfig", ffn_dim=64, word_embed_proj_dim=HIDDEN, use_cache=False),
    "xlm_roberta": encoder("XLMRobertaModel", "XLMRobertaConfig"),
    "nomic_clip_text": encoder("CLIPTextModel", "CLIPTextConfig", projection_dim=16, eos_token_id=2),
    "t5_encoder": encoder("T5EncoderModel", "T5Config", d_model=HIDDEN, d_kv=8, d_ff=64, num_layers=2,
        num_heads=HEADS),
})


@transformer("t5")
def t5(attention):
    import transformers
    c = transformers.T5Config(vocab_size=VOCABULARY, d_model=HIDDEN, d_kv=8, d_ff=64, num_layers=1,
        num_decoder_layers=1, num_heads=HEADS, use_cache=False, decoder_start_token_id=0)
    return transformers.T5Model._from_config(c, attn_implementation=attention), \
        dict(input_ids=ids(), attention_mask=mask(), decoder_input_ids=ids()[:, :8])


def images(model, config, size=32, **more):
    def build(attention):
        import transformers
        c = getattr(transformers, config)(**{**dict(hidden_size=HIDDEN, num_hidden_layers=2,
            num_attention_heads=HEADS, intermediate_size=64, image_size=size, patch_size=8), **more})
        return getattr(transformers, model)._from_config(c, attn_implementation=attention), \
            dict(pixel_values=sized(1, 3, size, size))
    return build


TRANSFORMERS.update({
    "vit": images("ViTModel", "ViTConfig"),
    "deit": images("DeiTModel", "DeiTConfig"),
    "dinov2": images("Dinov2Model", "Dinov2Config", mlp_ratio=2),
    "clip_vision": images("CLIPVisionModel", "CLIPVisionConfig", projection_dim=16),
    "siglip_vision": images("SiglipVisionModel", "SiglipVisionConfig"),
})


@transformer("whisper_encoder")
def whisper_encoder(attention):
    import transformers
    c = transformers.WhisperConfig(vocab_size=VOCABULARY, d_model=HIDDEN, encoder_layers=2,
        encoder_attention_heads=HEADS, encoder_ffn_dim=64, decoder_layers=1, decoder_attention_heads=HEADS,
        decoder_ffn_dim=64, num_mel_bins=8, max_source_positions=20, pad_token_id=0, bos_token_id=1,
        eos_token_id=2, decoder_start_token_id=1)
    whole = transformers.WhisperModel._from_config(c, attn_implementation=attention)
    return whole.encoder, dict(input_features=sized(1, 8, 40))


# ---- torch: exporting ----

def plain(value):
    """The tensors of whatever a module returns, in the order of an exporter's outputs."""
    import torch
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict) or hasattr(value, "to_tuple"):
        return plain(tuple(value.values()) if isinstance(value, dict) else value.to_tuple())
    if isinstance(value, (tuple, list)):
        return [t for v in value for t in plain(v)]
    return []


def export_torch(model, given, dynamo, path):
    import torch

    class Outer(torch.nn.Module):
        """Takes and gives tensors alone."""
        def __init__(self, inner, names):
            super().__init__()
            self.inner, self.names = inner, names

        def forward(self, *tensors):
            out = self.inner(**dict(zip(self.names, tensors))) if self.names else self.inner(*tensors)
            return tuple(plain(out))

    names = list(given) if isinstance(given, dict) else None
    tensors = tuple(given.values()) if names else tuple(given)
    model = Outer(model.eval(), names).eval()
    with torch.no_grad():
        want = [t.numpy() for t in model(*tensors)]
    kept = names or [f"x{i}" for i in range(len(tensors))]
    more = dict(dynamo=True, external_data=False) if dynamo else dict(dynamo=False, opset_version=17)
    torch.onnx.export(model, tensors, str(path), input_names=kept,
        output_names=[f"y{i}" for i in range(len(want))], **more)
    return dict(zip(kept, [t.numpy() for t in tensors])), want


def torch_models():
    for name, make in MODULES.items():
        for kind in ("script", "dynamo"):
            yield f"{kind}.{name}", lambda path, make=make, kind=kind: \
                export_torch(*make(), kind == "dynamo", path)


def transformers_models():
    for name, make in TRANSFORMERS.items():
        for attention in ("eager",) if name == "mpnet" else ("sdpa", "eager"):
            for kind in ("script", "dynamo"):
                yield f"{kind}.{name}.{attention}", \
                    lambda path, make=make, kind=kind, attention=attention: \
                    export_torch(*make(attention), kind == "dynamo", path)


# ---- Keras ----

def keras_models():
    import keras
    from keras import layers
    keras.config.disable_flash_attention()  # whose export fails

    def attention():
        x = keras.Input(ROWS[1:], batch_size=BATCH)
        y = layers.MultiHeadAttention(HEADS, HIDDEN // HEADS)(x, x)
        y = layers.LayerNormalization(epsilon=1e-6)(x + y)
        z = layers.Dense(HIDDEN)(layers.Dense(64, activation="gelu")(y))
        return keras.Model(x, layers.LayerNormalization(epsilon=1e-6)(y + z)), ROWS

    def activations():
        x = y = keras.Input(ROWS[1:], batch_size=BATCH)
        for name in ("gelu", "silu", "hard_silu", "hard_sigmoid", "leaky_relu", "softplus", "mish"):
            y = layers.Dense(HIDDEN, activation=name)(y)
        return keras.Model(x, y), ROWS

    def grouped():
        x = keras.Input(ROWS[1:], batch_size=BATCH)
        return keras.Model(x, layers.GroupQueryAttention(8, HEADS, 2)(x, x, use_causal_mask=True)), ROWS

    def images_():
        x = keras.Input((17, 17, 3), batch_size=1)
        y = layers.Conv2D(8, 3, padding="same")(x)
        y = layers.ReLU(6.0)(layers.BatchNormalization()(y))
        y = layers.DepthwiseConv2D(3, strides=2, padding="same")(y)
        y = layers.GroupNormalization(4)(y)
        y = layers.GlobalAveragePooling2D()(layers.Activation("hard_silu")(y))
        return keras.Model(x, layers.Dense(5, activation="softmax")(y)), (1, 17, 17, 3)

    def recurrent():
        x = keras.Input(ROWS[1:], batch_size=BATCH)
        y = layers.Bidirectional(layers.LSTM(12, return_sequences=True))(x)
        return keras.Model(x, layers.GRU(7)(y)), ROWS

    def export(make, path):
        import numpy as np
        model, shape = make()
        x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        want = keras.ops.convert_to_numpy(model(x))
        model.export(str(path), format="onnx", verbose=False)
        return [x], [want]

    for name, make in dict(attention=attention, activations=activations, grouped=grouped, images=images_,
            recurrent=recurrent).items():
        yield f"keras.{name}", lambda path, make=make: export(make, path)


# ---- JAX ----

def jax_models():
    import jax
    import jax.numpy as jnp
    import jax2onnx
    import numpy as np
    key = jax.random.PRNGKey(0)
    square = jax.random.normal(key, (HIDDEN, HIDDEN)) * 0.2
    row = jax.random.normal(key, (HIDDEN,))

    def chain(f):
        return lambda x: f(x @ square) @ square

    def attend(x, **more):
        q = (x @ square).reshape(BATCH, LENGTH, HEADS, -1)
        return jax.nn.dot_product_attention(q, q, q, **more).reshape(x.shape) @ square

    def layer_norm(x):
        mean = jnp.mean(x, -1, keepdims=True)
        var = jnp.mean(jnp.square(x - mean), -1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(var + 1e-6) * row + row

    def rms_norm(x):
        return x * jax.lax.rsqrt(jnp.mean(jnp.square(x), -1, keepdims=True) + 1e-6) * row

    def softmax_attention(x):
        q = (x @ square).reshape(BATCH, LENGTH, HEADS, -1)
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, q) / np.sqrt(HIDDEN // HEADS)
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), q).reshape(x.shape)

    def flax_block():
        from flax import nnx
        rngs = nnx.Rngs(0)

        class Block(nnx.Module):
            def __init__(self):
                self.norm = nnx.LayerNorm(HIDDEN, rngs=rngs)
                self.attention = nnx.MultiHeadAttention(HEADS, HIDDEN, decode=False, rngs=rngs)
                self.rms = nnx.RMSNorm(HIDDEN, rngs=rngs)
                self.up, self.down = nnx.Linear(HIDDEN, 64, rngs=rngs), nnx.Linear(64, HIDDEN, rngs=rngs)

            def __call__(self, x):
                x = x + self.attention(self.norm(x))
                return x + self.down(nnx.gelu(self.up(self.rms(x))))

        return Block()

    def export(f, path):
        x = np.random.default_rng(0).standard_normal(ROWS).astype(np.float32)
        want = np.asarray(f(x))
        model = jax2onnx.to_onnx(f, [jax.ShapeDtypeStruct(ROWS, jnp.float32)])
        path.write_bytes(model.SerializeToString())
        return [x], [want]

    functions = {
        "gelu": chain(lambda x: jax.nn.gelu(x, approximate=False)), "gelu_tanh": chain(jax.nn.gelu),
        "silu": chain(jax.nn.silu), "hard_swish": chain(jax.nn.hard_swish),
        "leaky_relu": chain(jax.nn.leaky_relu), "layer_norm": chain(layer_norm),
        "rms_norm": chain(rms_norm), "attention": attend,
        "attention_causal": lambda x: attend(x, is_causal=True),
        "attention_written": softmax_attention,
    }
    for name, f in functions.items():
        yield f"jax.{name}", lambda path, f=f: export(f, path)
    yield "jax.flax_block", lambda path: export(flax_block(), path)


# ---- trees and linear models ----

def table(n_classes):
    import numpy as np
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 6)).astype(np.float32)
    y = (x[:, 0] * 2 + x[:, 1] ** 2 > rng.standard_normal(200)).astype(int)
    y = y + (x[:, 2] > 0.5) if n_classes == 3 else y
    return x, y if n_classes else (x[:, 0] * 2 + x[:, 1] ** 2).astype(np.float32)


def sklearn_models():
    from sklearn import (cluster, decomposition, ensemble, gaussian_process, linear_model, naive_bayes,
        neighbors, neural_network, pipeline, preprocessing, svm, tree)
    import skl2onnx

    makers = {
        "logistic": (linear_model.LogisticRegression(), 3),
        "ridge": (linear_model.Ridge(), 0),
        "tree": (tree.DecisionTreeClassifier(max_depth=4), 3),
        "forest": (ensemble.RandomForestClassifier(10, max_depth=4), 2),
        "forest_regressor": (ensemble.RandomForestRegressor(10, max_depth=4), 0),
        "extra_trees": (ensemble.ExtraTreesClassifier(10, max_depth=4), 3),
        "gradient": (ensemble.GradientBoostingClassifier(n_estimators=10), 2),
        "histogram": (ensemble.HistGradientBoostingRegressor(max_iter=10), 0),
        "ada": (ensemble.AdaBoostClassifier(n_estimators=5), 2),
        "svc": (svm.SVC(probability=True), 3),
        "svr": (svm.SVR(), 0),
        "knn": (neighbors.KNeighborsClassifier(3), 3),
        "mlp": (neural_network.MLPClassifier((8,), max_iter=30), 3),
        "bayes": (naive_bayes.GaussianNB(), 3),
        "kmeans": (cluster.KMeans(4, n_init=1, random_state=0), 0),
        "pca": (decomposition.PCA(3), 0),
        "gaussian": (gaussian_process.GaussianProcessRegressor(), 0),
        "pipeline": (pipeline.make_pipeline(preprocessing.StandardScaler(),
            preprocessing.PolynomialFeatures(2), preprocessing.MinMaxScaler(),
            linear_model.LogisticRegression()), 2),
        "normal": (pipeline.make_pipeline(preprocessing.Normalizer(),
            preprocessing.KBinsDiscretizer(4, encode="ordinal"), linear_model.LinearRegression()), 0),
    }

    def export(model, classes, options, path):
        x, y = table(classes)
        model.fit(x, y)
        chosen = {id(model): options} if options else None
        made = skl2onnx.to_onnx(model, x[:1], options=chosen)
        path.write_bytes(made.SerializeToString())
        return [x[:20]], None

    for name, (model, classes) in makers.items():
        yield f"sklearn.{name}", lambda path, m=model, c=classes: export(m, c, None, path)
    yield "sklearn.tree_arrays", lambda path: \
        export(tree.DecisionTreeClassifier(max_depth=4), 3, {"zipmap": False}, path)


def boosted_models(package):
    def build():
        library = importlib.import_module(package)
        import onnxmltools
        from onnxmltools.convert.common.data_types import FloatTensorType
        convert = getattr(onnxmltools, f"convert_{package}")
        prefix = {"lightgbm": "LGBM", "xgboost": "XGB"}[package]

        def export(kind, classes, path):
            x, y = table(classes)
            model = getattr(library, prefix + kind)(n_estimators=8, max_depth=3)
            model.fit(x, y)
            made = convert(model, initial_types=[("x", FloatTensorType([None, 6]))])
            path.write_bytes(made.SerializeToString())
            return [x[:20]], None

        for kind, classes in (("Classifier", 2), ("Classifier", 3), ("Regressor", 0)):
            yield f"{package}.{kind.lower()}{classes or ''}", \
                lambda path, kind=kind, classes=classes: export(kind, classes, path)
    return build


# Package, how names begin, models.
FAMILIES = [("torch", ("script.", "dynamo."), torch_models),
    ("transformers", ("script.", "dynamo."), transformers_models), ("keras", ("keras.",), keras_models),
    ("jax2onnx", ("jax.",), jax_models), ("skl2onnx", ("sklearn.",), sklearn_models),
    ("lightgbm", ("lightgbm.",), boosted_models("lightgbm")),
    ("xgboost", ("xgboost.",), boosted_models("xgboost"))]


# ---- files ----

def same_form(got, want):
    return len(got) == len(want) and all(g.shape == w.shape and g.dtype == w.dtype
        for g, w in zip(got, want))


def write_data(folder, path, given, want):
    """The inputs and outputs of a model as `poprt test` takes them."""
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import numpy_helper
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    inputs = session.get_inputs()
    if not isinstance(given, dict):
        given = dict(zip([i.name for i in inputs], given))
    given = {i.name: given[i.name] for i in inputs}
    got = session.run(None, given)
    model = onnx.load(str(path), load_external_data=False)
    data = folder / "test_data_set_0"
    data.mkdir(exist_ok=True)
    order = [i.name for i in model.graph.input if i.name in given]
    for i, name in enumerate(order):
        (data / f"input_{i}.pb").write_bytes(numpy_helper.from_array(given[name], name).SerializeToString())
    outputs = want if want is not None and same_form(got, want) else got
    for i, (value, output) in enumerate(zip(outputs, model.graph.output)):
        if output.type.WhichOneof("value") == "tensor_type":
            made = numpy_helper.from_array(np.asarray(value), output.name)
            (data / f"output_{i}.pb").write_bytes(made.SerializeToString())
        # Sequences of maps, the probabilities of classifiers, have no file of this form.


def versions():
    lines = []
    for package in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            lines.append(f"{package} {importlib.metadata.version(package)}")
    return lines


@contextlib.contextmanager
def silence():
    """Nothing that an exporter prints is shown, from C++ neither."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for i, fd in enumerate(kept):
            os.dup2(fd, i + 1)
            os.close(fd)
        os.close(nowhere)


def make(name, export, out):
    """Whether the model could be exported; says why not."""
    folder = out / name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "model.onnx"
    try:
        with silence():
            with contextlib.suppress(ImportError):
                import torch
                torch.manual_seed(0)
            given, want = export(path)
            write_data(folder, path, given, want)
        return True
    except Exception as error:  # of an exporter: the next model may do better
        why = " ".join(traceback.format_exception_only(error)[-1].split())[:200]
        print(f"{name}: not exported: {why}")
        path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            folder.rmdir()
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="", help="models whose names begin so")
    parser.add_argument("--list", action="store_true", help="print the names alone")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    made = tried = 0
    for package, prefixes, models in FAMILIES:
        if not any(p.startswith(args.only) or args.only.startswith(p) for p in prefixes):
            continue
        try:
            importlib.import_module(package)
            found = list(models())
        except ImportError as error:
            print(f"{package}: skipped, {error}")
            continue
        for name, export in found:
            if not name.startswith(args.only):
                continue
            if args.list:
                print(name)
                continue
            tried += 1
            made += make(name, export, args.out)
    if not args.list:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "versions.txt").write_text("\n".join(versions()) + "\n")
        print(f"{made} of {tried} models exported, with " + ", ".join(versions()))
    return 0 if made or args.list else 1


if __name__ == "__main__":
    sys.exit(main())
