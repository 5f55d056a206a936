# SPDX-License-Identifier: MIT
"""PopRT's compiler: options with its names, and executables."""

import difflib
import logging
import os
import sys

from . import _core, _env, _source
from . import config as _config
from .errors import InvalidArgument, NotFound
from .model import Executable, Model

__all__ = ["Compiler", "CompilerOptions", "Executable"]

# Name, default, and key of the library: None where Compiler itself reads the option, "" where it
# has no effect on a CPU.
_OPTIONS = {row[0]: row for row in (
    ("num_ipus", 1, "num_ipus"),
    ("ipu_version", "", "ipu_version"),
    ("batches_per_step", 1, ""),
    ("partials_type", "half", "partials_type"),
    ("available_memory_proportion", 0.6, None),
    ("num_io_tiles", 0, ""),
    ("enable_model_fusion", False, "enable_model_fusion"),
    ("enable_prefetch_datastreams", True, "enable_prefetch_datastreams"),
    ("stream_buffering_depth", 1, "stream_buffering_depth"),
    ("enable_pad_conv_channel", False, "enable_pad_conv_channel"),
    ("serialize_ir", False, None),
    ("serialized_ir_dest", "", None),
    ("enable_gather_simplifier", True, "enable_gather_simplifier"),
    ("engine_options", {}, ""),
    ("show_compilation_progress_bar", True, None),
    ("compilation_progress_logger", None, None),
    ("custom_patterns", [], None),
    ("custom_transform_applier_settings", {}, ""),
    ("opaque_blobs", {}, None),
    ("use_128bit_conv_unit_load", False, "use_128bit_conv_unit_load"),
    ("enable_multi_stage_reduce", True, "enable_multi_stage_reduce"),
    ("enable_fast_reduce", False, "enable_fast_reduce"),
    ("enable_outlining", True, "enable_outlining"),
    ("outline_threshold", 1.0, "outline_threshold"),
    ("group_host_sync", False, "group_host_sync"),
    ("rearrange_streams_on_host", False, "rearrange_streams_on_host"),
    ("rearrange_anchors_on_host", True, "rearrange_anchors_on_host"),
    ("enable_non_stable_softmax", False, "enable_non_stable_softmax"),
    ("enable_pipelining", False, "enable_pipelining"),
    ("enable_engine_caching", False, "enable_engine_caching"),
    ("cache_path", "", "cache_path"),
    ("constant_weights", True, "constant_weights"),
    ("subgraph_copying_strategy", 0, "subgraph_copying_strategy"),
    ("virtual_graph_mode", "off", "virtual_graph_mode"),
    ("virtual_graph_split_ratios", [], "virtual_graph_split_ratios"),
    ("time_limit_scheduler", 1e9, "time_limit_scheduler"),
    ("swap_limit_scheduler", 10**9, "swap_limit_scheduler"),
    ("transitive_closure_optimization_threshold", 100000,
     "transitive_closure_optimization_threshold"),
    ("create_host_transferable_tensor_with_offset", False,
     "create_host_transferable_tensor_with_offset"),
    ("enable_efficient_overlap_io_topo_cons", False, "enable_efficient_overlap_io_topo_cons"),
)}

_CHECK_POINTS = ("Fwd0", "Fwd1", "Bwd0", "Prealias", "MainLoops", "Final")
_noted = set()


def _accepts(default, value):
    """Tells whether a value has the type of a default."""
    if isinstance(default, bool):
        return isinstance(value, (bool, int)) and value in (0, 1)
    if isinstance(default, int):
        return isinstance(value, int) and not isinstance(value, bool) \
            or hasattr(value, "__index__") and not isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if isinstance(default, list):
        return isinstance(value, (list, tuple))
    return isinstance(value, type(default))


