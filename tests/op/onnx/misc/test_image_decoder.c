/* SPDX-License-Identifier: MIT */
/* test_image_decoder.c — ImageDecoder: pixel formats, data that is not a picture, errors.
 * tests/image tests the file formats. */
#include "support/check_main.h"
#include "support/op_check.h"

/* "P3 1 2 255 10 20 30 250 0 5 ", two colours in a column, and "P2 2 1 3 1 2 ", two greys in a
 * row. */
#define COLOURS                                                                                    \
    "x = const u8[28] {80,51,32,49,32,50,32,50,53,53,32,49,48,32,50,48,32,51,48,32,50,53,48,32,"   \
    "48,32,53,32}\n"
#define GREYS "x = const u8[13] {80,50,32,50,32,49,32,51,32,49,32,50,32}\n"

START_TEST(every_pixel_format_has_its_values)
{
    ck_result(COLOURS "y = image_decoder x\nreturn y\n", "u8[2,1,3] {10,20,30,250,0,5}");
    ck_result(COLOURS "y = image_decoder x {pixel_format=BGR}\nreturn y\n",
        "u8[2,1,3] {30,20,10,5,0,250}");
    /* 0.299 red + 0.587 green + 0.114 blue: 18.15 and 75.32 */
    ck_result(COLOURS "y = image_decoder x {pixel_format=Grayscale}\nreturn y\n",
        "u8[2,1,1] {18,75}");
    ck_result(GREYS "y = image_decoder x {pixel_format=Grayscale}\nreturn y\n",
        "u8[1,2,1] {85,170}");
    ck_result(GREYS "y = image_decoder x\nreturn y\n", "u8[1,2,3] {85,85,85,170,170,170}");
}
END_TEST

START_TEST(unknown_data_gives_an_empty_image)
{
    ck_result("x = const u8[3] {1,2,3}\ny = image_decoder x\nreturn y\n", "u8[0,0,3] {}");
    ck_result("x = const u8[0] {}\ny = image_decoder x {pixel_format=Grayscale}\nreturn y\n",
        "u8[0,0,1] {}");
    /* "P2 2 1 3 1 ": a pixel is missing */
    ck_result("x = const u8[11] {80,50,32,50,32,49,32,51,32,49,32}\ny = image_decoder x\n"
              "return y\n",
        "u8[0,0,3] {}");
}
END_TEST

START_TEST(shape_follows_the_data)
{
    ck_type("x = input u8[n]\ny = image_decoder x\nreturn y\n", "u8[?,?,3]");
    ck_type("x = input u8[n]\ny = image_decoder x {pixel_format=Grayscale}\nreturn y\n",
        "u8[?,?,1]");
}
END_TEST

START_TEST(wrong_inputs_are_refused)
{
    ck_failure(GREYS "y = image_decoder x {pixel_format=YUV}\nreturn y\n", POPRT_E_ARG,
        "pixel_format is \"YUV\"");
    ck_failure("x = const u8[1,3] {1,2,3}\ny = image_decoder x\nreturn y\n", POPRT_E_SHAPE,
        "has rank 2 where 1 is needed");
    ck_failure("x = const i8[3] {1,2,3}\ny = image_decoder x\nreturn y\n", POPRT_E_TYPE,
        "accepted: uint8");
    /* A TIFF file of an unsupported kind is not a broken file. */
    ck_failure("x = const u8[50] {73,73,42,0,8,0,0,0,3,0,0,1,4,0,1,0,0,0,1,0,0,0,1,1,4,0,1,0,0,0,"
               "1,0,0,0,3,1,3,0,1,0,0,0,7,0,0,0,0,0,0,0}\ny = image_decoder x\nreturn y\n",
        POPRT_E_UNSUPPORTED, "compression 7");
    ck_failure("x = const u8[58] {66,77,0,0,0,0,0,0,0,0,54,0,0,0,40,0,0,0,255,255,255,127,255,255,"
               "255,127,1,0,8,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0}\n"
               "y = image_decoder x\nreturn y\n",
        POPRT_E_LIMIT, "2147483647 x 2147483647");
}
END_TEST

PRT_TEST_MAIN("op/image_decoder", every_pixel_format_has_its_values,
    unknown_data_gives_an_empty_image, shape_follows_the_data, wrong_inputs_are_refused)
