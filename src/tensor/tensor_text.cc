// Tensors as text, for people.
#include <fmt/format.h>

#include "tensor/tensor_impl.h"

namespace glass {

namespace {

constexpr Dim edge = 4;  // elements shown at each end of a long axis

void append_values(std::string& out, const Tensor& dense, Dim place, int axis, int digits) {
  if (axis == dense.rank()) {
    const double value = dense.data<double>()[place];
    out += digits == 0 ? fmt::format("{:.0f}", value) : fmt::format("{:8.{}f}", value, digits);
    return;
  }
  const Dim extent = dense.size(axis), stride = dense.strides()[axis];
  const bool last = axis + 1 == dense.rank();
  out += '[';
  for (Dim i = 0; i < extent; ++i) {
    if (i > 0) out += last ? ", " : ",\n" + std::string(static_cast<size_t>(axis) + 1, ' ');
    if (extent > 2 * edge && i == edge) {
      out += "…";
      i = extent - edge - 1;
      continue;
    }
    append_values(out, dense, place + i * stride, axis + 1, digits);
  }
  out += ']';
}

}  // namespace

std::string Tensor::text(int digits) const {
  std::string out = fmt::format("{} {}\n", dtype_name(dtype()), shape().text());
  append_values(out, to(DType::f64).contiguous().detach(), 0, 0, is_floating(dtype()) ? digits : 0);
  return out;
}

}  // namespace glass
