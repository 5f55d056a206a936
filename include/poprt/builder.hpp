/* SPDX-License-Identifier: MIT */
/*
 * poprt/builder.hpp — part of poprt/poprt.hpp: a thin builder of models. The functions of
 * poprt/builder_ops.h take its get() too.
 */
#ifndef POPRT_BUILDER_HPP
#define POPRT_BUILDER_HPP

#include "poprt/builder.h"
#include "poprt/model.hpp"

namespace poprt {

/* A builder, poprt/builder.h. A failed member undoes its call (poprt_builder_undo), so that the
 * builder can be used on after the exception. */
class Builder : public Handle<poprt_builder, poprt_builder_release> {
  public:
    /* For an opset of ai.onnx; 0: the newest one. */
    explicit Builder(int64_t opset = 0, const Env *env = nullptr)
        : Handle(detail::make<poprt_builder>(poprt_builder_create, detail::raw(env), opset))
    {
    }
    /* Holds a copy of a model. */
    explicit Builder(const Model &model)
        : Handle(detail::make<poprt_builder>(poprt_builder_create_from, model.get()))
    {
    }
    Builder subgraph(const std::string &name)
    {
        return Builder(
            detail::make<poprt_builder>(poprt_builder_create_subgraph, get(), name.c_str()));
    }

    /* Adds an input; a dim of -1 is open. Throws POPRT_E_LIMIT above POPRT_PLUGIN_MAX_RANK dims. */
    poprt_id input(const std::string &name, int32_t dtype, const std::vector<int64_t> &dims)
    {
        if (dims.size() > POPRT_PLUGIN_MAX_RANK)
            throw Error(POPRT_E_LIMIT, "build", "", name, "an input has at most 8 dims");
        poprt_type type{ dtype, static_cast<int32_t>(dims.size()), {} };
        for (size_t i = 0; i < dims.size(); i++)
            type.dims[i] = dims[i];
        return added(poprt_builder_input(get(), name.c_str(), &type, nullptr));
    }
    poprt_id weight(const std::string &name, const Tensor &contents)
    {
        const poprt_tensor t = contents.get();
        return added(poprt_builder_weight(get(), name.c_str(), &t, 0));
    }
    poprt_id constant(const std::string &name, const Tensor &contents)
    {
        const poprt_tensor t = contents.get();
        return added(poprt_builder_constant(get(), name.c_str(), &t, 0));
    }
    /* Adds an operator and returns its outputs. `attrs` are made by poprt_attr_int and the like. */
    std::vector<poprt_id> op(const std::string &type, const std::vector<poprt_id> &inputs,
        const std::vector<poprt_attr> &attrs = {}, uint32_t outputs = 1,
        const std::string &domain = {})
    {
        poprt_builder_op_info info{};
        info.struct_size = sizeof(info);
        info.domain = domain.c_str();
        info.op_type = type.c_str();
        info.inputs = inputs.data();
        info.attrs = attrs.data();
        info.n_inputs = static_cast<uint32_t>(inputs.size());
        info.n_attrs = static_cast<uint32_t>(attrs.size());
        info.n_outputs = outputs;
        std::vector<poprt_id> ids(outputs);
        (void)added(poprt_builder_op(get(), &info, ids.data()));
        return ids;
    }
    /* Makes a tensor an output of the graph. */
    void output(poprt_id tensor)
    {
        const poprt_status status = poprt_builder_output(get(), tensor);
        (void)added(tensor);
        check(status);
    }
    poprt_id find(const std::string &name) const
    {
        return poprt_builder_find(get(), name.c_str());
    }
    std::string name(poprt_id tensor) const
    {
        const char *text = poprt_builder_name(get(), tensor);
        return text == nullptr ? "" : text;
    }
    /* Makes a model. The builder may be used on. */
    Model finish()
    {
        return Model(detail::make<poprt_model>(poprt_builder_finish, get()));
    }

  private:
    explicit Builder(poprt_builder *builder) : Handle(builder)
    {
    }
    /* Throws the failure of the tree, if there is one, and removes it. */
    poprt_id added(poprt_id id)
    {
        if (poprt_builder_status(get()) != POPRT_OK) {
            const Error error(*poprt_last_error());
            check(poprt_builder_undo(get()));
            throw error;
        }
        return id;
    }
};

} // namespace poprt
#endif
