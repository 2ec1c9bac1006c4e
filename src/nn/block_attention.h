// scaled_dot_product_attention by the kernel that never stores the scores (kernels/attention.h).
#pragma once

#include "glassformer/nn/attention.h"

namespace glass {

// Whether the kernel takes these: float32, no bias, and something to compute.
bool block_attention_serves(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& bias);

// As scaled_dot_product_attention(), without its checks and taps. The output [B,H,T,Kv] lies in memory as [B,T,H,Kv],
// so that merging heads copies nothing; the gradients likewise.
Tensor block_attention(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMask& mask,
                       double scale, Dim first_query, const Dropout* dropout);

// Whether cached_attention() serves: as above, or with keys and values in bf16, and nobody listens or differentiates.
bool cached_attention_serves(const Tensor& query, const AttentionCache& cache, const Tensor& bias);

// The same with keys and values where the cache holds them, at positions 0 to length() − 1. query [R,H,T,K] stands at
// its last T positions if `first_query` says so.
Tensor cached_attention(const Tensor& query, const AttentionCache& cache, const AttentionMask& mask, double scale,
                        Dim first_query);

}  // namespace glass
