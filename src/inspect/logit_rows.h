// Logits row by row, as probabilities in double.
#pragma once

#include <span>

#include "glassformer/tensor/tensor.h"

namespace glass {

// Row t of contiguous logits [1,T,V].
std::span<const float> logit_row(const Tensor& logits, Dim t);

double log_sum_exp(std::span<const float> row);

// KL(p || q) of the distributions that two rows of logits stand for, in nats.
double row_divergence(std::span<const float> p, std::span<const float> q);

}  // namespace glass
