// SPDX-License-Identifier: MIT
// build_model.cpp — builds a model from C++17: y = relu(x W) with a weight, saved as ONNX.
//
//     build_model_cpp OUT.onnx
#include <poprt/builder_ops.h>
#include <poprt/poprt.h>

#include <array>
#include <cstdio>
#include <memory>
#include <stdexcept>

namespace {

using Builder = std::unique_ptr<poprt_builder, decltype(&poprt_builder_release)>;
using Model = std::unique_ptr<poprt_model, decltype(&poprt_model_release)>;

void check(poprt_status status)
{
    if (status != POPRT_OK)
        throw std::runtime_error(poprt_last_error()->message);
}

Model build()
{
    poprt_builder *made = nullptr;
    check(poprt_builder_create(nullptr, 13, &made));
    const Builder b(made, poprt_builder_release);

    poprt_type type = {};
    type.dtype = POPRT_DTYPE_FLOAT32;
    type.rank = 2;
    type.dims[0] = -1;
    type.dims[1] = 4;
    const std::array<const char *, 2> dim_names = { "batch", nullptr };
    const poprt_id x = poprt_builder_input(b.get(), "x", &type, dim_names.data());

    std::array<float, 8> data = { 1, -1, 2, -2, 3, -3, 4, -4 };
    const std::array<int64_t, 2> dims = { 4, 2 };
    const poprt_tensor contents = { data.data(), sizeof(data), dims.data(), 2,
        POPRT_DTYPE_FLOAT32 };
    const poprt_id w = poprt_builder_weight(b.get(), "w", &contents, 0);

    poprt_relu_attrs attrs = {};
    attrs.name = "y";
    const poprt_id y = poprt_op_relu(b.get(), poprt_op_matmul(b.get(), x, w, nullptr), &attrs);
    check(poprt_builder_output(b.get(), y));

    poprt_model *model = nullptr;
    check(poprt_builder_finish(b.get(), &model));
    return Model(model, poprt_model_release);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: build_model_cpp OUT.onnx\n");
        return 2;
    }
    try {
        const Model model = build();
        check(poprt_model_save_file(model.get(), argv[1]));
        poprt_io_info info = {};
        info.struct_size = sizeof(info);
        check(poprt_model_io_at(model.get(), POPRT_OUTPUT, 0, &info));
        std::printf("%s: %s [%s, %lld]\n", info.name, poprt_dtype_name(info.dtype),
            info.dim_names[0], static_cast<long long>(info.dims[1]));
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
