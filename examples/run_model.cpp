// SPDX-License-Identifier: MIT
// run_model.cpp — the C++ interface: handles that release themselves, failures as exceptions.
//
//     run_model model.onnx      (the digits model: float32 image [batch, 1, 8, 8])
#include <poprt/poprt.hpp>

#include <array>
#include <cstdio>

static void run(const char *path)
{
    poprt::Model model = poprt::Model::load_file(path);
    poprt::PassManager().add_pipeline("convert").run(model);
    poprt::Session session(poprt::Executable::compile(model));

    const std::array<float, 64> image{};
    poprt::StepIO io(session);
    io.bind("image", poprt::Tensor(image, { 1, 1, 8, 8 }));
    session.run(io);
    for (const float score : io.output("logits").as<const float>())
        std::printf("%g ", static_cast<double>(score));
    std::printf("\n");
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: run_model model.onnx\n");
        return 2;
    }
    try {
        run(argv[1]);
    } catch (const poprt::Error &error) {
        std::fprintf(stderr, "%s: %s\n", poprt_status_name(error.status()), error.what());
        return 1;
    }
    return 0;
}
