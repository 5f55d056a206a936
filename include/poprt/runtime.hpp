/* SPDX-License-Identifier: MIT */
/*
 * poprt/runtime.hpp — the class names of PopRT's C++ interface, on poprt/poprt.hpp: poprt::compiler
 * and poprt::runtime.
 *
 *     auto exec = poprt::compiler::Compiler::compile("model.onnx", { "logits" });
 *     poprt::runtime::ModelRunner runner(exec);
 *     poprt::runtime::InputMemoryView in{ { "image", { pixels, sizeof(pixels) } } };
 *     poprt::runtime::OutputMemoryView out{ { "logits", { scores, sizeof(scores) } } };
 *     runner.execute(in, out);
 *
 * Options of IPUs that are not listed here are absent, so that a program that sets them does not
 * compile. The layout of the classes is not PopRT's: programs are compiled anew. Failures throw
 * poprt::Error.
 */
#ifndef POPRT_RUNTIME_HPP
#define POPRT_RUNTIME_HPP

#include "poprt/poprt.hpp"

#include <algorithm>
#include <fstream>
#include <future>
#include <map>
#include <ostream>
#include <thread>
#include <unordered_map>

namespace poprt {
namespace compiler {

/* Options of Compiler, with PopRT's names and defaults. Values other than the default are set by
 * poprt_config_set, which accepts the values that `poprt options --names` lists, and logs values
 * that have no effect on a CPU. */
struct CompilerOptions {
    int64_t numIpus = 1;    /* one device stands for all */
    std::string ipuVersion; /* "ipu2", "ipu21" or "" */
    int64_t batchesPerStep = 1;
    std::string partialsType = "half"; /* sums are float32 or wider in any case */
    bool enablePrefetchDatastreams = true;
    unsigned streamBufferingDepth = 1;
    bool enableEngineCaching = false;
    std::string cachePath; /* folder for enableEngineCaching; it must exist */
    bool constantWeights = true;
    std::string virtualGraphMode = "off";
    /* Options of libpoprt by key, such as "dim.batch" or "enable_patterns". */
    std::map<std::string, std::string> options;

    poprt::Config config() const
    {
        const CompilerOptions defaults;
        poprt::Config c;
        const auto set = [&c](const char *key, const auto &value, const auto &initial) {
            if (value != initial)
                c.set(key, value);
        };
        set("num_ipus", numIpus, defaults.numIpus);
        set("ipu_version", ipuVersion, defaults.ipuVersion);
        set("batches_per_step", batchesPerStep, defaults.batchesPerStep);
        set("partials_type", partialsType, defaults.partialsType);
        set("enable_prefetch_datastreams", enablePrefetchDatastreams,
            defaults.enablePrefetchDatastreams);
        set("stream_buffering_depth", streamBufferingDepth, defaults.streamBufferingDepth);
        set("enable_engine_caching", enableEngineCaching, defaults.enableEngineCaching);
        set("cache_path", cachePath, defaults.cachePath);
        set("constant_weights", constantWeights, defaults.constantWeights);
        set("virtual_graph_mode", virtualGraphMode, defaults.virtualGraphMode);
        for (const auto &[key, value] : options)
            c.set(key, value);
        return c;
    }
};

/* A compiled model; movable. */
class Executable {
  public:
    /* Opens a PopEF file. */
    explicit Executable(const std::string &path) : exec_(poprt::Executable::load_file(path))
    {
    }
    explicit Executable(poprt::Executable exec) : exec_(std::move(exec))
    {
    }

    const poprt::Executable &get() const noexcept
    {
        return exec_;
    }

