// Multi-head attention: the walk of shapes through splitting and merging heads.
#include <cstdio>

#include "glassformer/autograd/tap.h"
#include "glassformer/nn/attention.h"

using namespace glass;

int main() {
  const MultiHeadAttention attention(nullptr, "attention", {/*d_model=*/8, /*heads=*/2});
  Tensor x = Tensor::arange(1 * 3 * 8, DType::f32).reshaped({1, 3, 8});  // [B,T,D]
  x = x * 0.1;

  const Tensor heads = split_heads(x, 2);
  std::printf("x            %s  [B,T,D]\n", x.shape().text().c_str());
  std::printf("split heads  %s  [B,H,T,K]: a reshape to [B,T,H,K], then a transpose\n", heads.shape().text().c_str());
  std::printf("merged       %s  [B,T,D]\n\n", merge_heads(heads).shape().text().c_str());

  // Every intermediate value has a name and can be listened to.
  const ListenToTaps listen([](const std::string& path, const Tensor& value) {
    std::printf("%-24s %s\n", path.c_str(), value.shape().text().c_str());
    if (path.ends_with("weights")) std::printf("%s\n", value.text(2).c_str());
  });
  const Tensor y = attention(x, AttentionMask::none());
  std::printf("output %s\n", y.shape().text().c_str());
  return y.shape() == x.shape() ? 0 : 1;
}
