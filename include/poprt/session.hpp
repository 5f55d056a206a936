/* SPDX-License-Identifier: MIT */
/*
 * poprt/session.hpp — part of poprt/poprt.hpp: sessions and StepIOs.
 */
#ifndef POPRT_SESSION_HPP
#define POPRT_SESSION_HPP

#include "poprt/model.hpp"

#include <functional>

namespace poprt {

class StepIO;

/* A session, poprt/session.h. It retains the executable. */
class Session : public Handle<poprt_session, poprt_session_release> {
  public:
    explicit Session(const Executable &exec, const Config *config = nullptr)
        : Handle(
              detail::make<poprt_session>(poprt_session_create, exec.get(), detail::raw(config))),
          exec_(exec.share())
    {
    }

    /* Runs once and waits for the result. */
    void run(StepIO &io);
    /* Queues a run. `done` is called on the session's thread with nullptr, or the error of the run;
     * it must not throw. `io` and its buffers must stay valid until then. */
    void submit(StepIO &io, std::function<void(const Error *)> done);
    void drain()
    {
        check(poprt_session_drain(get()));
    }
    void cancel()
    {
        poprt_session_cancel(get());
    }
    void recover()
    {
        check(poprt_session_recover(get()));
    }
    size_t memory() const
    {
        return poprt_session_memory(get());
    }
    /* Copies a weight into the memory of `out`, and returns it with dtype and dims. */
    Tensor read_weight(const std::string &name, const Tensor &out)
    {
        poprt_tensor t = out.get();
        check(poprt_session_read_weight(get(), name.c_str(), &t));
        return Tensor(t);
    }
    void write_weight(const std::string &name, const Tensor &value)
    {
        const poprt_tensor t = value.get();
        check(poprt_session_write_weight(get(), name.c_str(), &t));
    }
    const Executable &executable() const noexcept
    {
        return exec_;
    }

  private:
    Executable exec_;
};

/* Inputs and outputs of runs, poprt/stepio.h. */
class StepIO : public Handle<poprt_stepio, poprt_stepio_release> {
  public:
    explicit StepIO(const Session &session)
        : Handle(detail::make<poprt_stepio>(poprt_stepio_create, session.get())),
          exec_(session.executable().share())
    {
    }

    /* Binds a tensor to an input or output. The data is borrowed until another one is bound. */
    StepIO &bind(const std::string &name, const Tensor &tensor)
    {
        const poprt_tensor t = tensor.get();
        check(poprt_stepio_bind(get(), name.c_str(), &t));
        return *this;
    }
    StepIO &unbind(const std::string &name)
    {
        check(poprt_stepio_bind(get(), name.c_str(), nullptr));
        return *this;
    }
    /* Binds an input and an output to one buffer (poprt_stepio_bind_cache). */
    StepIO &bind_cache(const std::string &input, const std::string &output, const Tensor &cache,
        int64_t rows)
    {
        const poprt_tensor t = cache.get();
        check(poprt_stepio_bind_cache(get(), input.c_str(), output.c_str(), &t, rows));
        return *this;
    }
    /* An output after a run, valid until the next run of the session. */
    Tensor output(const std::string &name) const
    {
        return output_at(exec_.slot(name));
    }
    Tensor output_at(size_t slot) const
    {
        poprt_tensor t{};
        check(poprt_stepio_output(get(), slot, &t));
        return Tensor(t);
    }

  private:
    Executable exec_;
};

namespace detail {

using Done = std::function<void(const Error *)>;

/* poprt_done_fn and poprt_request_fn that call a function of C++ and delete it. */
inline void call_done(void *user, poprt_status status, const poprt_error *error) noexcept
{
    const std::unique_ptr<Done> done(static_cast<Done *>(user));
    if (status == POPRT_OK) {
        (*done)(nullptr);
    } else {
        const Error e(*error);
        (*done)(&e);
    }
}

} // namespace detail

inline void Session::run(StepIO &io)
{
    check(poprt_session_run(get(), io.get()));
}

inline void Session::submit(StepIO &io, std::function<void(const Error *)> done)
{
    auto owned = std::make_unique<detail::Done>(std::move(done));
    check(poprt_session_submit(get(), io.get(), detail::call_done, owned.get()));
    (void)owned.release();
}

} // namespace poprt
#endif
