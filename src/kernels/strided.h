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

// Where a walk's arrays stand at one index of its outer axes; going on to the next costs an addition for each array.
template <size_t N>
class StridedPosition {
 public:
  StridedPosition(const StridedWalk<N>& walk, int64_t outer_index) : walk_(walk) {
    for (int axis = walk.rank - 2; axis >= 0; --axis) {
      index_[axis] = outer_index % walk.extents[axis];
      outer_index /= walk.extents[axis];
      for (size_t n = 0; n < N; ++n) offsets_[n] += index_[axis] * walk.strides[n][axis];
    }
  }
  void next() {
    for (int axis = walk_.rank - 2; axis >= 0; --axis) {
      for (size_t n = 0; n < N; ++n) offsets_[n] += walk_.strides[n][axis];
      if (++index_[axis] < walk_.extents[axis]) return;
      for (size_t n = 0; n < N; ++n) offsets_[n] -= walk_.strides[n][axis] * walk_.extents[axis];
      index_[axis] = 0;
    }
  }
  const std::array<int64_t, N>& offsets() const { return offsets_; }

 private:
  const StridedWalk<N>& walk_;
  std::array<int64_t, Layout::max_rank> index_{};
  std::array<int64_t, N> offsets_{};
};

// Calls row(offsets, inner_strides, count) for each innermost run; offsets[n] is where array n's run begins.
template <size_t N, class Row>
void for_each_row(const StridedWalk<N>& walk, Row&& row) {
  const int64_t inner = walk.extents[walk.rank - 1];
  std::array<int64_t, N> inner_strides{};
  for (size_t n = 0; n < N; ++n) inner_strides[n] = walk.strides[n][walk.rank - 1];
  int64_t outer = 1;
  for (int axis = 0; axis + 1 < walk.rank; ++axis) outer *= walk.extents[axis];
  if (inner == 0 || outer == 0) return;

  if (outer == 1) {
    const StridedPosition<N> start(walk, 0);
    parallel_for(inner, element_chunk, [&](int64_t begin, int64_t end) {
      std::array<int64_t, N> offsets = start.offsets();
      for (size_t n = 0; n < N; ++n) offsets[n] += begin * inner_strides[n];
      row(offsets, inner_strides, end - begin);
    });
    return;
  }
  parallel_for(outer, std::max<int64_t>(1, element_chunk / inner), [&](int64_t begin, int64_t end) {
    StridedPosition<N> position(walk, begin);
    for (int64_t i = begin; i < end; ++i, position.next()) row(position.offsets(), inner_strides, inner);
  });
}

}  // namespace glass::kernels
