// SPDX-License-Identifier: MIT
//! digits.rs reads a handwritten digit from Rust, by declarations of the C functions that it uses.
//!
//!     rustc --edition 2021 -L FOLDER_OF_LIBPOPRT digits.rs && ./digits MODEL IMAGES INDEX

use std::{ffi::{c_char, c_void, CStr, CString}, ptr::null_mut};

/// A poprt_session or a poprt_stepio, seen from outside.
type Handle = *mut c_void;

/// poprt_tensor of poprt/base.h, whose layout is frozen.
#[repr(C)]
struct Tensor {
    data: *mut c_void,
    size: usize,
    dims: *const i64,
    rank: u32,
    dtype: i32,
}
const FLOAT32: i32 = 1; // POPRT_DTYPE_FLOAT32

#[link(name = "poprt")]
extern "C" {
    fn poprt_status_name(status: i32) -> *const c_char;
    fn poprt_session_create_from_file(env: Handle, path: *const c_char, config: Handle,
        out: *mut Handle) -> i32;
    fn poprt_session_run(session: Handle, io: Handle) -> i32;
    fn poprt_session_release(session: Handle);
    fn poprt_stepio_create(session: Handle, out: *mut Handle) -> i32;
    fn poprt_stepio_bind(io: Handle, name: *const c_char, tensor: *const Tensor) -> i32;
    fn poprt_stepio_release(io: Handle);
}

/// Owner of a handle: drop() releases it, also when `?` leaves a function.
struct Owned(Handle, unsafe extern "C" fn(Handle));
impl Drop for Owned {
    fn drop(&mut self) { unsafe { (self.1)(self.0) } }
}

fn check(status: i32) -> Result<(), String> {
    if status == 0 { return Ok(()); }
    Err(unsafe { CStr::from_ptr(poprt_status_name(status)) }.to_string_lossy().into())
}

/// Describes borrowed memory; `data` and `dims` must live as long as the binding.
fn tensor(data: &mut [f32], dims: &[i64]) -> Tensor {
    Tensor { data: data.as_mut_ptr().cast(), size: 4 * data.len(), dims: dims.as_ptr(),
        rank: dims.len() as u32, dtype: FLOAT32 }
}

fn read(model: &str, image: &mut [f32], scores: &mut [f32]) -> Result<(), String> {
    let path = CString::new(model).map_err(|e| e.to_string())?;
    let (mut session, mut io): (Handle, Handle) = (null_mut(), null_mut());
    unsafe {
        check(poprt_session_create_from_file(null_mut(), path.as_ptr(), null_mut(), &mut session))?;
        let session = Owned(session, poprt_session_release);
        check(poprt_stepio_create(session.0, &mut io))?;
        let io = Owned(io, poprt_stepio_release);
        check(poprt_stepio_bind(io.0, c"image".as_ptr(), &tensor(image, &[1, 1, 8, 8])))?;
        check(poprt_stepio_bind(io.0, c"logits".as_ptr(), &tensor(scores, &[1, 10])))?;
        check(poprt_session_run(session.0, io.0))
    }
}

fn main() -> Result<(), String> {
    let args: Vec<String> = std::env::args().collect();
    let [_, model, images, index] = &args[..] else { return Err("MODEL IMAGES INDEX".into()) };
    let start = 128 + 256 * index.parse::<usize>().map_err(|e| e.to_string())?; // .npy header
    let bytes = std::fs::read(images).map_err(|e| e.to_string())?;
    let bytes = bytes.get(start..start + 256).ok_or("there is no such image")?;
    let mut image = [0f32; 64];
    for (pixel, b) in image.iter_mut().zip(bytes.chunks_exact(4)) {
        *pixel = f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    }
    let mut scores = [0f32; 10];
    read(model, &mut image, &mut scores)?;
    let best = (1..10).fold(0, |best, i| if scores[i] > scores[best] { i } else { best });
    Ok(println!("digit {best}"))
}
