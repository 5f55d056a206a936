/* SPDX-License-Identifier: MIT */
/*
 * poprt/base.hpp — parts of poprt/poprt.hpp that its other headers share: errors, spans, tensors
 * and owners of handles.
 */
#ifndef POPRT_BASE_HPP
#define POPRT_BASE_HPP

#include "poprt/base.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace poprt {

/* A failure: poprt_error with its texts copied. what() is the message, after its subject. */
class Error : public std::exception {
  public:
    explicit Error(const poprt_error &e)
        : Error(e.status, e.stage, e.file, e.subject, e.message, e.location)
    {
    }

    Error(poprt_status status, const char *stage, std::string file, std::string subject,
        std::string message, std::string location = {})
        : detail_(std::make_shared<const Detail>(Detail{ status, stage, std::move(file), subject,
              message, std::move(location), subject.empty() ? message : subject + ": " + message }))
    {
    }

    const char *what() const noexcept override
    {
        return detail_->what.c_str();
    }
    poprt_status status() const noexcept
    {
        return detail_->status;
    }
    const std::string &stage() const noexcept
    {
        return detail_->stage;
    }
    const std::string &file() const noexcept
    {
        return detail_->file;
    }
    const std::string &subject() const noexcept
    {
        return detail_->subject;
    }
    const std::string &message() const noexcept
    {
        return detail_->message;
    }
    const std::string &location() const noexcept
    {
        return detail_->location;
    }
    /* POPRT_ERROR_* and POPRT_RECOVERY_* of the status. */
    int32_t category() const noexcept
    {
        return poprt_status_category(status());
    }
    int32_t action() const noexcept
    {
        return poprt_status_recovery(status());
    }

  private:
    struct Detail {
        poprt_status status;
        std::string stage, file, subject, message, location, what;
    };
    std::shared_ptr<const Detail> detail_; /* an exception must be copied without throwing */
};

/* Throws the calling thread's last error if `status` is not POPRT_OK. */
inline void check(poprt_status status)
{
    if (status != POPRT_OK)
        throw Error(*poprt_last_error());
}

/* `size` elements at `data`, which the span does not own. */
template <typename T> class Span {
  public:
    constexpr Span() noexcept = default;
    constexpr Span(T *data, size_t size) noexcept : data_(data), size_(size)
    {
    }
    template <size_t n> constexpr Span(T (&array)[n]) noexcept : data_(array), size_(n)
    {
    }
    /* Any container with data() and size(): vector, array, string, another span. */
    template <typename Container,
        typename = std::enable_if_t<
            std::is_convertible_v<decltype(std::declval<Container &>().data()), T *>>>
    constexpr Span(Container &&container) noexcept
        : data_(container.data()), size_(container.size())
    {
    }

    constexpr T *data() const noexcept
    {
        return data_;
    }
    constexpr size_t size() const noexcept
    {
        return size_;
    }
    constexpr bool empty() const noexcept
    {
        return size_ == 0;
    }
    constexpr T *begin() const noexcept
    {
        return data_;
    }
    constexpr T *end() const noexcept
    {
        return data_ + size_;
    }
    constexpr T &operator[](size_t index) const noexcept
    {
        return data_[index];
    }

  private:
    T *data_ = nullptr;
    size_t size_ = 0;
};

/* POPRT_DTYPE_* of a type of C++. Types of 16 bits and fewer than 8 bits have no such type: their
 * tensors are made from a pointer, a size and a dtype. */
template <typename T> constexpr int32_t dtype_of() noexcept
{
    using U = std::remove_cv_t<T>;
    static_assert(std::is_arithmetic_v<U> || std::is_same_v<U, poprt_string>,
        "no element type of ONNX is stored as this type");
    static_assert(!std::is_same_v<U, long double> && sizeof(U) <= 16, "too wide");
    if constexpr (std::is_same_v<U, poprt_string>)
        return POPRT_DTYPE_STRING;
    else if constexpr (std::is_same_v<U, bool>)
        return POPRT_DTYPE_BOOL;
    else if constexpr (std::is_floating_point_v<U>)
        return sizeof(U) == 4 ? POPRT_DTYPE_FLOAT32 : POPRT_DTYPE_FLOAT64;
    else if constexpr (std::is_signed_v<U>)
        return sizeof(U) == 1 ? POPRT_DTYPE_INT8
            : sizeof(U) == 2  ? POPRT_DTYPE_INT16
            : sizeof(U) == 4  ? POPRT_DTYPE_INT32
                              : POPRT_DTYPE_INT64;
    else
        return sizeof(U) == 1 ? POPRT_DTYPE_UINT8
            : sizeof(U) == 2  ? POPRT_DTYPE_UINT16
            : sizeof(U) == 4  ? POPRT_DTYPE_UINT32
                              : POPRT_DTYPE_UINT64;
}