class CompilerOptions:
    """Options of ``Compiler.compile``, with the names and defaults of PopRT. A name that does not
    exist raises AttributeError, a value of another type TypeError."""

    __slots__ = ("_values",)

    def __init__(self):
        object.__setattr__(self, "_values", {
            name: type(row[1])(row[1]) if isinstance(row[1], (list, dict)) else row[1]
            for name, row in _OPTIONS.items()})

    def __getattr__(self, name):
        if name.startswith("__") or name == "_values":
            raise AttributeError(name)
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(_no_option(name)) from None

    def __setattr__(self, name, value):
        if name not in _OPTIONS:
            raise AttributeError(_no_option(name))
        default = _OPTIONS[name][1]
        if name == "compilation_progress_logger":
            if value is not None and not callable(value):
                raise TypeError("compilation_progress_logger is a function (value, max), or None")
        elif not _accepts(default, value):
            raise TypeError(f"{name} is of type {type(default).__name__}, not "
                            f"{type(value).__name__}")
        elif isinstance(default, (bool, int, float, list)):
            value = type(default)(value)
        self._values[name] = value

    def __dir__(self):
        return sorted(set(object.__dir__(self)) | set(_OPTIONS))

    def __repr__(self):
        changed = {name: value for name, value in self._values.items()
                   if value != _OPTIONS[name][1]}
        return f"CompilerOptions({changed})"

    def __eq__(self, other):
        return isinstance(other, CompilerOptions) and self._values == other._values

    __hash__ = None

    def __getstate__(self):
        return dict(self._values)

    def __setstate__(self, state):
        self.__init__()
        for name, value in state.items():
            setattr(self, name, value)

    def to_dict(self):
        """Returns a dict of all options."""
        return dict(self._values)

    @classmethod
    def from_dict(cls, options):
        """Makes options of a dict. A name that does not exist raises ValueError."""
        made = cls()
        for name, value in options.items():
            try:
                setattr(made, name, value)
            except AttributeError as error:
                raise ValueError(str(error)) from None
        return made

    def _note(self):
        """Logs once for each option that it has no effect."""
        for point in self.custom_transform_applier_settings:
            if point not in _CHECK_POINTS:
                raise InvalidArgument("POPRT_E_ARG", "compile", "", str(point),
                                      "no check point of custom_transform_applier_settings; "
                                      "accepted: " + ", ".join(_CHECK_POINTS))
        for name, (_, default, key) in _OPTIONS.items():
            if key == "" and self._values[name] != default and name not in _noted:
                _noted.add(name)
                logging.getLogger("poprt").info("CompilerOptions.%s has no effect on a CPU", name)

    def _config(self):
        """Options for the library."""
        config = _config.Config()
        for name, (_, default, key) in _OPTIONS.items():
            if key and self._values[name] != default:
                config[key] = self._values[name]
        return config


def _no_option(name):
    near = difflib.get_close_matches(str(name), _OPTIONS, 3, 0.4)
    text = f"no option of the compiler: {name!r}"
    return text + (f"; nearest: {', '.join(near)}" if near else "")


def _is_true(text):
    return text in ("True", "true", "1")


def _patterns(list_, config, core, env):
    """Applies custom_patterns: "NAME", "NAME:1" or "NAME:0", of patterns of PopART and passes."""
    from .passes import base_pass, pass_manager
    patterns = {row[0] for row in _core.patterns()} | {"PadConvChannel"}
    enabled, disabled, left_out = [], [], []
    for item in list_:
        name, colon, switch = str(item).strip().partition(":")
        on = not colon or _is_true(switch)
        if name in patterns:
            if name != "PadConvChannel":
                (enabled if on else disabled).append(name)
        elif name in base_pass.get_registered_passes():
            if on:
                pass_manager.PassManager([name]).run(Model(core, env))
            else:
                left_out.append(name)
        else:
            near = difflib.get_close_matches(name, patterns, 3, 0.4)
            raise NotFound("POPRT_E_NOT_FOUND", "compile", "", name,
                           "custom_patterns: there is neither a pass nor a pattern of this name; "
                           "nearest patterns: " + ", ".join(near or ["none"]))
    config["enable_patterns"] = enabled or None
    config["disable_patterns"] = disabled or None
    config["disable_passes"] = left_out or None