  private:
    poprt::Executable exec_;
};

/* Compiles ONNX models. */
class Compiler {
  public:
    /* `model` is the name of an existing file, or else the bytes of a model. `outputs` are the
     * tensors to return; empty: the outputs of the model. */
    static std::shared_ptr<Executable> compile(const std::string &model,
        const std::vector<std::string> &outputs, const CompilerOptions &options = {})
    {
        poprt::Model m = std::ifstream(model).good() ? poprt::Model::load_file(model)
                                                     : poprt::Model::load_bytes(model);
        if (!outputs.empty())
            select(m, outputs);
        const poprt::Config config = options.config();
        return std::make_shared<Executable>(poprt::Executable::compile(m, &config));
    }
    /* Compiles, and writes PopEF to a file or a stream. */
    static void compileAndExport(const std::string &model, const std::vector<std::string> &outputs,
        const std::string &fileName, const CompilerOptions &options = {})
    {
        compile(model, outputs, options)->get().save_file(fileName);
    }
    static void compileAndExport(const std::string &model, const std::vector<std::string> &outputs,
        std::ostream &out, const CompilerOptions &options = {})
    {
        const std::string bytes = compile(model, outputs, options)->get().save();
        if (!out.write(bytes.data(), static_cast<std::streamsize>(bytes.size())))
            throw Error(POPRT_E_IO, "write", "", "", "the stream cannot be written");
    }
    /* Compiles, and returns a text about the executable: inputs, outputs, operators, memory. */
    static std::string compileAndGetSummaryReport(const std::string &model,
        const std::vector<std::string> &outputs, const CompilerOptions &options = {})
    {
        return compile(model, outputs, options)->get().describe();
    }

  private:
    /* Makes tensors the outputs of a model, by the passes add_checkpoints and remove_outputs. */
    static void select(poprt::Model &model, const std::vector<std::string> &outputs)
    {
        std::string added, removed;
        const std::vector<Info> own = model.outputs();
        for (const std::string &name : outputs)
            if (std::none_of(own.begin(), own.end(), [&](const Info &i) { return i.name == name; }))
                added += (added.empty() ? "" : ",") + name;
        for (const Info &i : own)
            if (std::find(outputs.begin(), outputs.end(), i.name) == outputs.end())
                removed += (removed.empty() ? "" : ",") + i.name;
        poprt::PassManager passes;
        if (!added.empty())
            passes.add("add_checkpoints", { { "checkpoints", added } }).run(model);
        poprt::PassManager later;
        if (!removed.empty())
            later.add("remove_outputs", { { "outputs", removed } }).run(model);
    }
};

} // namespace compiler

namespace runtime {

/* A tensor of a runner. */
struct DataDesc {
    std::string name;
    int64_t sizeInBytes;
    std::vector<int64_t> shape;
    int32_t dataType;             /* POPRT_DTYPE_* */
    bool popefContainsTensorData; /* a weight */
};
using InputDesc = DataDesc;
using OutputDesc = DataDesc;

struct TensorMemoryView {
    void *data;
    uint64_t dataSizeBytes;
};
struct ConstTensorMemoryView {
    const void *data;
    uint64_t dataSizeBytes;
    ConstTensorMemoryView(const void *memory, uint64_t size) : data(memory), dataSizeBytes(size)
    {
    }
    ConstTensorMemoryView(const TensorMemoryView &view)
        : data(view.data), dataSizeBytes(view.dataSizeBytes)
    {
    }
};
/* Memory of a tensor; its copies share it. It begins with zeros. */
struct TensorMemory {
    std::shared_ptr<char[]> data;
    uint64_t dataSizeBytes;
    explicit TensorMemory(uint64_t size) : data(new char[size]()), dataSizeBytes(size)
    {
    }
    TensorMemoryView getView() const
    {
        return { data.get(), dataSizeBytes };
    }
    ConstTensorMemoryView getConstView() const
    {
        return getView();
    }
};
using InputMemoryView = std::unordered_map<std::string, ConstTensorMemoryView>;
using OutputMemoryView = std::unordered_map<std::string, TensorMemoryView>;
using OutputFutureMemoryView =
    std::unordered_map<std::string, std::shared_future<TensorMemoryView>>;

/* A device: this processor. */
class Device {
  public:
    explicit Device(unsigned number = 0) : id(number)
    {
    }
    /* Returns "ipu21", which programs copy into CompilerOptions::ipuVersion. */
    std::string ipuVersion() const
    {
        return "ipu21";
    }
    unsigned id;
};

/* Lists devices: one for each hardware thread. */
class DeviceManager {
  public:
    size_t getNumDevices() const
    {
        return std::max(1u, std::thread::hardware_concurrency());
    }
    /* A device that stands for `numIpus` IPUs. Throws POPRT_E_ARG below 1. */
    Device getDevice(int64_t numIpus = 1) const
    {
        if (numIpus < 1)
            throw Error(POPRT_E_ARG, "device", "", std::to_string(numIpus),
                "the number of IPUs is 1 or more");
        return Device();
    }
    /* Throws POPRT_E_NOT_FOUND if there is no device of this number. */
    Device getSpecificDevice(int64_t id) const
    {
        if (id < 0 || static_cast<size_t>(id) >= getNumDevices())
            throw Error(POPRT_E_NOT_FOUND, "device", "", std::to_string(id),
                "there is no such device; there are " + std::to_string(getNumDevices()));
        return Device(static_cast<unsigned>(id));
    }
    std::string ipuHardwareVersion() const
    {
        return "ipu21";
    }
};

using ReplicaIdToDevice = std::map<unsigned, Device>;

/* Options of a ModelRunner or ModelFusionRunner, with PopRT's names and defaults. */
struct RuntimeConfig {
    bool threadSafe = true;
    int64_t timeoutNS = 10'000'000;
    bool validateIOParams = true;
    uint32_t batchingDim = 0xFFFFFFFF; /* off */
    bool checkPackageHash = true;
    int64_t ringBufferSizeMultiplier = 2;
    bool autoReset = false;
    bool flushOnWaitingOutputs = false;
    int64_t batchSizeTimeoutNS = INT64_MAX;
    bool isBatchSizeTimeoutEnabled = false;
    /* Options of libpoprt by key, such as "dim.batch". */
    std::map<std::string, std::string> options;

