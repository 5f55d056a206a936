// SPDX-License-Identifier: MIT

// digits.go reads a handwritten digit from Go. cgo calls the C interface directly.
//
//	go run digits.go MODEL IMAGES INDEX
//
// CGO_CFLAGS and CGO_LDFLAGS name the folders of the headers and of the library.
package main

// #cgo LDFLAGS: -lpoprt
// #include <stdlib.h>
// #include <poprt/poprt.h>
import "C"

import (
	"fmt"
	"log"
	"os"
	"runtime"
	"strconv"
	"unsafe"
)

// check ends the program with the library's message if a call has failed. The message belongs to
// the thread, which is why main locks its goroutine to one.
func check(status C.poprt_status) {
	if status != C.POPRT_OK {
		log.Fatalf("%s: %s", C.GoString(C.poprt_status_name(status)),
			C.GoString(C.poprt_last_error().message))
	}
}

func main() {
	runtime.LockOSThread()
	if len(os.Args) != 4 {
		log.Fatal("usage: digits MODEL IMAGES INDEX")
	}
	index, err := strconv.Atoi(os.Args[3])
	data, errData := os.ReadFile(os.Args[2])
	start := 128 + 256*index // a .npy file: 128 bytes of header, 8 x 8 float32 each image
	if err != nil || errData != nil || index < 0 || len(data) < start+256 {
		log.Fatal("the image cannot be read")
	}
	// C memory: the StepIO keeps the pointer after the call, and cgo forbids that for Go memory.
	image := C.CBytes(data[start : start+256])
	defer C.free(image)
	path := C.CString(os.Args[1])
	defer C.free(unsafe.Pointer(path))
	name := C.CString("image")
	defer C.free(unsafe.Pointer(name))

	var session *C.poprt_session
	check(C.poprt_session_create_from_file(nil, path, nil, &session))
	defer C.poprt_session_release(session)
	var io *C.poprt_stepio
	check(C.poprt_stepio_create(session, &io))
	defer C.poprt_stepio_release(io)

	// The descriptor is copied by the call. Its dims are in C memory too, as it points to them.
	dims := (*[4]C.int64_t)(C.malloc(32))
	defer C.free(unsafe.Pointer(dims))
	*dims = [4]C.int64_t{1, 1, 8, 8}
	in := C.poprt_tensor{data: image, size: 256, dims: &dims[0], rank: 4,
		dtype: C.POPRT_DTYPE_FLOAT32}
	check(C.poprt_stepio_bind(io, name, &in))
	check(C.poprt_session_run(session, io))

	var out C.poprt_tensor
	check(C.poprt_stepio_output(io, 1, &out)) // slot 1: the first output after one input
	scores := unsafe.Slice((*float32)(out.data), out.size/4)
	digit := 0
	for i, score := range scores {
		if score > scores[digit] {
			digit = i
		}
	}
	fmt.Println("digit", digit)
}
