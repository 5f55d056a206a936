/* SPDX-License-Identifier: MIT */
/*
 * digits_jni.c — the native methods of Digits.java.
 *
 *     cc -shared -fPIC -I$JAVA_HOME/include -I$JAVA_HOME/include/linux digits_jni.c -lpoprt \
 *         -o libdigits.so
 */
#include <jni.h>
#include <poprt/poprt.h>

/* Throws a RuntimeException with the library's message when the method returns to Java. */
static void throw_error(JNIEnv *java)
{
    const jclass type = (*java)->FindClass(java, "java/lang/RuntimeException");
    if (type != NULL)
        (void)(*java)->ThrowNew(java, type, poprt_last_error()->message);
}

JNIEXPORT jlong JNICALL Java_Digits_open(JNIEnv *java, jclass self, jstring model)
{
    poprt_session *session = NULL;
    (void)self;
    const char *path = (*java)->GetStringUTFChars(java, model, NULL);
    if (path == NULL) /* an exception is pending */
        return 0;
    if (poprt_session_create_from_file(NULL, path, NULL, &session) != POPRT_OK)
        throw_error(java);
    (*java)->ReleaseStringUTFChars(java, model, path);
    return (jlong)(intptr_t)session;
}

JNIEXPORT jfloatArray JNICALL Java_Digits_run(JNIEnv *java, jclass self, jlong handle,
    jobject image)
{
    poprt_session *session = (poprt_session *)(intptr_t)handle;
    static const int64_t in_dims[] = { 1, 1, 8, 8 }, out_dims[] = { 1, 10 };
    float scores[10];
    const poprt_tensor in = { (*java)->GetDirectBufferAddress(java, image),
        (size_t)(*java)->GetDirectBufferCapacity(java, image), in_dims, 4, POPRT_DTYPE_FLOAT32 };
    const poprt_tensor out = { scores, sizeof(scores), out_dims, 2, POPRT_DTYPE_FLOAT32 };
    poprt_stepio *io = NULL;
    jfloatArray result = NULL;
    (void)self;
    if (poprt_stepio_create(session, &io) != POPRT_OK ||
        poprt_stepio_bind(io, "image", &in) != POPRT_OK ||
        poprt_stepio_bind(io, "logits", &out) != POPRT_OK ||
        poprt_session_run(session, io) != POPRT_OK)
        throw_error(java);
    else if ((result = (*java)->NewFloatArray(java, 10)) != NULL)
        (*java)->SetFloatArrayRegion(java, result, 0, 10, scores);
    poprt_stepio_release(io);
    return result;
}

JNIEXPORT void JNICALL Java_Digits_release(JNIEnv *java, jclass self, jlong handle)
{
    (void)java;
    (void)self;
    poprt_session_release((poprt_session *)(intptr_t)handle);
}