    poprt::Config config() const
    {
        poprt::Config c;
        c.set("thread_safe", threadSafe).set("timeout_ns", timeoutNS);
        c.set("validate_io_params", validateIOParams).set("batching_dim", batchingDim);
        c.set("check_package_hash", checkPackageHash);
        c.set("ring_buffer_size_multiplier", ringBufferSizeMultiplier);
        c.set("auto_reset", autoReset).set("flush_on_waiting_outputs", flushOnWaitingOutputs);
        c.set("batch_size_timeout_ns", batchSizeTimeoutNS);
        c.set("is_batch_size_timeout_enabled", isBatchSizeTimeoutEnabled);
        for (const auto &[key, value] : options)
            c.set(key, value);
        return c;
    }
};

/* Options of a LightRunner. The replicas of one device take turns. */
struct LightRunnerConfig : RuntimeConfig {
    ReplicaIdToDevice replicaIdToDevice;

    poprt::Config config() const
    {
        poprt::Config c = RuntimeConfig::config();
        c.set("runner_type", "light");
        std::string json;
        for (const auto &[replica, device] : replicaIdToDevice)
            json += (json.empty() ? "{\"" : ",\"") + std::to_string(replica) +
                "\":" + std::to_string(device.id);
        if (!json.empty())
            c.set("replica_to_device", json + "}");
        return c;
    }
};

/* Row of a sample in single-row mode: the last one begun or the next one, or the first one in which
 * the sample fits. */
enum class PackAlgorithm { NextFit, FirstFit };

/* Options of a PackRunner, with PopRT's names and defaults. Without a mode, samples follow each
 * other across the ends of rows. */
struct PackRunnerConfig {
    int64_t timeoutInMicroSeconds = 0; /* age at which a pack runs; must be set */
    int64_t maxValidNum = 0;           /* most samples of a pack; 0: as the executable says */
    std::string dynamicInputName;      /* its length is that of the sample; "": found */
    std::string unpackInfoInputName;   /* "": found */
    int64_t compileBatchSize = -1;     /* rows, where the executable does not say it */
    std::string maskName;
    std::vector<std::string> dynamicGroup;
    PackAlgorithm algo = PackAlgorithm::NextFit;
    bool disableDataAcrossRows = false;
    bool enablePaddingRemove = false;
    int64_t delimiterNum = 0;
    /* Options of libpoprt by key, such as "dim.batch". */
    std::map<std::string, std::string> options;

