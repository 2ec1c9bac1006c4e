#include "kernels/reduce.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce.cc"
#include <hwy/foreach_target.h>
// Highway includes this file once for each target, so what follows must come after.
#include <hwy/highway.h>

#include "kernels/row_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

float row_sum_lanes(const float* in, int64_t n) { return row_sum(in, n); }

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/chunks.h"
#include "kernels/dispatch.h"

namespace glass::kernels {

HWY_EXPORT(row_sum_lanes);

float row_sum(const float* in, int64_t n) { return GLASS_DISPATCH(row_sum_lanes)(in, n); }
double row_sum(const double* in, int64_t n) { return std::accumulate(in, in + n, 0.0); }

namespace {

// Sums in chunks of fixed size and adds those in order, in double: any number of threads gives the same bits.
template <class T, class Term>
double chunked_sum(const std::vector<std::span<const T>>& arrays, Term term) {
  std::vector<int64_t> counts;
  for (const auto& array : arrays) counts.push_back(static_cast<int64_t>(array.size()));
  const std::vector<Chunk> chunks = chunks_of(counts);
  std::vector<double> partial(chunks.size());
  for_each_chunk(chunks, [&](const Chunk& chunk, size_t place) {
    const T* in = arrays[chunk.array].data();
    double sums[8] = {};  // independent sums, so that additions need not wait for each other
    int64_t i = chunk.begin;
    for (; i + 8 <= chunk.end; i += 8) {
      for (int lane = 0; lane < 8; ++lane) sums[lane] += term(in[i + lane]);
    }
    double sum = 0;
    for (; i < chunk.end; ++i) sum += term(in[i]);
    for (const double lane : sums) sum += lane;
    partial[place] = sum;
  });
  double total = 0;
  for (const double part : partial) total += part;
  return total;
}

}  // namespace

namespace {

// out [columns] = Σ over the rows of in [rows,columns], by the calling thread.
template <class T>
void add_rows(const T* in, int64_t rows, int64_t columns, T* out) {
  std::fill(out, out + columns, T{0});
  for (int64_t row = 0; row < rows; ++row, in += columns) {
    for (int64_t i = 0; i < columns; ++i) out[i] += in[i];
  }
}

// The same by all threads: rows in chunks, the chunks' sums added in order.
template <class T>
void add_many_rows(const T* in, int64_t rows, int64_t columns, T* out) {
  constexpr int64_t most_chunks = 16;
  const int64_t worth_sharing = (2 * element_chunk + columns - 1) / columns;
  const int64_t chunk = std::max((rows + most_chunks - 1) / most_chunks, worth_sharing);
  if (rows <= chunk) return add_rows(in, rows, columns, out);
  const int64_t chunks = (rows + chunk - 1) / chunk;
  std::vector<T> partial(static_cast<size_t>(chunks * columns));
  parallel_for(rows, chunk, [&](int64_t begin, int64_t end) {
    add_rows(in + begin * columns, end - begin, columns, partial.data() + begin / chunk * columns);
  });
  add_rows(partial.data(), chunks, columns, out);
}

}  // namespace

template <class T>
void sum_axis(const T* in, int64_t outer, int64_t n, int64_t inner, T* out) {
  const int64_t chunk = std::max<int64_t>(1, element_chunk / std::max<int64_t>(1, n * inner));
  if (outer == 1 && inner == 1) {
    *out = static_cast<T>(chunked_sum<T>({{in, static_cast<size_t>(n)}}, [](T v) { return static_cast<double>(v); }));
  } else if (inner == 1) {
    parallel_for(outer, chunk, [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) out[o] = row_sum(in + o * n, n);
    });
  } else if (outer < 8) {  // too few to share
    for (int64_t o = 0; o < outer && inner > 0; ++o) add_many_rows(in + o * n * inner, n, inner, out + o * inner);
  } else {
    parallel_for(outer, chunk, [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) add_rows(in + o * n * inner, n, inner, out + o * inner);
    });
  }
}

template <class T>
void max_axis(const T* in, int64_t outer, int64_t n, int64_t inner, T* out, int64_t* index) {
  parallel_for(outer * inner, std::max<int64_t>(1, element_chunk / n), [&](int64_t begin, int64_t end) {
    for (int64_t place = begin; place < end; ++place) {
      const T* source = in + place / inner * n * inner + place % inner;
      int64_t best = 0;
      for (int64_t j = 1; j < n && !std::isnan(source[best * inner]); ++j) {
        if (source[j * inner] > source[best * inner] || std::isnan(source[j * inner])) best = j;
      }
      out[place] = source[best * inner];
      index[place] = best;
    }
  });
}

template <class T>
double squared_norm(const std::vector<std::span<const T>>& arrays) {
  return chunked_sum(arrays, [](T v) { return static_cast<double>(v) * static_cast<double>(v); });
}

#define GLASS_INSTANTIATE(T)                                                 \
  template void sum_axis(const T*, int64_t, int64_t, int64_t, T*);           \
  template void max_axis(const T*, int64_t, int64_t, int64_t, T*, int64_t*); \
  template double squared_norm(const std::vector<std::span<const T>>&);
GLASS_INSTANTIATE(float)
GLASS_INSTANTIATE(double)

}  // namespace glass::kernels
#endif
