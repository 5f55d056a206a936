/* SPDX-License-Identifier: MIT */
/*
 * test_classes.cpp FOLDER WORK — poprt/poprt.hpp without runners: models, passes, executables,
 * sessions, builders, errors and moves. FOLDER is that of the digits model.
 */
#include "digits.hpp"

namespace {

std::string folder, work;

/* Binds the images, runs, and checks that the digits are read. */
void check_digits(poprt::Session &session)
{
    const Images images = read_images(folder);
    poprt::StepIO io(session);
    io.bind("image", poprt::Tensor(images, { count, 1, 8, 8 }));
    session.run(io);
    const poprt::Tensor logits = io.output("logits");
    CHECK((logits.dims() == std::vector<int64_t>{ count, 10 }));
    const poprt::Span<const float> scores = logits.as<const float>();
    CHECK(scores.size() == count * 10);
    for (size_t i = 0; i < count; i++)
        CHECK(digit(&scores[10 * i]) == static_cast<long>(2 + i));
    CHECK(thrown([&] { (void)logits.as<int32_t>(); }).status() == POPRT_E_TYPE);
}

void a_model_is_loaded_converted_compiled_and_run()
{
    const poprt::Env env(2);
    CHECK(env.width() == 2);
    poprt::Model model = poprt::Model::load_file(folder + "/model.onnx", nullptr, &env);
    CHECK(model.inputs().size() == 1 && model.inputs()[0].name == "image");
    CHECK((model.inputs()[0].dims == std::vector<int64_t>{ -1, 1, 8, 8 }));
    CHECK(model.inputs()[0].names[0] == "batch");

    poprt::PassManager passes(&env);
    passes.add_pipeline("convert").run(model);
    CHECK(model.describe().find("BatchNormalization") == std::string::npos);
    const poprt::Model again = poprt::Model::load_bytes(model.save(), nullptr, &env);
    CHECK(again.outputs()[0].name == "logits");

    const poprt::Executable exec = poprt::Executable::compile(again);
    poprt::Session session(exec);
    check_digits(session);
    CHECK(session.memory() > 0);

    exec.save_file(work + "/cpp.popef");
    poprt::Config config(&env);
    config.set("dim.batch", count).set("verify", "full");
    const poprt::Executable opened =
        poprt::Executable::load_file(work + "/cpp.popef", nullptr, &env);
    poprt::Session second(opened, &config);
    check_digits(second);
    CHECK(config.value("verify") == "full" && config.clone().value("verify") == "full");
}

void a_submitted_run_calls_back()
{
    const Images images = read_images(folder);
    poprt::Session session(
        poprt::Executable::compile(poprt::Model::load_file(folder + "/model.onnx")));
    std::array<float, count * 10> scores{};
    poprt::StepIO io(session);
    io.bind("image", poprt::Tensor(images, { count, 1, 8, 8 }));
    io.bind("logits", poprt::Tensor(scores, { count, 10 }));
    int calls = 0;
    session.submit(io, [&](const poprt::Error *error) { calls += error == nullptr; });
    session.drain();
    CHECK(calls == 1 && digit(scores.data()) == 2);

    poprt_status status = POPRT_OK;
    io.unbind("image");
    session.submit(io, [&](const poprt::Error *error) { status = error->status(); });
    session.drain();
    CHECK(status != POPRT_OK);
}

void errors_have_status_and_texts()
{
    const poprt::Error missing =
        thrown([] { (void)poprt::Model::load_file(folder + "/missing.onnx"); });
    CHECK(missing.status() == POPRT_E_NOT_FOUND || missing.status() == POPRT_E_IO);
    CHECK(missing.file().find("missing.onnx") != std::string::npos && !missing.message().empty());

    const std::string bytes = "not a model";
    CHECK(thrown([&] { (void)poprt::Model::load_bytes(bytes); }).status() == POPRT_E_PARSE);

    poprt::Config config;
    const poprt::Error key = thrown([&] { config.set("strasen", true); });
    CHECK(key.status() == POPRT_E_NOT_FOUND && key.subject() == "strasen");
    CHECK(key.category() == POPRT_ERROR_APPLICATION);
    config.freeze();
    CHECK(thrown([&] { config.set("strassen", false); }).status() == POPRT_E_STATE);

    const poprt::Executable exec =
        poprt::Executable::compile(poprt::Model::load_file(folder + "/model.onnx"));
    poprt::Session session(exec);
    poprt::StepIO io(session);
    const std::array<int32_t, 64> wrong{};
    CHECK(thrown([&] {
        io.bind("image", poprt::Tensor(wrong, { 1, 1, 8, 8 }));
    }).status() == POPRT_E_TYPE);
    CHECK(thrown([&] { (void)io.output("imagee"); }).status() == POPRT_E_NOT_FOUND);
    CHECK(thrown([&] { poprt::PassManager().add("no_such_pass"); }).status() == POPRT_E_NOT_FOUND);
}

void closed_and_moved_objects_throw()
{
    poprt::Model model = poprt::Model::load_file(folder + "/model.onnx");
    poprt::Model other = std::move(model);
    CHECK(!model && other); // NOLINT: the state after a move is stated by the header
    CHECK(thrown([&] { (void)model.inputs(); }).status() == POPRT_E_STATE);

    poprt::Executable exec = poprt::Executable::compile(other);
    poprt::Session session(exec);
    exec.close();
    exec.close();
    CHECK(thrown([&] { (void)exec.inputs(); }).status() == POPRT_E_STATE);
    poprt::Session moved = std::move(session);
    check_digits(moved); /* the session retains the executable */
    moved = poprt::Session(poprt::Executable::compile(other));
    check_digits(moved);
    moved.close();
    CHECK(thrown([&] { poprt::StepIO io(moved); }).status() == POPRT_E_STATE);
}

void a_builder_makes_a_model()
{
    poprt::Builder builder;
    const std::array<float, 2> two{ 2, 3 };
    const poprt_id x = builder.input("x", POPRT_DTYPE_FLOAT32, { 2 });
    const poprt_id w = builder.constant("w", poprt::Tensor(two, { 2 }));
    const poprt::Error wrong = thrown([&] { (void)builder.op("Mul", { x }); });
    CHECK(wrong.status() != POPRT_OK);
    const poprt_id y = builder.op("Mul", { x, w })[0];
    const poprt_id z = builder.op("LeakyRelu", { y }, { poprt_attr_float("alpha", 0.5f) })[0];
    builder.output(z);
    poprt::Session session(poprt::Executable::compile(builder.finish()));
    const std::array<float, 2> in{ 5, -1 };
    poprt::StepIO io(session);
    io.bind("x", poprt::Tensor(in, { 2 }));
    session.run(io);
    const auto out = io.output(builder.name(z)).as<const float>();
    CHECK(out[0] == 10 && out[1] == -1.5f);
}

} // namespace

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    folder = argv[1];
    work = argv[2];
    a_model_is_loaded_converted_compiled_and_run();
    a_submitted_run_calls_back();
    errors_have_status_and_texts();
    closed_and_moved_objects_throw();
    a_builder_makes_a_model();
    return 0;
}