    PackRunnerConfig() = default;
    explicit PackRunnerConfig(int64_t timeout, int64_t maxValid = 0, std::string dynamicInput = {},
        std::string unpackInfo = {})
        : timeoutInMicroSeconds(timeout), maxValidNum(maxValid),
          dynamicInputName(std::move(dynamicInput)), unpackInfoInputName(std::move(unpackInfo))
    {
    }
    /* Keeps each sample in one row, with `delimiters` zeros between two samples. The input `mask`
     * gets the numbers of the samples. */
    void enableSingleRowMode(std::string mask, std::string unpackInfo = {}, int64_t delimiters = 0)
    {
        disableDataAcrossRows = true;
        maskName = std::move(mask);
        unpackInfoInputName = std::move(unpackInfo);
        delimiterNum = delimiters;
    }
    /* Removes the padding of the inputs `group`: it begins behind the last element of `mask` that
     * is not 0. */
    void enablePaddingRemovePattern(std::string mask, std::vector<std::string> group)
    {
        enablePaddingRemove = true;
        maskName = std::move(mask);
        dynamicGroup = std::move(group);
    }

    poprt::Config config() const
    {
        poprt::Config c;
        c.set("runner_type", "pack").set("timeout_microseconds", timeoutInMicroSeconds);
        if (maxValidNum != 0)
            c.set("max_valid_num", maxValidNum);
        if (compileBatchSize != -1)
            c.set("compile_batch_size", compileBatchSize);
        std::string group;
        for (const std::string &name : dynamicGroup)
            group += (group.empty() ? "" : ",") + name;
        c.set("dynamic_input_name", dynamicInputName).set("mask_name", maskName);
        c.set("unpack_info_input_name", unpackInfoInputName).set("dynamic_group", group);
        c.set("pack_algorithm", algo == PackAlgorithm::NextFit ? "next_fit" : "first_fit");
        c.set("disable_data_across_rows", disableDataAcrossRows);
        c.set("enable_padding_remove", enablePaddingRemove).set("delimiter_num", delimiterNum);
        for (const auto &[key, value] : options)
            c.set(key, value);
        return c;
    }
};

/* Base of the runners. A runner must outlive pending requests, and their memory must stay valid
 * until the future is ready. */
class BaseRunner {
  public:
    /* Runs a request, and writes the outputs into the caller's memory. */
    void execute(const InputMemoryView &in, const OutputMemoryView &out)
    {
        runner_.execute(tensors(in), tensors(out));
    }
    /* Queues a request. The futures become ready together; if it fails, each of them throws. */
    OutputFutureMemoryView executeAsync(const InputMemoryView &in, const OutputMemoryView &out)
    {
        using Pending = std::vector<std::pair<std::promise<TensorMemoryView>, TensorMemoryView>>;
        const auto pending = std::make_shared<Pending>();
        OutputFutureMemoryView futures;
        for (const auto &[name, view] : out) {
            pending->emplace_back(std::promise<TensorMemoryView>(), view);
            futures.emplace(name, pending->back().first.get_future().share());
        }
        (void)runner_.submit(tensors(in), tensors(out), [pending](const Error *error) {
            for (auto &[promise, view] : *pending)
                if (error != nullptr)
                    promise.set_exception(std::make_exception_ptr(*error));
                else
                    promise.set_value(view);
        });
        return futures;
    }
    /* Descriptions of the tensors of requests, and of the executable's. */
    std::vector<DataDesc> getExecuteInputs() const
    {
        return list(POPRT_INPUT, false);
    }
    std::vector<DataDesc> getExecuteOutputs() const
    {
        return list(POPRT_OUTPUT, false);
    }
    std::vector<DataDesc> getModelInputs() const
    {
        return list(POPRT_INPUT, true);
    }
    std::vector<DataDesc> getModelOutputs() const
    {
        return list(POPRT_OUTPUT, true);
    }
    poprt::Runner &get() noexcept
    {
        return runner_;
    }

