// An encoder layer and a decoder layer, and what is inside of them.
#include <cstdio>

#include "glassformer/nn/stacks.h"

using namespace glass;

static void print_tree(const Module& module, int depth) {
  Dim own = 0;
  for (const NamedParameter& parameter : module.own_parameters()) own += parameter.tensor.numel();
  std::printf("%*s%s (%s)", 2 * depth, "", module.name().c_str(), module.kind());
  own > 0 ? std::printf(" %ld parameters\n", own) : std::printf("\n");
  for (const Module* child : module.children()) print_tree(*child, depth + 1);
}

int main() {
  StackOptions options;
  options.d_model = 16;
  options.heads = 4;
  options.d_ff = 64;
  options.norm = NormScheme::pre;
  const EncoderLayer encoder_layer(nullptr, "encoder_layer", options);
  const DecoderLayer decoder_layer(nullptr, "decoder_layer", options);
  print_tree(encoder_layer, 0);
  print_tree(decoder_layer, 0);

  const Tensor source = Tensor::full({2, 7, 16}, 0.1), target = Tensor::full({2, 5, 16}, 0.2);  // [B,S,D], [B,T,D]
  const Tensor memory = encoder_layer(source, AttentionMask::none());
  // The lengths need not agree: queries come from the target, keys and values from the memory.
  const Tensor out = decoder_layer(target, memory, AttentionMask::none(), AttentionMask::none());
  std::printf("memory %s, target %s -> %s\n", memory.shape().text().c_str(), target.shape().text().c_str(),
              out.shape().text().c_str());
  return out.shape() == target.shape() ? 0 : 1;
}
