// What the forward and the backward pass of attention share, once for each of Highway's targets: included inside
// HWY_NAMESPACE files only.
#if defined(GLASS_ATTENTION_LANES_H) == defined(HWY_TARGET_TOGGLE)
#ifdef GLASS_ATTENTION_LANES_H
#undef GLASS_ATTENTION_LANES_H
#else
#define GLASS_ATTENTION_LANES_H
#endif

#include <hwy/aligned_allocator.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/attention.h"
#include "kernels/attention_work.h"
#include "kernels/block_product.h"
#include "kernels/dropout_lanes.h"
#include "kernels/pair_product.h"
#include "kernels/softmax_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3
using Bf16Numbers = Bf16Pairs;
#else
using Bf16Numbers = Float32;  // of processors without bf16 products, which are not asked for them
#endif

using BlockMemory = hwy::AlignedFreeUniquePtr<float[]>;
inline BlockMemory block_memory(int64_t count) {
  return hwy::AllocateAligned<float>(static_cast<size_t>(std::max<int64_t>(1, count)));
}

// One head of one sequence.
struct HeadPlace {
  int64_t sequence, head;
};

// Queries [query, query + queries) of a head, counted from its first row, against keys [key, key + keys).
struct Block {
  int64_t query, queries, key, keys;
};

// How many keys of the block query row i of it may see, before the user's own mask.
HWY_INLINE int64_t visible_keys(const AttentionProblem& p, const Block& b, int64_t i) {
  if (!p.causal) return b.keys;
  return std::clamp<int64_t>(p.first_query + b.query + i + 1 - b.key, 0, b.keys);
}

// The keys that any query of rows [query, query + queries) may see.
HWY_INLINE int64_t keys_seen(const AttentionProblem& p, int64_t sequence, int64_t query, int64_t queries) {
  const int64_t keys = p.keys[sequence];
  return p.causal ? std::clamp<int64_t>(p.first_query + query + queries, 0, keys) : keys;
}

// Scores that the user's own mask takes out become −∞.
HWY_INLINE void apply_keep(const AttentionProblem& p, HeadPlace at, const Block& b, float* scores) {
  bool keep[block_queries * block_keys];
  std::fill_n(keep, b.queries * b.keys, true);
  (*p.keep)({at.sequence, at.head, p.first_query + b.query, b.queries, b.key, b.keys}, keep);
  for (int64_t i = 0; i < b.queries; ++i) {
    float* row = scores + i * block_keys;
    mask_row(row, b.keys, keep + i * b.keys, -std::numeric_limits<float>::infinity(), row);
  }
}

// A row of a block, whole vectors long, times its dropout's factors.
HWY_INLINE void multiply_row(float* row, const float* factors, int64_t n) {
  const BlockTag d;
  for (int64_t j = 0; j < n; j += lanes_of_block()) {
    hn::StoreU(hn::Mul(hn::LoadU(d, row + j), hn::LoadU(d, factors + j)), d, row + j);
  }
}

// Which weights of the block are dropped (0), and the scale of the others; rows block_keys apart.
HWY_INLINE void weight_dropout(const AttentionProblem& p, HeadPlace at, const Block& b, float* factors) {
  DropoutDraws draws = dropout_draws(p.dropout_key, p.dropout_rate);
  draws.c0 = static_cast<uint32_t>(p.first_example + static_cast<uint64_t>(at.sequence));
  draws.c1 = static_cast<uint32_t>(at.head);
  draws.c2 = static_cast<uint32_t>(b.query);
  dropout_factors(draws, b.queries, b.key / 4, (b.keys + 3) / 4, factors, block_keys);
}

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
