/* SPDX-License-Identifier: MIT */
/*
 * test_runners.cpp FOLDER WORK — poprt/runner.hpp, and the names of PopRT's C++ interface in
 * poprt/runtime.hpp. FOLDER is that of the digits model.
 */
#include "digits.hpp"
#include "poprt/runtime.hpp"

namespace {

std::string folder, work;

void a_runner_serves_requests()
{
    Images images = read_images(folder);
    std::array<float, count * 10> scores{};
    poprt::Config config;
    config.set("dim.batch", 2).set("batching_dim", 0);
    poprt::Runner runner(poprt::Executable::compile(
                             poprt::Model::load_file(folder + "/model.onnx")),
        &config);
    CHECK(runner.kind() == POPRT_RUNNER_MODEL);
    CHECK(runner.tensors(POPRT_INPUT)[0].open_dim == 0);
    runner.execute({ { "image", poprt::Tensor(images, {}) } },
        { { "logits", poprt::Tensor(scores, {}) } });
    for (size_t i = 0; i < count; i++)
        CHECK(digit(&scores[10 * i]) == static_cast<long>(2 + i));

    scores.fill(0);
    int calls = 0;
    poprt::Request request = runner.submit({ { "image", poprt::Tensor(images, { 4, 1, 8, 8 }) } },
        { { "logits", poprt::Tensor(scores, { 4, 10 }) } },
        [&](const poprt::Error *error) { calls += error == nullptr; });
    CHECK(request.wait());
    request.result();
    CHECK(calls == 1 && digit(&scores[30]) == 5);
    CHECK(runner.stats().finished == 2);

    /* Half a batch waits for another one, or until the runner is drained or cancelled. */
    config.set("timeout_ns", 0);
    poprt::Runner patient(poprt::Executable::compile(
                              poprt::Model::load_file(folder + "/model.onnx")),
        &config);
    const std::vector<poprt::NamedTensor> half{ { "image",
        poprt::Tensor(images.data(), 256, POPRT_DTYPE_FLOAT32, {}) } };
    const std::vector<poprt::NamedTensor> half_out{ { "logits",
        poprt::Tensor(scores.data(), 40, POPRT_DTYPE_FLOAT32, {}) } };
    poprt::Request drained = patient.submit(half, half_out);
    CHECK(!drained.wait(1000000));
    CHECK(thrown([&] { drained.result(); }).status() == POPRT_E_STATE);
    patient.drain();
    CHECK(drained.wait(0));
    poprt::Request cancelled = patient.submit(half, half_out);
    cancelled.cancel();
    poprt::Request also = patient.submit(half, half_out);
    patient.cancel();
    CHECK(cancelled.wait() && also.wait());
    CHECK(thrown([&] { cancelled.result(); }).status() == POPRT_E_CANCELLED);
    CHECK(thrown([&] { also.result(); }).status() == POPRT_E_CANCELLED);

    CHECK(thrown([&] {
        runner.execute({ { "picture", poprt::Tensor(images, {}) } }, {});
    }).status() == POPRT_E_NOT_FOUND);
    const std::array<double, count * 64> wide{};
    CHECK(thrown([&] {
        (void)runner.submit({ { "image", poprt::Tensor(wide, {}) } },
            { { "logits", poprt::Tensor(scores, {}) } }, [&](const poprt::Error *) { calls++; });
    }).status() == POPRT_E_TYPE);
    runner.stop();
    CHECK(thrown([&] {
        runner.execute({ { "image", poprt::Tensor(images, {}) } },
            { { "logits", poprt::Tensor(scores, {}) } });
    }).status() == POPRT_E_STATE);
    CHECK(calls == 1);
}

/* PopRT's names: compile to a file, run it, and read every digit. */
void programs_for_poprt_run()
{
    using namespace poprt::runtime;
    const Images images = read_images(folder);
    const std::string file = work + "/runners.popef";
    poprt::compiler::CompilerOptions options;
    options.numIpus = 1;
    options.ipuVersion = DeviceManager().ipuHardwareVersion();
    options.batchesPerStep = 2;
    options.options["dim.batch"] = "2";
    poprt::compiler::Compiler::compileAndExport(folder + "/model.onnx", { "logits" }, file,
        options);

    RuntimeConfig config;
    config.batchingDim = 0;
    config.timeoutNS = 300'000;
    config.options["dim.batch"] = "2";
    ModelRunner runner(file, config);
    const std::vector<DataDesc> inputs = runner.getExecuteInputs();
    CHECK(inputs.size() == 1 && inputs[0].name == "image" && inputs[0].sizeInBytes == 512);
    CHECK((inputs[0].shape == std::vector<int64_t>{ 2, 1, 8, 8 }));
    CHECK(inputs[0].dataType == POPRT_DTYPE_FLOAT32 && !inputs[0].popefContainsTensorData);

    const TensorMemory scores(count * 10 * sizeof(float));
    const InputMemoryView in{ { "image", { images.data(), sizeof(images) } } };
    const OutputMemoryView out{ { "logits", scores.getView() } };
    runner.execute(in, out);
    const auto *values = reinterpret_cast<const float *>(scores.data.get());
    CHECK(digit(values) == 2 && digit(values + 30) == 5);

    const TensorMemory later(count * 10 * sizeof(float));
    auto futures = runner.executeAsync(in, { { "logits", later.getView() } });
    const TensorMemoryView view = futures.at("logits").get();
    CHECK(view.data == later.data.get() && view.dataSizeBytes == later.dataSizeBytes);
    CHECK(std::equal(later.data.get(), later.data.get() + later.dataSizeBytes, scores.data.get()));
    CHECK(thrown([&] { runner.execute({}, out); }).status() == POPRT_E_NOT_FOUND);
}

void outputs_are_selected_when_compiling()
{
    const auto exec = poprt::compiler::Compiler::compile(folder + "/model.onnx", {});
    CHECK(exec->get().outputs().size() == 1);
    poprt::Builder builder;
    const poprt_id x = builder.input("x", POPRT_DTYPE_FLOAT32, { 2 });
    const poprt_id inner = builder.op("Abs", { x })[0];
    const poprt_id last = builder.op("Neg", { inner })[0];
    builder.output(last);
    const std::string bytes = builder.finish().save();
    const auto names = [&](std::vector<std::string> outputs) {
        std::string all;
        for (const auto &info : poprt::compiler::Compiler::compile(bytes, outputs)->get().outputs())
            all += info.name + " ";
        return all;
    };
    CHECK(names({}) == builder.name(last) + " ");
    CHECK(names({ builder.name(inner) }) == builder.name(inner) + " ");
    CHECK(thrown([&] { (void)names({ "absent" }); }).status() != POPRT_OK);
    poprt::compiler::CompilerOptions options;
    options.ipuVersion = "ipu9";
    CHECK(thrown([&] { (void)poprt::compiler::Compiler::compile(bytes, {}, options); }).status() ==
        POPRT_E_ARG);
    CHECK(poprt::compiler::Compiler::compileAndGetSummaryReport(bytes, {}).find("inputs") !=
        std::string::npos);
}

void a_light_runner_takes_new_weights()
{
    using namespace poprt::runtime;
    const DeviceManager manager;
    CHECK(manager.getNumDevices() >= 1 && manager.getDevice(1).ipuVersion() == "ipu21");
    CHECK(thrown([&] { (void)manager.getSpecificDevice(-1); }).status() == POPRT_E_NOT_FOUND);
    CHECK(thrown([&] { (void)manager.getDevice(0); }).status() == POPRT_E_ARG);

    poprt::Builder builder;
    std::array<float, 2> weight{ 2, 3 };
    const poprt_id x = builder.input("x", POPRT_DTYPE_FLOAT32, { 2 });
    const poprt_id w = builder.weight("w", poprt::Tensor(weight, { 2 }));
    const poprt_id y = builder.op("Mul", { x, w })[0];
    builder.output(y);
    poprt::compiler::CompilerOptions options;
    options.constantWeights = false;
    const auto exec = poprt::compiler::Compiler::compile(builder.finish().save(), {}, options);
    LightRunnerConfig config;
    config.replicaIdToDevice[0] = manager.getDevice();
    LightRunner runner(*exec, config);
    CHECK(runner.get().kind() == POPRT_RUNNER_LIGHT);
    const std::array<float, 2> in{ 1, 1 };
    std::array<float, 2> out{};
    const InputMemoryView inputs{ { "x", { in.data(), sizeof(in) } } };
    const OutputMemoryView outputs{ { builder.name(y), { out.data(), sizeof(out) } } };
    runner.execute(inputs, outputs);
    CHECK(out[0] == 2 && out[1] == 3);
    weight = { 7, 8 };
    runner.setInputAnchor("w", { weight.data(), sizeof(weight) });
    runner.updateWeights();
    runner.execute(inputs, outputs);
    CHECK(out[0] == 7 && out[1] == 8);
    runner.stop();
    runner.reload();
    runner.execute(inputs, outputs);
    CHECK(out[0] == 7 && out[1] == 8);
}

/* y = x + mask with rows of 8 tokens. */
poprt::compiler::Executable compile_sum()
{
    poprt::Builder builder;
    const poprt_id x = builder.input("x", POPRT_DTYPE_FLOAT32, { 2, 8 });
    const poprt_id mask = builder.input("mask", POPRT_DTYPE_FLOAT32, { 2, 8 });
    poprt_id y = 0;
    poprt_builder_op_info add{};
    const poprt_id inputs[] = { x, mask };
    const char *const names[] = { "y" };
    add.struct_size = sizeof(add);
    add.op_type = "Add";
    add.inputs = inputs;
    add.n_inputs = 2;
    add.n_outputs = 1;
    add.output_names = names;
    poprt_builder_op(builder.get(), &add, &y);
    builder.output(y);
    return poprt::compiler::Executable(poprt::Executable::compile(builder.finish()));
}

/* Samples of 5, 3 and 4 tokens share two rows: the mask numbers the samples of each row. */
void a_pack_runner_shares_rows()
{
    using namespace poprt::runtime;
    const auto exec = compile_sum();
    std::array<float, 8> x{ 10, 20, 30, 40, 50, 60, 70, 80 }, ones{ 1, 1, 1, 1, 1, 1, 1, 1 };
    std::array<std::array<float, 8>, 3> y{};
    const std::array<size_t, 3> tokens{ 5, 3, 4 };
    const auto run = [&](const PackRunnerConfig &config, bool padded) {
        PackRunner runner(exec, config);
        CHECK(runner.get().kind() == POPRT_RUNNER_PACK);
        std::vector<OutputFutureMemoryView> futures;
        std::array<std::array<float, 8>, 3> masks{};
        y = {};
        for (size_t i = 0; i < 3; i++) {
            const size_t size = sizeof(float) * (padded ? 8 : tokens[i]);
            std::copy_n(ones.begin(), tokens[i], masks[i].begin());
            futures.push_back(runner.executeAsync({ { "x", { x.data(), size } },
                                                      { "mask", { masks[i].data(), size } } },
                { { "y", { y[i].data(), sizeof(float) * 8 } } }));
        }
        runner.get().drain();
        for (auto &future : futures)
            (void)future.at("y").get();
        CHECK(runner.get().stats().rows == 3);
    };
    PackRunnerConfig rows(60'000'000, 3, "x");
    rows.enableSingleRowMode("mask");
    rows.algo = PackAlgorithm::FirstFit;
    run(rows, false);
    CHECK((y[0] == std::array<float, 8>{ 11, 21, 31, 41, 51 }));
    CHECK((y[1] == std::array<float, 8>{ 12, 22, 32 }));
    CHECK((y[2] == std::array<float, 8>{ 11, 21, 31, 41 }));
    rows.delimiterNum = 1; /* 5 + 1 + 3 tokens are more than a row; 3 + 1 + 4 are not */
    run(rows, false);
    CHECK((y[1] == std::array<float, 8>{ 11, 21, 31 }));
    CHECK((y[2] == std::array<float, 8>{ 12, 22, 32, 42 }));

    PackRunnerConfig padding(60'000'000, 3);
    padding.enablePaddingRemovePattern("mask", { "x" });
    run(padding, true);
    CHECK((y[1] == std::array<float, 8>{ 11, 21, 31 }));
    CHECK((y[2] == std::array<float, 8>{ 11, 21, 31, 41 }));
    CHECK(thrown([&] { PackRunner(exec, PackRunnerConfig()); }).status() == POPRT_E_ARG);
}

} // namespace

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    folder = argv[1];
    work = argv[2];
    a_runner_serves_requests();
    programs_for_poprt_run();
    outputs_are_selected_when_compiling();
    a_pack_runner_shares_rows();
    a_light_runner_takes_new_weights();
    return 0;
}
