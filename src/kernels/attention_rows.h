// Attention of single queries, as decoding makes them. A block of queries pays for packing the keys; one query does
// not, so keys and values are read where they lie.
#pragma once

#include "glassformer/base/bfloat16.h"
#include "kernels/attention.h"

namespace glass::kernels {

// At most one query each, no mask of the user's own, no dropout.
bool attention_rows_serve(const AttentionProblem& problem);

// As attention() (kernels/attention.h), where this serves; the last digits may differ.
void attention_rows(const AttentionProblem& problem, HeadRows<const float> query, HeadRows<const float> key,
                    HeadRows<const float> value, HeadRows<float> out, HeadRows<float> log_sum_exp);
// Of keys and values kept in bf16, all else in float32.
void attention_rows(const AttentionProblem& problem, HeadRows<const float> query, HeadRows<const bfloat16> key,
                    HeadRows<const bfloat16> value, HeadRows<float> out, HeadRows<float> log_sum_exp);

}  // namespace glass::kernels
