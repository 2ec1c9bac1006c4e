#include <fmt/format.h>

#include <algorithm>

#include "bench_cases.h"
#include "bench_flops.h"
#include "glassformer/autograd/precision.h"
#include "glassformer/base/random.h"
#include "glassformer/nn/attention.h"

namespace glass::program {

namespace {

constexpr Dim heads = 8, width = 64, tokens = 4096;

Tensor random_tensor(const Shape& shape, Random& random) {
  std::vector<float> values(static_cast<size_t>(shape.numel()));
  for (float& value : values) value = random.normal();
  return Tensor::from(values, shape);
}

struct AttentionPass {
  Tensor query, key, value, output_grad;  // [B,H,T,K]
  AttentionMask mask;
  Precision precision;

  AttentionPass(const Shape& shape, AttentionMask attention_mask, Precision numbers)
      : mask(std::move(attention_mask)), precision(numbers) {
    Random random(1);
    for (Tensor* input : {&query, &key, &value}) *input = random_tensor(shape, random).set_requires_grad(true);
    output_grad = random_tensor(shape, random);
  }
  void run() {
    const PrecisionScope multiply_in(precision);
    backward(scaled_dot_product_attention(query, key, value, mask, AttentionScale().factor(width)), output_grad);
    for (Tensor* input : {&query, &key, &value}) input->set_grad({});
  }
};

struct MaskCase {
  const char* name;
  AttentionMask mask;
};

// A function of one's own takes out a seventh of the cells; their products are made all the same.
std::vector<MaskCase> mask_cases() {
  return {{"full", AttentionMask::none()},
          {"causal", AttentionMask::causal()},
          {"function", AttentionMask::where([](Dim, Dim, Dim query, Dim key) { return (query + key) % 7 != 0; })}};
}

PreparedCase prepare(Dim length, const AttentionMask& mask, Precision precision) {
  const Dim batch = std::max<Dim>(1, tokens / length);
  const auto pass = std::make_shared<AttentionPass>(Shape{batch, heads, length, width}, mask, precision);
  const auto t = static_cast<double>(length);
  const double pairs = static_cast<double>(batch) * (mask.is_causal() ? t * (t + 1) / 2 : t * t);
  // Both products have two derivatives each, as products with weights have.
  const double flops = products_in_training * attention_flops(heads * width, pairs);
  return {[pass] { pass->run(); }, batch * length, flops, name_of(precision), {}};
}

}  // namespace

void add_attention_cases(std::vector<BenchCase>& cases, Dim longest) {
  for (const Dim length : {128, 512, 2048, 4096, 16384}) {
    if (length > longest) break;
    for (const MaskCase& c : mask_cases()) {
      cases.push_back({fmt::format("attention/{}/{}", c.name, length),
                       fmt::format("forward and backward of attention, mask: {}; {} x {} tokens, H 8, K 64", c.name,
                                   std::max<Dim>(1, tokens / length), length),
                       [=](const BenchSettings& settings) { return prepare(length, c.mask, settings.precision); }});
    }
  }
}

}  // namespace glass::program
