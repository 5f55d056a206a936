// SPDX-License-Identifier: MIT
// Digits.cs reads a handwritten digit from C#, by platform invocation (DllImport).
//
//     mcs Digits.cs && mono Digits.exe MODEL IMAGES INDEX      (or a project of dotnet)
//
// LD_LIBRARY_PATH names the folder of libpoprt.so.1 if it is not installed.
using System;
using System.IO;
using System.Runtime.InteropServices;

static class Digits
{
    const string Library = "libpoprt.so.1";
    const int Float32 = 1; // POPRT_DTYPE_FLOAT32

    // poprt_tensor of poprt/base.h, whose layout is frozen.
    [StructLayout(LayoutKind.Sequential)]
    struct Tensor
    {
        public IntPtr Data;
        public UIntPtr Size;
        public IntPtr Dims;
        public uint Rank;
        public int Dtype;
    }

    [DllImport(Library)] static extern IntPtr poprt_status_name(int status);
    [DllImport(Library)] static extern int poprt_session_create_from_file(IntPtr env,
        [MarshalAs(UnmanagedType.LPStr)] string path, IntPtr config, out IntPtr session);
    [DllImport(Library)] static extern int poprt_session_run(IntPtr session, IntPtr io);
    [DllImport(Library)] static extern void poprt_session_release(IntPtr session);
    [DllImport(Library)] static extern int poprt_stepio_create(IntPtr session, out IntPtr io);
    [DllImport(Library)] static extern int poprt_stepio_bind_at(IntPtr io, UIntPtr slot,
        ref Tensor tensor);
    [DllImport(Library)] static extern void poprt_stepio_release(IntPtr io);

    static void Check(int status)
    {
        if (status != 0)
            throw new InvalidOperationException(Marshal.PtrToStringAnsi(poprt_status_name(status)));
    }

    // Binds an array to an input or output. The garbage collector must not move it until the run
    // is over: the caller frees the handle then.
    static GCHandle Bind(IntPtr io, uint slot, float[] data, params long[] dims)
    {
        GCHandle pin = GCHandle.Alloc(data, GCHandleType.Pinned);
        GCHandle pinDims = GCHandle.Alloc(dims, GCHandleType.Pinned); // copied by the call
        var tensor = new Tensor { Data = pin.AddrOfPinnedObject(),
            Size = (UIntPtr)(uint)(4 * data.Length), Dims = pinDims.AddrOfPinnedObject(),
            Rank = (uint)dims.Length, Dtype = Float32 };
        int status = poprt_stepio_bind_at(io, (UIntPtr)slot, ref tensor);
        pinDims.Free();
        Check(status);
        return pin;
    }

    static void Main(string[] args)
    {
        var image = new float[64];
        var scores = new float[10];
        // A .npy file: 128 bytes of header, and 8 x 8 float32 for each image.
        Buffer.BlockCopy(File.ReadAllBytes(args[1]), 128 + 256 * int.Parse(args[2]), image, 0, 256);
        IntPtr session, io;
        Check(poprt_session_create_from_file(IntPtr.Zero, args[0], IntPtr.Zero, out session));
        Check(poprt_stepio_create(session, out io));
        GCHandle input = Bind(io, 0, image, 1, 1, 8, 8), output = Bind(io, 1, scores, 1, 10);
        Check(poprt_session_run(session, io));
        poprt_stepio_release(io);
        poprt_session_release(session);
        input.Free();
        output.Free();
        int best = 0;
        for (int i = 1; i < scores.Length; i++)
            best = scores[i] > scores[best] ? i : best;
        Console.WriteLine("digit " + best);
    }
}
