/* SPDX-License-Identifier: MIT */
/*
 * poprt/model.hpp — part of poprt/poprt.hpp: environments, options, models, passes and executables.
 */
#ifndef POPRT_MODEL_HPP
#define POPRT_MODEL_HPP

#include "poprt/base.hpp"
#include "poprt/poprt.h"

namespace poprt {

/* An environment, poprt/env.h. */
class Env : public Handle<poprt_env, poprt_env_release> {
  public:
    explicit Env(const poprt_env_options &options)
        : Handle(detail::make<poprt_env>(poprt_env_create, &options))
    {
    }
    /* `threads` of the library's own pool (0: the caller alone), and a limit in bytes (0: none). */
    explicit Env(uint32_t threads = 0, size_t memory_limit = 0) : Env(sized(threads, memory_limit))
    {
    }

    uint32_t width() const
    {
        return poprt_env_width(get());
    }
    void load_plugin(const std::string &path)
    {
        check(poprt_env_load_plugin(get(), path.c_str()));
    }
    /* POPRT_LOG_* of a module; "": of all modules. */
    void set_log_level(const std::string &module, int32_t level)
    {
        check(poprt_env_set_log_level(get(), module.empty() ? nullptr : module.c_str(), level));
    }
    void set_log_destination(const std::string &destination)
    {
        check(poprt_env_set_log_destination(get(), destination.c_str()));
    }

  private:
    static poprt_env_options sized(uint32_t threads, size_t memory_limit)
    {
        poprt_env_options options = POPRT_ENV_OPTIONS_INIT;
        options.threads = threads;
        options.memory_limit = memory_limit;
        return options;
    }
};

/* Options by name, poprt/config.h. */
class Config : public Handle<poprt_config, poprt_config_release> {
  public:
    explicit Config(const Env *env = nullptr)
        : Handle(detail::make<poprt_config>(poprt_config_create, detail::raw(env)))
    {
    }

    Config &set(const std::string &key, const std::string &value)
    {
        check(poprt_config_set(get(), key.c_str(), value.c_str()));
        return *this;
    }
    Config &set(const std::string &key, const char *value)
    {
        return set(key, std::string(value));
    }
    /* A number, or a bool as "true" or "false". */
    template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
    Config &set(const std::string &key, T value)
    {
        if constexpr (std::is_same_v<T, bool>)
            return set(key, value ? "true" : "false");
        else
            return set(key, std::to_string(value));
    }
    Config &merge_json(const std::string &json)
    {
        check(poprt_config_merge_json(get(), json.data(), json.size()));
        return *this;
    }
    Config &load_file(const std::string &path)
    {
        check(poprt_config_load_file(get(), path.c_str()));
        return *this;
    }
    /* The value of an option (poprt_config_get). */
    std::string value(const std::string &key) const
    {
        return detail::make<const char>(poprt_config_get, get(), key.c_str());
    }
    Config clone() const
    {
        return Config(detail::make<poprt_config>(poprt_config_clone, get()));
    }
    void freeze()
    {
        poprt_config_freeze(get());
    }

  private:
    explicit Config(poprt_config *config) : Handle(config)
    {
    }
};

/* An input or output: poprt_io_info with its texts copied. */
struct Info {
    std::string name;
    int32_t direction;              /* POPRT_INPUT or POPRT_OUTPUT */
    int32_t value_kind;             /* POPRT_VALUE_* */
    int32_t dtype;                  /* POPRT_DTYPE_* */
    int32_t rank;                   /* -1: unknown */
    std::vector<int64_t> dims;      /* -1: symbolic or unknown */
    std::vector<std::string> names; /* "" for a number, else as in poprt_io_info::dim_names */

    explicit Info(const poprt_io_info &info)
        : name(info.name), direction(info.direction), value_kind(info.value_kind),
          dtype(info.dtype), rank(info.rank)
    {
        for (int32_t i = 0; i < rank; i++) {
            dims.push_back(info.dims[i]);
            names.emplace_back(info.dim_names[i]);
        }
    }
};

namespace detail {

template <typename T>
std::vector<Info> infos(const T *object, int32_t direction, size_t (*count)(const T *, int32_t),
    poprt_status (*at)(const T *, int32_t, size_t, poprt_io_info *))
{
    std::vector<Info> list;
    for (size_t i = 0; i < count(object, direction); i++) {
        poprt_io_info info{};
        info.struct_size = sizeof(info);
        check(at(object, direction, i, &info));
        list.emplace_back(info);
    }
    return list;
}

} // namespace detail

/* A model, poprt/model.h. */
class Model : public Handle<poprt_model, poprt_model_release> {
  public:
    explicit Model(poprt_model *model) : Handle(model)
    {
    }

    static Model load_file(const std::string &path, const Config *config = nullptr,
        const Env *env = nullptr)
    {
        return Model(detail::make<poprt_model>(poprt_model_load_file, detail::raw(env),
            path.c_str(), detail::raw(config)));
    }
    /* ONNX in memory, which is copied. */
    static Model load_bytes(Span<const char> bytes, const Config *config = nullptr,
        const Env *env = nullptr)
    {
        return Model(detail::make<poprt_model>(poprt_model_load_bytes, detail::raw(env),
            static_cast<const void *>(bytes.data()), bytes.size(), detail::raw(config)));
    }
    Model clone() const
    {
        return Model(detail::make<poprt_model>(poprt_model_clone, get()));
    }

