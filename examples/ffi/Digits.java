// SPDX-License-Identifier: MIT
// Digits.java reads a handwritten digit from Java. digits_jni.c calls the C interface, as Java
// before version 22 has no stable foreign functions.
//
//     javac -h . Digits.java
//     java -Djava.library.path=FOLDER_OF_LIBDIGITS Digits MODEL IMAGES INDEX

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Paths;

public class Digits implements AutoCloseable {
    static {
        System.loadLibrary("digits");
    }

    /** The address of a poprt_session; 0 after close(). */
    private long session;

    public Digits(String model) {
        session = open(model);
    }

    /** Returns the ten scores of an image, which is a direct buffer of 64 floats. */
    public float[] scores(ByteBuffer image) {
        if (session == 0)
            throw new IllegalStateException("the session is closed");
        return run(session, image);
    }

    @Override
    public void close() {
        release(session);
        session = 0;
    }

    // Failures of the library arrive as RuntimeException, with its message.
    private static native long open(String model);

    private static native float[] run(long session, ByteBuffer image);

    private static native void release(long session);

    public static void main(String[] args) throws Exception {
        // A direct buffer is memory that the library can read in place.
        ByteBuffer image = ByteBuffer.allocateDirect(256).order(ByteOrder.LITTLE_ENDIAN);
        try (FileChannel file = FileChannel.open(Paths.get(args[1]));
                Digits digits = new Digits(args[0])) {
            // A .npy file: 128 bytes of header, and 8 x 8 float32 for each image.
            if (file.read(image, 128 + 256 * Long.parseLong(args[2])) != 256)
                throw new IllegalArgumentException("the image cannot be read");
            float[] scores = digits.scores(image);
            int best = 0;
            for (int i = 1; i < scores.length; i++)
                if (scores[i] > scores[best])
                    best = i;
            System.out.println("digit " + best);
        }
    }
}
