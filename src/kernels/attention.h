// Exact attention without the matrix of scores (Rabe & Staats, 2021; Dao et al., 2022). Keys are taken a block at a
// time: each query keeps the largest score so far and the sum of exponentials beside it, and what it has summed up is
// scaled down when a larger score appears. The backward pass makes the weights again from the logarithm of that sum, so
// memory grows with the lengths, not with their product, and blocks that no query may see are never computed.
#pragma once

#include <cstdint>
#include <functional>

#include "glassformer/base/bfloat16.h"

namespace glass::kernels {

// One tensor of all heads: row t of head h of sequence s begins at data + sequence[s] + h·head + t·row, and its
// elements are adjacent. So dense [B,H,T,K], heads not yet moved out of [B,T,H,K], and sequences of different lengths
// one after another are all read where they lie.
template <class T>
struct HeadRows {
  T* data = nullptr;
  const int64_t* sequence = nullptr;
  int64_t head = 0, row = 0;

  T* at(int64_t s, int64_t h, int64_t t) const { return data + sequence[s] + h * head + t * row; }
};

// Scores of queries [query, query + queries), absolute, and keys [key, key + keys) of one head.
struct ScoreRectangle {
  int64_t sequence, head, query, queries, key, keys;
};
// Clears keep[i·keys + j] where query i of the rectangle may not attend to its key j.
using KeepBlock = std::function<void(const ScoreRectangle&, bool* keep)>;

struct AttentionProblem {
  int64_t sequences = 0, heads = 0;
  int64_t width = 0, value_width = 0;  // of a query or key, and of a value
  const int64_t* queries = nullptr;    // of each sequence
  const int64_t* keys = nullptr;       // that may be attended to: what lies behind them is padding
  float scale = 1;                     // of the scores
  bool causal = false;                 // query i sees the keys up to first_query + i
  int64_t first_query = 0;
  const KeepBlock* keep = nullptr;  // a mask of the user's own on top
  double dropout_rate = 0;          // on the weights, drawn as kernels::dropout draws for [sequences, heads, T, S]
  uint64_t dropout_key = 0, first_example = 0;
  bool bf16 = false;  // operands of the products are rounded to it; only where has_bf16_products() is true
};

// out = softmax(query·keyᵀ·scale, over the keys allowed)·value, and log Σ exp(scores) for each query, −∞ where it sees
// no key; its output is zeros then.
void attention(const AttentionProblem& problem, HeadRows<const float> query, HeadRows<const float> key,
               HeadRows<const float> value, HeadRows<float> out, HeadRows<float> log_sum_exp);
// Operands that are rounded already, of a problem in bf16; only where has_bf16_products() is true.
void attention(const AttentionProblem& problem, HeadRows<const bfloat16> query, HeadRows<const bfloat16> key,
               HeadRows<const bfloat16> value, HeadRows<float> out, HeadRows<float> log_sum_exp);

template <class T>
struct AttentionForward {
  HeadRows<const T> query, key, value;
  HeadRows<const float> out, log_sum_exp;
};
struct AttentionGradients {
  HeadRows<float> query, key, value;
};

// Whether the backward pass reads the output; forward.out may be null otherwise.
bool attention_backward_reads_out(const AttentionProblem& problem);

// Writes the three gradients from that of the output; those of keys and values for the first problem.keys[s] rows only.
void attention_backward(const AttentionProblem& problem, const AttentionForward<float>& forward,
                        HeadRows<const float> out_gradient, const AttentionGradients& gradients);
void attention_backward(const AttentionProblem& problem, const AttentionForward<bfloat16>& forward,
                        HeadRows<const float> out_gradient, const AttentionGradients& gradients);

}  // namespace glass::kernels
