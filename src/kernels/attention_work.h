// How attention's work is divided into blocks, and its heads among threads; by the sizes alone.
#pragma once

#include <algorithm>

#include "kernels/attention.h"

namespace glass::kernels {

// A block of scores takes 24 kB, and its operands as much: all of it stays in the second-level cache.
inline constexpr int64_t block_queries = 48, block_keys = 128;

struct AttentionWork {
  int64_t most_queries = 0, most_keys = 0;
  int64_t heads_per_chunk = 1;
};

// `worth_a_chunk`: multiplications.
inline AttentionWork attention_work(const AttentionProblem& p, int64_t worth_a_chunk = 1 << 21) {
  AttentionWork work;
  for (int64_t s = 0; s < p.sequences; ++s) {
    work.most_queries = std::max(work.most_queries, p.queries[s]);
    work.most_keys = std::max(work.most_keys, p.keys[s]);
  }
  const int64_t of_a_head = (work.most_queries + 1) * (work.most_keys + 1) * (p.width + p.value_width + 16);
  work.heads_per_chunk = std::max<int64_t>(1, worth_a_chunk / of_a_head);
  return work;
}

}  // namespace glass::kernels
