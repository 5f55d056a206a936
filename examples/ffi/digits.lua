-- SPDX-License-Identifier: MIT
-- digits.lua reads a handwritten digit from LuaJIT, whose ffi library calls the C interface.
--
--     luajit digits.lua MODEL IMAGES INDEX
--
-- LD_LIBRARY_PATH names the folder of libpoprt.so.1 if it is not installed.
local ffi = require("ffi")

-- The declarations that the program uses, as in poprt/base.h, session.h and stepio.h.
ffi.cdef [[
typedef struct poprt_session poprt_session;
typedef struct poprt_stepio poprt_stepio;
typedef struct {
    size_t struct_size;
    int32_t status;
    const char *stage, *file, *subject, *message;
} poprt_error; /* the first members; the library returns a pointer to all of them */
typedef struct {
    void *data;
    size_t size;
    const int64_t *dims;
    uint32_t rank;
    int32_t dtype;
} poprt_tensor;
const poprt_error *poprt_last_error(void);
const char *poprt_status_name(int32_t status);
int32_t poprt_session_create_from_file(void *env, const char *path, const void *config,
    poprt_session **out);
int32_t poprt_session_run(poprt_session *session, poprt_stepio *io);
void poprt_session_release(poprt_session *session);
int32_t poprt_stepio_create(const poprt_session *session, poprt_stepio **out);
int32_t poprt_stepio_bind(poprt_stepio *io, const char *name, const poprt_tensor *tensor);
int32_t poprt_stepio_output(const poprt_stepio *io, size_t slot, poprt_tensor *out);
void poprt_stepio_release(poprt_stepio *io);
]]
local poprt = ffi.load("libpoprt.so.1")
local FLOAT32 = 1 -- POPRT_DTYPE_FLOAT32

local function check(status)
    if status ~= 0 then
        error(ffi.string(poprt.poprt_status_name(status)) .. ": " ..
            ffi.string(poprt.poprt_last_error().message), 0)
    end
end

-- A .npy file: 128 bytes of header, and 8 x 8 float32 for each image.
local model, images, index = arg[1], arg[2], tonumber(arg[3])
assert(model and images and index, "usage: digits.lua MODEL IMAGES INDEX")
local file = assert(io.open(images, "rb"))
file:seek("set", 128 + 256 * index)
local bytes = file:read(256)
assert(bytes and #bytes == 256, "the image cannot be read")
local image = ffi.new("float[64]")
ffi.copy(image, bytes, 256)

-- ffi.gc releases a handle when nothing refers to it any more.
local session = ffi.new("poprt_session *[1]")
check(poprt.poprt_session_create_from_file(nil, model, nil, session))
session = ffi.gc(session[0], poprt.poprt_session_release)
local step = ffi.new("poprt_stepio *[1]")
check(poprt.poprt_stepio_create(session, step))
step = ffi.gc(step[0], poprt.poprt_stepio_release)

local dims = ffi.new("int64_t[4]", 1, 1, 8, 8)
check(poprt.poprt_stepio_bind(step, "image", ffi.new("poprt_tensor", image, 256, dims, 4, FLOAT32)))
check(poprt.poprt_session_run(session, step))
local out = ffi.new("poprt_tensor")
check(poprt.poprt_stepio_output(step, 1, out)) -- slot 1: the first output after one input
local scores, digit = ffi.cast("const float *", out.data), 0
for i = 1, 9 do
    if scores[i] > scores[digit] then digit = i end
end
print("digit " .. digit)
