/* SPDX-License-Identifier: MIT */
/* policy.c — which algorithms and number types the passes for compiling may choose. */
#include "compiler/policy.h"

#include <stdio.h>

/* Without an option, the tiles are those that were measured to be fastest with these kernels. */
static prt_tiles choose_tiles(const prt_policy_options *options, const prt_kern *kern, bool avx2)
{
    const int chosen = prt_choice_find(PRT_TILES_WORDS, options->winograd);
    if (chosen >= 0)
        return (prt_tiles)chosen;
    if (kern != NULL && kern->bf16x3.multiply != NULL && options->bf16x3)
        return PRT_TILES_split;
    return avx2 ? PRT_TILES_largest : PRT_TILES_large;
}

/* Returns whether weights of the policy's storage type can be multiplied as it says. */
static bool is_consistent(const prt_policy *p)
{
    switch (p->compute) {
    case PRT_COMPUTE_bf16:
        return p->weights == PRT_WEIGHTS_f32 || p->weights == PRT_WEIGHTS_bf16;
    case PRT_COMPUTE_i8:
        return p->weights == PRT_WEIGHTS_f32 || p->weights == PRT_WEIGHTS_i8 ||
            p->weights == PRT_WEIGHTS_i4;
    default:
        return true;
    }
}

poprt_status prt_policy_choose(const prt_policy_options *options, const prt_kern *kern,
    prt_policy *out)
{
    const bool avx2 = kern != NULL && strcmp(kern->level, "avx2") == 0;
    const prt_tiles tiles = choose_tiles(options, kern, avx2);
    const int weights = prt_choice_find(PRT_WEIGHTS_WORDS, options->weights);
    const int compute = prt_choice_find(PRT_COMPUTE_WORDS, options->compute);
    PRT_ASSERT(weights >= 0 && compute >= 0);
    *out = (prt_policy){ .tiles = tiles,
        .winograd_growth = options->winograd_growth,
        .products = tiles == PRT_TILES_split ? PRT_PRODUCTS_split
            : avx2                           ? PRT_PRODUCTS_avx2
                                             : PRT_PRODUCTS_float32,
        .weights = (prt_weight_type)weights,
        .compute = (prt_compute)compute,
        .exact_half = options->exact_half };
    if (is_consistent(out))
        return POPRT_OK;
    return prt_fail(POPRT_E_ARG, "weights",
        "'%s' does not go with compute=%s, which stores weights as %s", options->weights,
        options->compute, options->compute);
}

poprt_status prt_policy_apply(const prt_policy *policy, prt_pass_manager *manager)
{
    const struct {
        const char *key, *words;
        int word;
    } choices[] = {
        { "weights", PRT_WEIGHTS_WORDS, (int)policy->weights },
        { "compute", PRT_COMPUTE_WORDS, (int)policy->compute },
        { "winograd", PRT_TILES_WORDS, (int)policy->tiles },
        { "products", PRT_PRODUCTS_WORDS, (int)policy->products },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(choices); i++) {
        char word[PRT_CHOICE_SIZE];
        prt_choice_word(choices[i].words, choices[i].word, word);
        PRT_TRY(prt_pass_manager_set(manager, choices[i].key, word));
    }
    char growth[24];
    (void)snprintf(growth, sizeof(growth), "%lld", (long long)policy->winograd_growth);
    PRT_TRY(prt_pass_manager_set(manager, "winograd_growth", growth));
    return prt_pass_manager_set(manager, "exact", policy->exact_half ? "true" : "false");
}
