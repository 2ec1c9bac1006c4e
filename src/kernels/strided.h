// Walking several strided arrays of the same extents at once.
#pragma once

#include <algorithm>
#include <array>

#include "glassformer/base/threads.h"
#include "kernels/copy.h"

namespace glass::kernels {

// Elements per chunk of parallel_for: enough that handing a chunk out costs nothing beside it.
inline constexpr int64_t element_chunk = 16384;

template <size_t N>
struct StridedWalk {
  int rank = 0;
  std::array<int64_t, Layout::max_rank> extents{};
  std::array<std::array<int64_t, Layout::max_rank>, N> strides{};
};

// Drops axes of extent 1 and merges neighbours that are one run in every array, so that the inner loop is long.
template <size_t N>
StridedWalk<N> merge_axes(const std::array<const Layout*, N>& layouts) {
  StridedWalk<N> walk;
  const Layout& first = *layouts[0];
  for (int axis = 0; axis < first.rank; ++axis) {
    const int64_t extent = first.extents[axis];
    if (extent == 1) continue;
    bool merges = walk.rank > 0;
    for (size_t n = 0; n < N && merges; ++n) {
      merges = walk.strides[n][walk.rank - 1] == layouts[n]->strides[axis] * extent;
    }
    if (!merges) ++walk.rank;
    walk.extents[walk.rank - 1] = merges ? walk.extents[walk.rank - 1] * extent : extent;
    for (size_t n = 0; n < N; ++n) walk.strides[n][walk.rank - 1] = layouts[n]->strides[axis];
  }
  if (walk.rank == 0) {
    walk.rank = 1;
    walk.extents[0] = 1;
    for (size_t n = 0; n < N; ++n) walk.strides[n][0] = 1;
  }
  return walk;
}

// Calls row(offsets, inner_strides, count) for each innermost run; offsets[n] is where array n's run begins.
template <size_t N, class Row>
void for_each_row(const StridedWalk<N>& walk, Row&& row) {
  const int64_t inner = walk.extents[walk.rank - 1];
  std::array<int64_t, N> inner_strides{};
  for (size_t n = 0; n < N; ++n) inner_strides[n] = walk.strides[n][walk.rank - 1];
  int64_t outer = 1;
  for (int axis = 0; axis + 1 < walk.rank; ++axis) outer *= walk.extents[axis];
  if (inner == 0 || outer == 0) return;

  auto run = [&](int64_t begin, int64_t end, int64_t from, int64_t count) {
    for (int64_t i = begin; i < end; ++i) {
      std::array<int64_t, N> offsets{};
      int64_t rest = i;
      for (int axis = walk.rank - 2; axis >= 0; --axis) {
        const int64_t index = rest % walk.extents[axis];
        rest /= walk.extents[axis];
        for (size_t n = 0; n < N; ++n) offsets[n] += index * walk.strides[n][axis];
      }
      for (size_t n = 0; n < N; ++n) offsets[n] += from * inner_strides[n];
      row(offsets, inner_strides, count);
    }
  };
  if (outer == 1) {
    parallel_for(inner, element_chunk, [&](int64_t begin, int64_t end) { run(0, 1, begin, end - begin); });
  } else {
    parallel_for(outer, std::max<int64_t>(1, element_chunk / inner),
                 [&](int64_t begin, int64_t end) { run(begin, end, 0, inner); });
  }
}

}  // namespace glass::kernels
