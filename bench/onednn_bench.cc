// What oneDNN by itself, with threads of its own, makes of the products with weights in one update: a rate to come
// near. The sizes are those of `glassformer bench --case 'train/*-full'` and train/base. Nothing but the products is
// done; a weight in bf16 lies in the order that oneDNN likes best, which in training it would first have to be brought
// into.
#include <algorithm>
#include <dnnl.hpp>
#include <unordered_map>

#include "numbers.h"

namespace glass::bench {
namespace {

using Type = dnnl::memory::data_type;
using Tag = dnnl::memory::format_tag;

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

struct Matrix {
  int64_t rows, columns;
  Type type;
  Tag tag;  // ab row by row, ba column by column, any as oneDNN likes
  dnnl::memory::desc desc() const { return {{rows, columns}, type, tag}; }
};

dnnl::matmul::primitive_desc matmul_desc(const Matrix& a, const Matrix& b, const Matrix& c) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), a.desc(), b.desc(), c.desc()};
#else
  return {dnnl::matmul::desc(a.desc(), b.desc(), c.desc()), engine()};
#endif
}

// One product with its operands, ready to be run.
class Product {
 public:
  Product(const Matrix& a, const Matrix& b, const Matrix& c)
      : flops_(2.0 * static_cast<double>(a.rows * a.columns * b.columns)) {
    const dnnl::matmul::primitive_desc desc = matmul_desc(a, b, c);
    primitive_ = dnnl::matmul(desc);
    arguments_ = {{DNNL_ARG_SRC, filled(desc.src_desc())},
                  {DNNL_ARG_WEIGHTS, filled(desc.weights_desc())},
                  {DNNL_ARG_DST, filled(desc.dst_desc())}};
  }
  void run(dnnl::stream& stream) const { primitive_.execute(stream, arguments_); }
  double flops() const { return flops_; }

 private:
  // 0x3c3c is about 0.01 in bf16, and 0x3c3c3c3c as much in float32: no denormal slows the product down.
  static dnnl::memory filled(const dnnl::memory::desc& desc) {
    dnnl::memory memory(desc, engine());
    auto* bytes = static_cast<unsigned char*>(memory.get_data_handle());
    std::fill(bytes, bytes + desc.get_size(), static_cast<unsigned char>(0x3c));
    return memory;
  }

  double flops_;
  dnnl::matmul primitive_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

// The products of one update, one after another.
class Step {
 public:
  explicit Step(Type type) : type_(type) {}

  // y = x Wᵀ of `count` layers alike, W [out,in], and its derivatives dx = dy W and dW = dyᵀ x.
  void add_linear(int64_t rows, int64_t in, int64_t out, int count) {
    const bool bf16 = type_ == Type::bf16;
    const Matrix x{rows, in, type_, Tag::ab}, dy{rows, out, type_, Tag::ab};
    const Matrix weight_transposed{in, out, type_, bf16 ? Tag::any : Tag::ba};
    const Matrix weight{out, in, type_, bf16 ? Tag::any : Tag::ab}, dy_transposed{out, rows, type_, Tag::ba};
    for (int i = 0; i < count; ++i) {
      products_.emplace_back(x, weight_transposed, Matrix{rows, out, type_, Tag::ab});
      products_.emplace_back(dy, weight, Matrix{rows, in, type_, Tag::ab});
      products_.emplace_back(dy_transposed, x, Matrix{out, in, Type::f32, Tag::ab});
    }
  }
  void run(dnnl::stream& stream) const {
    for (const Product& product : products_) product.run(stream);
    stream.wait();
  }
  double flops() const {
    double sum = 0;
    for (const Product& product : products_) sum += product.flops();
    return sum;
  }

 private:
  Type type_;
  std::vector<Product> products_;
};

// rows, D, F, L; V is 8000. Query, key and value are one product where they read the same rows.
Step translation_step(const benchmark::State& state, Type type) {
  const int64_t rows = state.range(0), d = state.range(1), f = state.range(2), vocabulary = 8000;
  const int layers = static_cast<int>(state.range(3));
  Step step(type);
  step.add_linear(rows, d, 3 * d, 2 * layers);  // self-attention's query, key and value
  step.add_linear(rows, d, d, 4 * layers);      // outputs of three attentions, and cross-attention's query
  step.add_linear(rows, d, 2 * d, layers);      // cross-attention's key and value
  step.add_linear(rows, d, f, 2 * layers);
  step.add_linear(rows, f, d, 2 * layers);
  step.add_linear(rows, d, vocabulary, 1);
  return step;
}

template <Type type>
void onednn_step(benchmark::State& state) {
  const Step step = translation_step(state, type);
  dnnl::stream stream(engine());
  for (auto _ : state) step.run(stream);
  report_flops(state, step.flops());
}

void sizes(benchmark::internal::Benchmark* b) {
  b->Args({1280, 128, 256, 4})->Args({1600, 256, 1024, 3})->Args({1600, 512, 2048, 6});
  b->Unit(benchmark::kMillisecond)->UseRealTime();
}

BENCHMARK_TEMPLATE(onednn_step, Type::f32)->Apply(sizes);
BENCHMARK_TEMPLATE(onednn_step, Type::bf16)->Apply(sizes);

}  // namespace
}  // namespace glass::bench