  protected:
    explicit BaseRunner(poprt::Runner runner) : runner_(std::move(runner))
    {
        for (const int32_t direction : { POPRT_INPUT, POPRT_OUTPUT })
            for (const DataDesc &desc : list(direction, false))
                dtypes_[desc.name] = desc.dataType;
    }

  private:
    std::vector<DataDesc> list(int32_t direction, bool of_executable) const
    {
        std::vector<DataDesc> descs;
        for (const RunnerInfo &i : runner_.tensors(direction,
                 of_executable ? POPRT_RUNNER_EXECUTABLE : POPRT_RUNNER_EXECUTE))
            descs.push_back({ i.name, static_cast<int64_t>(i.bytes), i.dims, i.dtype, i.has_data });
        return descs;
    }
    /* Views have neither shapes nor element types: their sizes decide, and the model. */
    template <typename Views> std::vector<NamedTensor> tensors(const Views &views) const
    {
        std::vector<NamedTensor> named;
        for (const auto &[name, view] : views) {
            const auto found = dtypes_.find(name);
            named.push_back({ name,
                Tensor(view.data, static_cast<size_t>(view.dataSizeBytes),
                    found == dtypes_.end() ? POPRT_DTYPE_UINT8 : found->second, {}) });
        }
        return named;
    }

    poprt::Runner runner_;
    std::unordered_map<std::string, int32_t> dtypes_;
};

/* A runner of a model, or of fused models (also under the name ModelFusionRunner). */
class ModelRunner : public BaseRunner {
  public:
    explicit ModelRunner(const compiler::Executable &exec, const RuntimeConfig &config = {})
        : ModelRunner(exec, config.config())
    {
    }
    explicit ModelRunner(const std::shared_ptr<compiler::Executable> &exec,
        const RuntimeConfig &config = {})
        : ModelRunner(*exec, config)
    {
    }
    /* Opens a PopEF file. */
    explicit ModelRunner(const std::string &path, const RuntimeConfig &config = {})
        : ModelRunner(compiler::Executable(path), config)
    {
    }

  private:
    ModelRunner(const compiler::Executable &exec, const poprt::Config &config)
        : BaseRunner(poprt::Runner(exec.get(), &config))
    {
    }
};
using ModelFusionRunner = ModelRunner;

/* A runner that packs samples of different lengths into the rows of a batch. */
class PackRunner : public BaseRunner {
  public:
    PackRunner(const compiler::Executable &exec, const PackRunnerConfig &config)
        : PackRunner(exec, config.config())
    {
    }
    /* Opens a PopEF file. */
    PackRunner(const std::string &path, const PackRunnerConfig &config)
        : PackRunner(compiler::Executable(path), config)
    {
    }

  private:
    PackRunner(const compiler::Executable &exec, const poprt::Config &config)
        : BaseRunner(poprt::Runner(exec.get(), &config))
    {
    }
};

/* A runner without a queue: the calling thread runs the request. */
class LightRunner : public BaseRunner {
  public:
    explicit LightRunner(const compiler::Executable &exec, const LightRunnerConfig &config = {})
        : LightRunner(exec, config.config())
    {
    }
    /* Stages a weight (poprt_runner_set_weight); updateWeights makes all staged ones current. */
    void setInputAnchor(const std::string &name, const ConstTensorMemoryView &view)
    {
        for (const DataDesc &desc : getModelInputs())
            if (desc.name == name)
                return get().set_weight(name,
                    Tensor(view.data, static_cast<size_t>(view.dataSizeBytes), desc.dataType,
                        desc.shape));
        throw Error(POPRT_E_NOT_FOUND, "run", "", name, "there is no weight of this name");
    }
    void updateWeights()
    {
        get().update_weights();
    }
    void stop()
    {
        get().stop();
    }
    void reload()
    {
        get().reload();
    }

  private:
    LightRunner(const compiler::Executable &exec, const poprt::Config &config)
        : BaseRunner(poprt::Runner(exec.get(), &config))
    {
    }
};

} // namespace runtime
} // namespace poprt
#endif
