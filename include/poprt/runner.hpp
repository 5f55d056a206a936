/* SPDX-License-Identifier: MIT */
/*
 * poprt/runner.hpp — part of poprt/poprt.hpp: runners, which serve requests of many threads.
 */
#ifndef POPRT_RUNNER_HPP
#define POPRT_RUNNER_HPP

#include "poprt/runner.h"
#include "poprt/session.hpp"

namespace poprt {

/* A tensor of a request. Without dims its size decides about its shape. */
struct NamedTensor {
    std::string name;
    Tensor tensor;
};

/* A request of a runner. */
class Request : public Handle<poprt_request, poprt_request_release> {
  public:
    explicit Request(poprt_request *request) : Handle(request)
    {
    }

    /* Waits at most `wait_ns` nanoseconds. Returns true if the request is finished. */
    bool wait(uint64_t wait_ns = POPRT_WAIT_FOREVER)
    {
        return poprt_request_wait(get(), wait_ns) != 0;
    }
    /* Throws the error of a finished request, or POPRT_E_STATE if it is not finished. */
    void result()
    {
        check(poprt_request_result(get()));
    }
    void cancel()
    {
        poprt_request_cancel(get());
    }
};

/* A tensor that a runner lists: poprt_runner_io with its texts copied. */
struct RunnerInfo {
    std::string name;
    int32_t dtype;             /* POPRT_DTYPE_* */
    std::vector<int64_t> dims; /* for the model's batch */
    size_t bytes;              /* of a tensor of these dims */
    int32_t open_dim;          /* dimension whose size each request chooses; -1: there is none */
    bool has_data;             /* a weight, whose data is in the executable */
};

/* A runner, poprt/runner.h. Any number of threads may use it. */
class Runner : public Handle<poprt_runner, poprt_runner_release> {
  public:
    explicit Runner(const Executable &exec, const Config *config = nullptr)
        : Handle(detail::make<poprt_runner>(poprt_runner_create, exec.get(), detail::raw(config)))
    {
    }
    /* Opens a PopEF file. */
    explicit Runner(const std::string &path, const Config *config = nullptr,
        const Env *env = nullptr)
        : Handle(detail::make<poprt_runner>(poprt_runner_create_from_file, detail::raw(env),
              path.c_str(), detail::raw(config)))
    {
    }

    /* POPRT_RUNNER_*. */
    int32_t kind() const
    {
        return poprt_runner_kind(get());
    }

    /* Runs a request and waits for it. `replica` is for light runners. */
    void execute(const std::vector<NamedTensor> &inputs, const std::vector<NamedTensor> &outputs,
        uint32_t replica = 0)
    {
        Call call(inputs, outputs, replica);
        check(poprt_runner_execute(get(), &call.call));
    }
    /* Queues a request. The data must stay valid until it is finished. `done`, if given, is called
     * on a thread of the runner, as that of Session::submit, and must not throw. Waits `wait_ns`
     * for a place in the queue, and throws POPRT_E_LIMIT if there is none. */
    Request submit(const std::vector<NamedTensor> &inputs, const std::vector<NamedTensor> &outputs,
        std::function<void(const Error *)> done = {}, uint64_t wait_ns = POPRT_WAIT_FOREVER,
        uint32_t replica = 0)
    {
        Call call(inputs, outputs, replica);
        std::unique_ptr<detail::Done> owned;
        if (done) {
            owned = std::make_unique<detail::Done>(std::move(done));
            call.call.done = detail::call_done;
            call.call.user = owned.get();
        }
        poprt_request *request = nullptr;
        check(poprt_runner_submit(get(), &call.call, wait_ns, &request));
        (void)owned.release();
        return Request(request);
    }
    void cancel()
    {
        poprt_runner_cancel(get());
    }
    void drain()
    {
        check(poprt_runner_drain(get()));
    }
    void stop()
    {
        check(poprt_runner_stop(get()));
    }
    void reload()
    {
        check(poprt_runner_reload(get()));
    }
    void set_weight(const std::string &name, const Tensor &value)
    {
        const poprt_tensor t = value.get();
        check(poprt_runner_set_weight(get(), name.c_str(), &t));
    }
    void update_weights()
    {
        check(poprt_runner_update_weights(get()));
    }

    /* Tensors of a list (POPRT_RUNNER_EXECUTE, POPRT_RUNNER_EXECUTABLE) and direction. */
    std::vector<RunnerInfo> tensors(int32_t direction, int32_t list = POPRT_RUNNER_EXECUTE) const
    {
        std::vector<RunnerInfo> infos;
        for (size_t i = 0; i < poprt_runner_io_count(get(), list, direction); i++) {
            poprt_runner_io io{};
            io.struct_size = sizeof(io);
            check(poprt_runner_io_at(get(), list, direction, i, &io));
            infos.push_back({ io.name, io.dtype,
                std::vector<int64_t>(io.dims, io.dims + (io.rank < 0 ? 0 : io.rank)), io.size,
                io.open_dim, io.has_data != 0 });
        }
        return infos;
    }
    poprt_runner_stats stats() const
    {
        poprt_runner_stats s{};
        s.struct_size = sizeof(s);
        check(poprt_runner_get_stats(get(), &s));
        return s;
    }

  private:
    /* poprt_runner_call and the arrays that it refers to. */
    struct Call {
        std::vector<poprt_named_tensor> in, out;
        poprt_runner_call call{};

        Call(const std::vector<NamedTensor> &inputs, const std::vector<NamedTensor> &outputs,
            uint32_t replica)
            : in(raw(inputs)), out(raw(outputs))
        {
            call.struct_size = sizeof(call);
            call.inputs = in.data();
            call.n_inputs = in.size();
            call.outputs = out.data();
            call.n_outputs = out.size();
            call.replica = replica;
        }
        static std::vector<poprt_named_tensor> raw(const std::vector<NamedTensor> &tensors)
        {
            std::vector<poprt_named_tensor> list;
            for (const NamedTensor &t : tensors)
                list.push_back({ t.name.c_str(), t.tensor.get() });
            return list;
        }
    };
};

} // namespace poprt
#endif
