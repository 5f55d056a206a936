/* SPDX-License-Identifier: MIT */
/*
 * choices.h — options of passes that accept one word of a list (CHOICE rows of passes.def). Each
 * list makes an enum and, in the same order, the accepted words. prt_pass_choice returns the
 * number of the word.
 */
#ifndef PRT_PASS_ENGINE_CHOICES_H
#define PRT_PASS_ENGINE_CHOICES_H

/* The largest Winograd tiles. split: as large, except where products run in bf16x3. */
#define PRT_TILES_LIST(X)                                                                          \
    X(TILES, off) X(TILES, small) X(TILES, large) X(TILES, largest) X(TILES, split)

/* How the processor multiplies float32. split: in bf16x3. */
#define PRT_PRODUCTS_LIST(X) X(PRODUCTS, float32) X(PRODUCTS, avx2) X(PRODUCTS, split)

/* The storage type of constant matrices in products. */
#define PRT_WEIGHTS_LIST(X)                                                                        \
    X(WEIGHTS, f32)                                                                                \
    X(WEIGHTS, f16)                                                                                \
    X(WEIGHTS, bf16) X(WEIGHTS, f8e4m3) X(WEIGHTS, f8e5m2) X(WEIGHTS, i8) X(WEIGHTS, i4)

/* The arithmetic of products with constants. model: as the model says, float32 elsewhere. */
#define PRT_COMPUTE_LIST(X) X(COMPUTE, model) X(COMPUTE, f32) X(COMPUTE, bf16) X(COMPUTE, i8)

#define PRT_CHOICE_MEMBER(prefix, word) PRT_##prefix##_##word,
#define PRT_CHOICE_WORD(prefix, word) "|" #word

typedef enum prt_tiles { PRT_TILES_LIST(PRT_CHOICE_MEMBER) } prt_tiles;
typedef enum prt_products { PRT_PRODUCTS_LIST(PRT_CHOICE_MEMBER) } prt_products;
typedef enum prt_weight_type { PRT_WEIGHTS_LIST(PRT_CHOICE_MEMBER) } prt_weight_type;
typedef enum prt_compute { PRT_COMPUTE_LIST(PRT_CHOICE_MEMBER) } prt_compute;

/* The accepted words, as in base/accepts.h. */
#define PRT_TILES_WORDS (&(PRT_TILES_LIST(PRT_CHOICE_WORD))[1])
#define PRT_PRODUCTS_WORDS (&(PRT_PRODUCTS_LIST(PRT_CHOICE_WORD))[1])
#define PRT_WEIGHTS_WORDS (&(PRT_WEIGHTS_LIST(PRT_CHOICE_WORD))[1])
#define PRT_COMPUTE_WORDS (&(PRT_COMPUTE_LIST(PRT_CHOICE_WORD))[1])

/* Returns the number of `word` in a list of words; -1: it is not in the list. */
int prt_choice_find(const char *words, const char *word);

enum { PRT_CHOICE_SIZE = 16 }; /* bytes of the longest word, with its zero byte */

/* Copies word `index` of a list. */
void prt_choice_word(const char *words, int index, char to[PRT_CHOICE_SIZE]);

#endif
