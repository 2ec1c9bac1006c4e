#include "kernels/gather.h"

#include <algorithm>

#include "kernels/strided.h"

namespace glass::kernels {

template <class T>
void gather_rows(const T* table, int64_t width, const int64_t* ids, int64_t count, T* out) {
  parallel_for(count, std::max<int64_t>(1, element_chunk / std::max<int64_t>(1, width)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) std::copy_n(table + ids[i] * width, width, out + i * width);
               });
}

template <class T>
void scatter_add_rows(const T* rows, int64_t width, const int64_t* ids, int64_t count, T* table) {
  // Shared by columns: two rows may meet in one table row, two columns never do.
  constexpr int64_t columns = 64;
  parallel_for(width, columns, [&](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < count; ++i) {
      T* target = table + ids[i] * width;
      const T* source = rows + i * width;
      for (int64_t j = begin; j < end; ++j) target[j] += source[j];
    }
  });
}

#define GLASS_INSTANTIATE(T)                                                 \
  template void gather_rows(const T*, int64_t, const int64_t*, int64_t, T*); \
  template void scatter_add_rows(const T*, int64_t, const int64_t*, int64_t, T*);
GLASS_INSTANTIATE(float)
GLASS_INSTANTIATE(double)

}  // namespace glass::kernels