    void set_input_shape(const std::string &input, Span<const int64_t> dims)
    {
        check(poprt_model_set_input_shape(get(), input.c_str(), dims.data(),
            static_cast<uint32_t>(dims.size())));
    }
    std::vector<Info> inputs() const
    {
        return list(POPRT_INPUT);
    }
    std::vector<Info> outputs() const
    {
        return list(POPRT_OUTPUT);
    }
    void save_file(const std::string &path, const Config *config = nullptr) const
    {
        check(poprt_model_save_file_as(get(), path.c_str(), detail::raw(config)));
    }
    /* The bytes of the ONNX file. */
    std::string save() const
    {
        std::string bytes;
        check(poprt_model_save(get(), detail::append, &bytes));
        return bytes;
    }
    /* POPRT_FORMAT_*. */
    std::string describe(int32_t format = POPRT_FORMAT_SUMMARY) const
    {
        std::string text;
        check(poprt_model_describe(get(), format, detail::append, &text));
        return text;
    }

  private:
    std::vector<Info> list(int32_t direction) const
    {
        return detail::infos<poprt_model>(get(), direction, poprt_model_io_count,
            poprt_model_io_at);
    }
};

/* Passes in order, poprt/pass.h. */
class PassManager : public Handle<poprt_pass_manager, poprt_pass_manager_release> {
  public:
    explicit PassManager(const Env *env = nullptr)
        : Handle(detail::make<poprt_pass_manager>(poprt_pass_manager_create, detail::raw(env)))
    {
    }

    /* Appends a pass; `args` are its options and their values. */
    PassManager &add(const std::string &pass,
        const std::vector<std::pair<std::string, std::string>> &args = {})
    {
        std::vector<poprt_pass_arg> list;
        for (const auto &[key, value] : args)
            list.push_back({ key.c_str(), value.c_str() });
        check(poprt_pass_manager_add_args(get(), pass.c_str(), list.data(), list.size()));
        return *this;
    }
    /* Appends the passes of a pipeline: "convert". */
    PassManager &add_pipeline(const std::string &pipeline, const Config *config = nullptr)
    {
        check(poprt_pass_manager_add_pipeline(get(), pipeline.c_str(), detail::raw(config)));
        return *this;
    }
    void sort()
    {
        check(poprt_pass_manager_sort(get()));
    }
    void run(Model &model)
    {
        check(poprt_pass_manager_run(get(), model.get()));
    }
};

/* A compiled model, poprt/executable.h. Any number of threads may use it. */
class Executable : public Handle<poprt_executable, poprt_executable_release> {
  public:
    explicit Executable(poprt_executable *exec) : Handle(exec)
    {
    }

    static Executable compile(const Model &model, const Config *config = nullptr)
    {
        return Executable(
            detail::make<poprt_executable>(poprt_compile, model.get(), detail::raw(config)));
    }
    /* Opens a PopEF file. */
    static Executable load_file(const std::string &path, const Config *config = nullptr,
        const Env *env = nullptr)
    {
        return Executable(detail::make<poprt_executable>(poprt_executable_load_file,
            detail::raw(env), path.c_str(), detail::raw(config)));
    }
    /* Another owner of the same executable. */
    Executable share() const
    {
        return Executable(poprt_executable_retain(get()));
    }

    void save_file(const std::string &path) const
    {
        check(poprt_executable_save_file(get(), path.c_str()));
    }
    /* The bytes of the PopEF file. */
    std::string save() const
    {
        std::string bytes;
        check(poprt_executable_save(get(), detail::append, &bytes));
        return bytes;
    }
    std::vector<Info> inputs() const
    {
        return list(POPRT_INPUT);
    }
    std::vector<Info> outputs() const
    {
        return list(POPRT_OUTPUT);
    }
    std::string describe(int32_t format = POPRT_FORMAT_SUMMARY,
        const Config *config = nullptr) const
    {
        std::string text;
        check(poprt_executable_describe_as(get(), format, detail::raw(config), detail::append,
            &text));
        return text;
    }
    /* Bytes of a session (poprt_executable_session_memory). */
    size_t session_memory(const Config *config = nullptr) const
    {
        size_t bytes = 0;
        check(poprt_executable_session_memory(get(), detail::raw(config), &bytes));
        return bytes;
    }
    /* The slot of an input or output in a StepIO. Throws POPRT_E_NOT_FOUND. */
    size_t slot(const std::string &name) const
    {
        size_t index = 0;
        for (const int32_t direction : { POPRT_INPUT, POPRT_OUTPUT })
            for (const Info &info : list(direction)) {
                if (info.name == name)
                    return index;
                index++;
            }
        throw Error(POPRT_E_NOT_FOUND, "run", "", name, "there is no input or output of this name");
    }

  private:
    std::vector<Info> list(int32_t direction) const
    {
        return detail::infos<poprt_executable>(get(), direction, poprt_executable_io_count,
            poprt_executable_io_at);
    }
};

} // namespace poprt
#endif
