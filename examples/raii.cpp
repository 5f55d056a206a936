// SPDX-License-Identifier: MIT
// raii.cpp — the C interface from C++17: handles in std::unique_ptr, failures as exceptions.
//
//     raii model.onnx      (the digits model: float32 image [batch, 1, 8, 8])
#include <poprt/poprt.h>

#include <array>
#include <cstdio>
#include <memory>
#include <stdexcept>

namespace {

template <auto release> struct Releaser {
    template <typename T> void operator()(T *handle) const
    {
        release(handle);
    }
};
using Model = std::unique_ptr<poprt_model, Releaser<poprt_model_release>>;
using Executable = std::unique_ptr<poprt_executable, Releaser<poprt_executable_release>>;
using Session = std::unique_ptr<poprt_session, Releaser<poprt_session_release>>;
using StepIo = std::unique_ptr<poprt_stepio, Releaser<poprt_stepio_release>>;

void check(poprt_status status)
{
    if (status != POPRT_OK)
        throw std::runtime_error(poprt_last_error()->message);
}

// Calls a function whose last parameter is `T **out`, and owns the result.
template <typename Owner, typename Function, typename... Args>
Owner make(Function function, Args... args)
{
    typename Owner::pointer out = nullptr;
    check(function(args..., &out));
    return Owner(out);
}

void run(const char *path)
{
    const Model model = make<Model>(poprt_model_load_file, nullptr, path, nullptr);
    const Executable exec = make<Executable>(poprt_compile, model.get(), nullptr);
    const Session session = make<Session>(poprt_session_create, exec.get(), nullptr);
    const StepIo io = make<StepIo>(poprt_stepio_create, session.get());

    std::array<float, 64> image{};
    const std::array<int64_t, 4> dims{ 1, 1, 8, 8 };
    const poprt_tensor in{ image.data(), sizeof(image), dims.data(), 4, POPRT_DTYPE_FLOAT32 };
    check(poprt_stepio_bind(io.get(), "image", &in));
    check(poprt_session_run(session.get(), io.get()));

    poprt_tensor out{};
    check(poprt_stepio_output(io.get(), 1, &out));
    for (size_t i = 0; i < out.size / sizeof(float); i++)
        std::printf("%g ", static_cast<double>(static_cast<const float *>(out.data)[i]));
    std::printf("\n");
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: raii model.onnx\n");
        return 2;
    }
    try {
        run(argv[1]);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
