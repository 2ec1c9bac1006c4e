#include "kernels/reduce.h"

#include <cmath>
#include <vector>

#include "kernels/strided.h"

namespace glass::kernels {

namespace {

// Sums in chunks of fixed size and adds those in order, in double: any number of threads gives the same bits.
template <class T, class Term>
double chunked_sum(const T* in, int64_t count, Term term) {
  const int64_t chunks = (count + element_chunk - 1) / element_chunk;
  std::vector<double> partial(static_cast<size_t>(chunks));
  parallel_for(count, element_chunk, [&](int64_t begin, int64_t end) {
    double sums[8] = {};  // independent sums, so that additions need not wait for each other
    int64_t i = begin;
    for (; i + 8 <= end; i += 8) {
      for (int lane = 0; lane < 8; ++lane) sums[lane] += term(in[i + lane]);
    }
    double sum = 0;
    for (; i < end; ++i) sum += term(in[i]);
    for (const double lane : sums) sum += lane;
    partial[static_cast<size_t>(begin / element_chunk)] = sum;
  });
  double total = 0;
  for (const double part : partial) total += part;
  return total;
}

}  // namespace

template <class T>
void sum_axis(const T* in, int64_t outer, int64_t n, int64_t inner, T* out) {
  if (outer == 1 && inner == 1) {
    *out = static_cast<T>(chunked_sum(in, n, [](T v) { return static_cast<double>(v); }));
    return;
  }
  parallel_for(outer, std::max<int64_t>(1, element_chunk / std::max<int64_t>(1, n * inner)), [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      T* target = out + o * inner;
      std::fill(target, target + inner, T{0});
      for (int64_t j = 0; j < n; ++j) {
        const T* source = in + (o * n + j) * inner;
        for (int64_t i = 0; i < inner; ++i) target[i] += source[i];
      }
    }
  });
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
double squared_norm(const T* in, int64_t count) {
  return chunked_sum(in, count, [](T v) { return static_cast<double>(v) * static_cast<double>(v); });
}

#define GLASS_INSTANTIATE(T)                                                  \
  template void sum_axis(const T*, int64_t, int64_t, int64_t, T*);            \
  template void max_axis(const T*, int64_t, int64_t, int64_t, T*, int64_t*);  \
  template double squared_norm(const T*, int64_t);
GLASS_INSTANTIATE(float)
GLASS_INSTANTIATE(double)

}  // namespace glass::kernels
