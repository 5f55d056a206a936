/* SPDX-License-Identifier: MIT */
/*
 * digits.hpp — shared by the tests of the C++ headers: checks, and the images of the digits model.
 */
#ifndef PRT_CPP_DIGITS_HPP
#define PRT_CPP_DIGITS_HPP

#include "poprt/poprt.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

/* Ends the test unless a condition holds. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                   \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

/* Returns the error that a function throws, and ends the test if it throws nothing. */
template <typename Function> poprt::Error thrown(Function function)
{
    try {
        function();
    } catch (const poprt::Error &error) {
        std::printf("%s: %s\n", poprt_status_name(error.status()), error.what());
        return error;
    }
    std::fprintf(stderr, "nothing was thrown\n");
    std::exit(1);
}

/* The first images of images.npy; their digits are 2, 3, 4 and 5. */
constexpr size_t count = 4;
using Images = std::array<float, count * 64>;

inline Images read_images(const std::string &folder)
{
    Images images{};
    std::ifstream file(folder + "/images.npy", std::ios::binary);
    file.seekg(128);
    CHECK(file.read(reinterpret_cast<char *>(images.data()), sizeof(images)));
    return images;
}

/* The digit with the largest of ten scores. */
inline long digit(const float *scores)
{
    return std::max_element(scores, scores + 10) - scores;
}

#endif
