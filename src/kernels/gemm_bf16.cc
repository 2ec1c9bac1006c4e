// Products of bf16 matrices. oneDNN's primitives are made for sizes known only when they run: token counts differ from
// batch to batch, and one primitive for each would have to be compiled anew; measured, those for any size are as fast.
#include <array>
#include <dnnl.hpp>
#include <optional>
#include <string>
#include <vector>

#include "glassformer/base/error.h"
#include "glassformer/base/isa.h"
#include "kernels/copy.h"
#include "kernels/dispatch.h"
#include "kernels/gemm.h"
#include "kernels/gemm_tiles.h"

namespace glass::kernels {

namespace {

using dnnl::memory;

constexpr auto bf16 = memory::data_type::bf16;
constexpr auto f32 = memory::data_type::f32;

memory::desc describe(memory::data_type type, int64_t rows, int64_t columns, int64_t leading, bool transposed) {
  return {{rows, columns}, type, transposed ? memory::dims{1, leading} : memory::dims{leading, 1}};
}

dnnl::matmul make_matmul(const dnnl::engine& engine, bool a_transposed, bool b_transposed, bool accumulate) {
  constexpr auto any_size = DNNL_RUNTIME_DIM_VAL;
  const auto a = describe(bf16, any_size, any_size, any_size, a_transposed);
  const auto b = describe(bf16, any_size, any_size, any_size, b_transposed);
  const auto c = describe(f32, any_size, any_size, any_size, false);
  dnnl::primitive_attr attributes;
  if (accumulate) {
    dnnl::post_ops sum;
    sum.append_sum(1.0f);
    attributes.set_post_ops(sum);
  }
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::matmul(dnnl::matmul::primitive_desc(engine, a, b, c, attributes));
#else
  return dnnl::matmul(dnnl::matmul::primitive_desc(dnnl::matmul::desc(a, b, c), attributes, engine));
#endif
}

// One thread's primitives: oneDNN lends each thread one scratchpad, which primitives of another must not use.
class Bf16Products {
 public:
  void multiply(GemmSizes s, Matrix<bfloat16> a, Matrix<bfloat16> b, bool accumulate, float* c, int64_t leading_c) {
    std::optional<dnnl::matmul>& primitive = primitives_[a.transposed * 4u + b.transposed * 2u + accumulate];
    if (!primitive) primitive = make_matmul(engine_, a.transposed, b.transposed, accumulate);
    // execute() takes inputs as it takes outputs, by pointers to what may change.
    memory from_a(describe(bf16, s.m, s.k, a.leading, a.transposed), engine_, const_cast<bfloat16*>(a.data));
    memory from_b(describe(bf16, s.k, s.n, b.leading, b.transposed), engine_, const_cast<bfloat16*>(b.data));
    memory to_c(describe(f32, s.m, s.n, leading_c, false), engine_, c);
    primitive->execute(stream_, {{DNNL_ARG_SRC, from_a}, {DNNL_ARG_WEIGHTS, from_b}, {DNNL_ARG_DST, to_c}});
    stream_.wait();
  }

 private:
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::array<std::optional<dnnl::matmul>, 8> primitives_;
};

void multiply(GemmSizes s, Matrix<bfloat16> a, Matrix<bfloat16> b, bool accumulate, float* c, int64_t leading_c) {
  thread_local Bf16Products products;
  try {
    products.multiply(s, a, b, accumulate, c, leading_c);
  } catch (const dnnl::error& failure) {
    throw SystemError(std::string("matrix product of bf16: oneDNN: ") + failure.what());
  }
}

struct Widened {
  std::vector<float> values;
  Matrix<float> matrix;
};

// The stored matrix, `rows` by `columns`, as dense float32.
Widened widen(Matrix<bfloat16> from, int64_t rows, int64_t columns) {
  if (from.transposed) std::swap(rows, columns);
  Widened wide{std::vector<float>(static_cast<size_t>(rows * columns)), {}};
  copy(from.data, Layout{2, {rows, columns}, {from.leading, 1}}, wide.values.data(),
       Layout{2, {rows, columns}, {columns, 1}});
  wide.matrix = {wide.values.data(), std::max<int64_t>(1, columns), from.transposed};
  return wide;
}

}  // namespace

void gemm(GemmSizes sizes, Matrix<bfloat16> a, Matrix<bfloat16> b, float beta, float* c, int64_t leading_c) {
  apply_isa();
  if (!has_bf16_products() || sizes.k == 0) {
    const Widened wide_a = widen(a, sizes.m, sizes.k), wide_b = widen(b, sizes.k, sizes.n);
    gemm(sizes, 1.0f, wide_a.matrix, wide_b.matrix, beta, c, leading_c);
    return;
  }
  for_each_tile(sizes, a, b, c, leading_c, [&](GemmSizes s, auto tile_a, auto tile_b, float* tile_c) {
    multiply(s, tile_a, tile_b, beta != 0, tile_c, leading_c);
  });
}

}  // namespace glass::kernels
