#include "glassformer/nn/stacks.h"

namespace glass {

namespace {

AttentionOptions attention_options(const StackOptions& o) { return {o.d_model, o.heads, o.dropout.attention, o.scale}; }

}  // namespace

EncoderLayer::EncoderLayer(Module* parent, std::string name, const StackOptions& o)
    : ModuleOf(parent, std::move(name)),
      self_attn(this, "self_attn", attention_options(o)),
      self_attn_residual(this, "self_attn_residual", o.d_model, o.norm, o.dropout.residual),
      feed_forward(this, "feed_forward", o.d_model, o.d_ff, o.activation, o.dropout.feed_forward),
      feed_forward_residual(this, "feed_forward_residual", o.d_model, o.norm, o.dropout.residual) {}

Tensor EncoderLayer::forward(const Tensor& x, const AttentionMask& mask, const PositionScheme* positions) const {
  const AttentionContext context{positions, nullptr};
  const Tensor attended = self_attn_residual(x, [&](const Tensor& y) { return self_attn(y, mask, context); });
  return feed_forward_residual(attended, [&](const Tensor& y) { return feed_forward(y); });
}

Encoder::Encoder(Module* parent, std::string name, const StackOptions& o)
    : ModuleOf(parent, std::move(name)), layers(this, "layers") {
  for (int i = 0; i < o.layers; ++i) layers.emplace_back(o);
  if (o.final_norm) norm.emplace(this, "norm", o.d_model);
}

Tensor Encoder::forward(const Tensor& x, const AttentionMask& mask, const PositionScheme* positions) const {
  Tensor y = x;
  for (const EncoderLayer& layer : layers) {
    const Scope scope(layers.name());
    y = layer(y, mask, positions);
  }
  return norm ? (*norm)(y) : y;
}

DecoderLayer::DecoderLayer(Module* parent, std::string name, const StackOptions& o)
    : ModuleOf(parent, std::move(name)),
      self_attn(this, "self_attn", attention_options(o)),
      self_attn_residual(this, "self_attn_residual", o.d_model, o.norm, o.dropout.residual),
      cross_attn(this, "cross_attn", attention_options(o)),
      cross_attn_residual(this, "cross_attn_residual", o.d_model, o.norm, o.dropout.residual),
      feed_forward(this, "feed_forward", o.d_model, o.d_ff, o.activation, o.dropout.feed_forward),
      feed_forward_residual(this, "feed_forward_residual", o.d_model, o.norm, o.dropout.residual) {}

Tensor DecoderLayer::forward(const Tensor& x, const Tensor& memory, const AttentionMask& self_mask,
                             const AttentionMask& memory_mask, const PositionScheme* positions,
                             DecoderLayerCache* cache) const {
  const AttentionContext self{positions, cache != nullptr ? &cache->self_attn : nullptr};
  const AttentionContext cross{nullptr, cache != nullptr ? &cache->cross_attn : nullptr};
  const AttentionMask causal = self_mask & AttentionMask::causal();
  Tensor y = self_attn_residual(x, [&](const Tensor& z) { return self_attn(z, causal, self); });
  y = cross_attn_residual(y, [&](const Tensor& z) { return cross_attn(z, memory, memory_mask, cross); });
  return feed_forward_residual(y, [&](const Tensor& z) { return feed_forward(z); });
}

void DecoderCache::select(const std::vector<int64_t>& rows) {
  for (DecoderLayerCache& layer : layers) {
    layer.self_attn.select(rows);
    layer.cross_attn.select(rows);
  }
}

Decoder::Decoder(Module* parent, std::string name, const StackOptions& o)
    : ModuleOf(parent, std::move(name)), layers(this, "layers") {
  for (int i = 0; i < o.layers; ++i) layers.emplace_back(o);
  if (o.final_norm) norm.emplace(this, "norm", o.d_model);
}

Tensor Decoder::forward(const Tensor& x, const Tensor& memory, const AttentionMask& self_mask,
                        const AttentionMask& memory_mask, const PositionScheme* positions, DecoderCache* cache) const {
  if (cache != nullptr) cache->layers.resize(layers.size());
  const Tensor read = rounded_for_products(memory);  // by the keys and values of every layer
  Tensor y = x;
  for (size_t i = 0; i < layers.size(); ++i) {
    const Scope scope(layers.name());
    y = layers[i](y, read, self_mask, memory_mask, positions, cache != nullptr ? &cache->layers[i] : nullptr);
  }
  return norm ? (*norm)(y) : y;
}

}  // namespace glass
