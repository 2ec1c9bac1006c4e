// Several arrays as one sequence of chunks, so that threads share a few large arrays and many small ones alike.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "glassformer/base/threads.h"
#include "kernels/strided.h"

namespace glass::kernels {

// Elements [begin, end) of one of the arrays.
struct Chunk {
  size_t array;
  int64_t begin, end;
};

// By the arrays' sizes alone.
inline std::vector<Chunk> chunks_of(const std::vector<int64_t>& counts) {
  std::vector<Chunk> chunks;
  for (size_t array = 0; array < counts.size(); ++array) {
    for (int64_t begin = 0; begin < counts[array]; begin += element_chunk) {
      chunks.push_back({array, begin, std::min(counts[array], begin + element_chunk)});
    }
  }
  return chunks;
}

// work(chunk, its place in the sequence), by all threads.
template <class Work>
void for_each_chunk(const std::vector<Chunk>& chunks, Work work) {
  parallel_for(static_cast<int64_t>(chunks.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) work(chunks[static_cast<size_t>(i)], static_cast<size_t>(i));
  });
}

}  // namespace glass::kernels