def _select_outputs(core, env, outputs):
    """Makes the named tensors the outputs of a model."""
    if outputs is None:
        return
    wanted = [outputs] if isinstance(outputs, str) else list(outputs)
    if not wanted:
        raise ValueError("outputs is empty; accepted: names of tensors, or None for all outputs")
    own = [row[0] for row in core.io(1)]
    inner = [name for name in wanted if name not in own]
    extra = [name for name in own if name not in wanted]
    for name, key, names in (("add_checkpoints", "checkpoints", inner),
                             ("remove_outputs", "outputs", extra)):
        if names:
            manager = _core.PassManager(env)
            manager.add(name, [(key, ",".join(names))])
            manager.run(core)


def _progress(options):
    """Returns (function of progress, its end)."""
    from .converter import _Bar
    logger = options.compilation_progress_logger
    if logger is not None:
        return lambda stage, done, total: bool(logger(int(done), int(total)) and False), None
    if options.show_compilation_progress_bar and sys.stderr.isatty():
        bar = _Bar("Graph compilation", 100)
        return bar, bar.close
    return None, None


def _compile(model, outputs, options):
    options = CompilerOptions() if options is None else options
    if isinstance(options, dict):
        options = CompilerOptions.from_dict(options)
    if not isinstance(options, CompilerOptions):
        raise TypeError(f"options are CompilerOptions, not a {type(options).__name__}")
    options._note()
    if isinstance(model, str) and not (os.path.exists(model) or os.path.exists(model + ".index")):
        raise FileNotFoundError(2, "no such model file", model)
    progress, end = _progress(options)
    env = _env.environment(0, progress=progress)  # runs use all processors
    core = _source.load_model(env, model._core.to_bytes() if isinstance(model, Model) else model)
    _select_outputs(core, env, outputs)
    config = options._config()
    if options.available_memory_proportion != 0.6:
        manager = _core.PassManager(env)
        manager.add("available_memory_proportion",
                    [("proportion", str(options.available_memory_proportion))])
        manager.run(core)
    _patterns(options.custom_patterns, config, core, env)
    if options.serialize_ir:
        if not options.serialized_ir_dest:
            raise ValueError("serialize_ir needs a file to write: serialized_ir_dest")
        with open(options.serialized_ir_dest, "w", encoding="utf-8") as file:
            file.write(core.describe(6))
    if options.enable_engine_caching and options.cache_path:
        os.makedirs(options.cache_path, exist_ok=True)
    try:
        compiled = _core.Executable.compile(core, None, config.handle(env))
    finally:
        if end is not None:
            end()
    executable = Executable(compiled, env)
    if options.opaque_blobs:
        executable.append_opaque_blobs(options.opaque_blobs)
    return executable


class Compiler:
    """Compiles models: a path or bytes of ONNX, TensorFlow or TFLite, or an onnx.ModelProto."""

    @staticmethod
    def compile(model, outputs=None, options=None):
        """Returns an Executable. ``outputs`` lists the tensors that become its outputs; None: the
        outputs of the model."""
        return _compile(model, outputs, options)

    @staticmethod
    def compile_and_export(model, outputs, filename, options=None):
        """Compiles a model and writes PopEF. Returns the Executable. ``filename`` may be an object
        with ``write``; None writes executable.popef."""
        executable = _compile(model, outputs, options)
        if hasattr(filename, "write"):
            filename.write(executable.to_bytes())
        else:
            executable.save("executable.popef" if filename is None else filename)
        return executable

    compileAndExport = compile_and_export

    @staticmethod
    def compile_and_get_summary_report(model, outputs, options=None, reset_profile=True):
        """Compiles a model, and returns a text about the executable: inputs, outputs, operators and
        memory. With ``reset_profile`` False the steps follow; a new executable has no times yet."""
        executable = _compile(model, outputs, options)
        report = executable.describe("summary")
        return report if reset_profile else report + "\n" + executable.describe("steps")

    compileAndGetSummaryReport = compile_and_get_summary_report
