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

void options_and_log_lines_are_set()
{
    poprt::Config config;
    config.merge_json("{\"strassen\": false}").set("dim.batch", "3");
    CHECK(config.value("strassen") == "false" && config.value("dim.batch") == "3");
    std::ofstream(work + "/options.txt") << "strassen = true\n";
    CHECK(config.load_file(work + "/options.txt").value("strassen") == "true");

    poprt::Env env(1, 1 << 20);
    (void)std::remove((work + "/log.txt").c_str());
    env.set_log_destination(work + "/log.txt");
    env.set_log_level("", POPRT_LOG_DEBUG);
    const std::string model = folder + "/model.onnx";
    const poprt::Model loaded = poprt::Model::load_file(model, nullptr, &env);
    std::string line;
    CHECK(std::getline(std::ifstream(work + "/log.txt"), line) && !line.empty());
    CHECK(thrown([&] { env.load_plugin(work + "/missing.so"); }).status() != POPRT_OK);
    const poprt::Env small(1, 1000);
    CHECK(thrown([&] { (void)poprt::Model::load_file(model, nullptr, &small); }).status() ==
        POPRT_E_NOMEM);
}

void models_take_shapes_and_copies()
{
    poprt::Model model = poprt::Model::load_file(folder + "/model.onnx");
    const poprt::Model before = model.clone();
    const std::array<int64_t, 4> dims{ 5, -1, -1, -1 };
    model.set_input_shape("image", dims);
    CHECK(model.outputs()[0].dims[0] == 5 && before.outputs()[0].dims[0] == -1);
    model.save_file(work + "/fixed.onnx");
    const poprt::Model fixed = poprt::Model::load_file(work + "/fixed.onnx");
    CHECK(fixed.inputs()[0].dims[0] == 5);

    poprt::PassManager passes;
    passes.add("remove_outputs", { { "outputs", "logits" } });
    passes.sort();
    CHECK(thrown([&] {
        passes.add("remove_outputs", { { "no_option", "" } });
    }).status() == POPRT_E_ARG);

    const poprt::Executable exec = poprt::Executable::compile(fixed);
    CHECK(exec.session_memory() > 0 && exec.slot("logits") == 1);
    CHECK(exec.inputs()[0].name == "image" && exec.outputs()[0].name == "logits");
    CHECK(exec.describe(POPRT_FORMAT_JSON).front() == '{' && !exec.save().empty());
}

/* y = x * w in one branch of an If, x in the other one. */
void sessions_read_and_write_weights()
{
    poprt::Builder builder;
    std::array<float, 2> two{ 2, 3 };
    const poprt_id x = builder.input("x", POPRT_DTYPE_FLOAT32, { 2 });
    const poprt_id on = builder.input("on", POPRT_DTYPE_BOOL, {});
    const poprt_id w = builder.weight("w", poprt::Tensor(two, { 2 }));
    CHECK(builder.find("w") == w && builder.find("absent") == 0);
    poprt::Builder product = builder.subgraph("product"), same = builder.subgraph("same");
    product.output(product.op("Mul", { x, w })[0]);
    same.output(same.op("Identity", { x })[0]);
    builder.output(builder.op("If", { on },
        { poprt_attr_graph("then_branch", product.get()),
            poprt_attr_graph("else_branch", same.get()) })[0]);
    const std::vector<int64_t> nine(9, 1);
    CHECK(thrown([&] { (void)builder.input("deep", POPRT_DTYPE_FLOAT32, nine); }).status() ==
        POPRT_E_LIMIT);

    poprt::Config config;
    config.set("constant_weights", false);
    poprt::Session session(poprt::Executable::compile(builder.finish(), &config));
    std::array<float, 2> in{ 5, 6 }, read{};
    std::array<bool, 1> yes{ true };
    poprt::StepIO io(session);
    io.bind("x", poprt::Tensor(in, { 2 })).bind("on", poprt::Tensor(yes, {}));
    session.run(io);
    CHECK(io.output_at(2).as<const float>()[0] == 10);
    two = { 7, 8 };
    session.write_weight("w", poprt::Tensor(two, { 2 }));
    const poprt::Tensor w_now = session.read_weight("w", poprt::Tensor(read, { 2 }));
    CHECK(read == two && (w_now.dims() == std::vector<int64_t>{ 2 }));
    session.cancel();
    session.recover();
    session.run(io);
    CHECK(io.output_at(2).as<const float>()[1] == 48);
    yes[0] = false;
    session.run(io);
    CHECK(io.output_at(2).as<const float>()[1] == 6);
}

/* y = Concat(past, x) grows by a row with each run, in the caller's cache. */
void caches_grow_in_place()
{
    poprt_type type{ POPRT_DTYPE_FLOAT32, 2, { -1, 2 } };
    poprt::Builder builder;
    const char *const names[] = { "past", nullptr };
    const poprt_id past = poprt_builder_input(builder.get(), "past", &type, names);
    const poprt_id x = builder.input("x", POPRT_DTYPE_FLOAT32, { 1, 2 });
    const poprt_id y = builder.op("Concat", { past, x }, { poprt_attr_int("axis", 0) })[0];
    builder.output(y);
    poprt::Session session(poprt::Executable::compile(builder.finish()));
    std::array<float, 8> cache{};
    std::array<float, 2> row{ 1, 2 };
    poprt::StepIO io(session);
    io.bind("x", poprt::Tensor(row, { 1, 2 }));
    io.bind_cache("past", builder.name(y), poprt::Tensor(cache, { 4, 2 }), 0);
    session.run(io);
    row = { 3, 4 };
    session.run(io);
    CHECK((cache == std::array<float, 8>{ 1, 2, 3, 4 }));
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
    options_and_log_lines_are_set();
    models_take_shapes_and_copies();
    sessions_read_and_write_weights();
    caches_grow_in_place();
    return 0;
}