/* A poprt_tensor that owns its dims. The data stays the caller's. */
class Tensor {
  public:
    Tensor() = default;
    Tensor(const void *data, size_t bytes, int32_t dtype, std::vector<int64_t> dims)
        : data_(const_cast<void *>(data)), bytes_(bytes), dtype_(dtype), dims_(std::move(dims))
    {
    }
    /* The elements of a container with data() and size(). */
    template <typename Container,
        typename T = std::remove_pointer_t<decltype(std::declval<Container &>().data())>>
    Tensor(Container &elements, std::vector<int64_t> dims)
        : Tensor(elements.data(), elements.size() * sizeof(T), dtype_of<T>(), std::move(dims))
    {
    }
    explicit Tensor(const poprt_tensor &t)
        : Tensor(t.data, t.size, t.dtype, std::vector<int64_t>(t.dims, t.dims + t.rank))
    {
    }

    void *data() const noexcept
    {
        return data_;
    }
    size_t bytes() const noexcept
    {
        return bytes_;
    }
    int32_t dtype() const noexcept
    {
        return dtype_;
    }
    const std::vector<int64_t> &dims() const noexcept
    {
        return dims_;
    }

    /* The elements. Throws POPRT_E_TYPE if they are not stored as T. */
    template <typename T> Span<T> as() const
    {
        if (dtype_of<T>() != dtype_)
            throw Error(POPRT_E_TYPE, "run", "", "tensor",
                std::string("the elements are ") + poprt_dtype_name(dtype_) + ", not " +
                    poprt_dtype_name(dtype_of<T>()));
        return Span<T>(static_cast<T *>(data_), bytes_ / sizeof(T));
    }

    /* The descriptor, which is valid as long as this object is unchanged. Without dims it has rank
     * 0: a scalar, or in a request of a runner a tensor whose size decides. */
    poprt_tensor get() const noexcept
    {
        return { data_, bytes_, dims_.empty() ? nullptr : dims_.data(),
            static_cast<uint32_t>(dims_.size()), dtype_ };
    }

  private:
    void *data_ = nullptr;
    size_t bytes_ = 0;
    int32_t dtype_ = POPRT_DTYPE_UNDEFINED;
    std::vector<int64_t> dims_;
};

/* Owner of a handle of the C interface, and base of the classes below. */
template <typename T, void (*release)(T *)> class Handle {
  public:
    explicit Handle(T *handle) noexcept : handle_(handle)
    {
    }
    Handle(Handle &&other) noexcept : handle_(std::exchange(other.handle_, nullptr))
    {
    }
    Handle &operator=(Handle &&other) noexcept
    {
        if (this != &other) {
            close();
            handle_ = std::exchange(other.handle_, nullptr);
        }
        return *this;
    }
    ~Handle()
    {
        close();
    }

    /* Returns the handle, which stays owned. Throws POPRT_E_STATE if there is none. */
    T *get() const
    {
        if (handle_ == nullptr)
            throw Error(POPRT_E_STATE, "call", "", "", "the object is closed or was moved from");
        return handle_;
    }
    explicit operator bool() const noexcept
    {
        return handle_ != nullptr;
    }
    /* Releases the handle now. A second call does nothing. */
    void close() noexcept
    {
        release(std::exchange(handle_, nullptr));
    }

  private:
    T *handle_;
};

namespace detail {

template <typename T, void (*release)(T *)> T *raw(const Handle<T, release> *object)
{
    return object == nullptr ? nullptr : object->get();
}

/* Calls a function whose last parameter is `T **out`, and returns the result. */
template <typename T, typename Function, typename... Args> T *make(Function function, Args... args)
{
    T *out = nullptr;
    check(function(args..., &out));
    return out;
}

/* poprt_write_fn that appends to a std::string. */
inline int32_t append(void *user, const void *bytes, size_t size)
{
    try {
        static_cast<std::string *>(user)->append(static_cast<const char *>(bytes), size);
        return 0;
    } catch (...) {
        return 1;
    }
}

} // namespace detail

} // namespace poprt
#endif
