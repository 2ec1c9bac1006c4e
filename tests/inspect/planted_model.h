// A small Transformer as somebody might write their own from the library's parts, and its usual mistakes: each Fault
// changes one line of it.
#pragma once

#include <cmath>

#include "glassformer/autograd/ops.h"
#include "glassformer/autograd/tap.h"
#include "glassformer/base/error.h"
#include "glassformer/inspect/probe.h"
#include "glassformer/nn/stacks.h"

namespace glass::test {

enum class Fault {
  none,
  no_scale,
  scale_twice,
  future_visible,
  padding_visible,
  padding_visible_in_cross,
  mask_reversed,
  mask_over_batch,
  split_without_transpose,
  merge_without_transpose,
  no_embedding_scale,
  no_source_positions,
  no_target_positions,
  no_residual,
  norm_on_stream,     // LN(x) + f(LN(x)), declared Pre-LN
  norm_on_output,     // x + LN(f(x)), declared Pre-LN
  no_norm_on_stream,  // x + f(LN(x)), declared Post-LN
  norm_over_positions,
  norm_over_batch,
  exploding,
  vanishing,
  even_attention,
  sharp_attention,
  detached,
  wide_logits,
  fixed_size,
  no_input,
  parked_head,
};

struct PlantedOptions {
  Fault fault = Fault::none;
  NormScheme norm = NormScheme::pre;
  bool tied = false;
  Dim d_model = 32, heads = 4, d_ff = 64, vocabulary = 23;
  int layers = 2;
};

class PlantedAttention : public ModuleOf<PlantedAttention> {
 public:
  PlantedAttention(Module* parent, std::string name, const PlantedOptions& options)
      : ModuleOf(parent, std::move(name)),
        o(options),
        query(this, "query", o.d_model, o.d_model, true, Initial::third),
        key(this, "key", o.d_model, o.d_model, true, Initial::third),
        value(this, "value", o.d_model, o.d_model, true, Initial::third),
        output(this, "output", o.d_model, o.d_model) {}

  Tensor forward(const Tensor& x, const Tensor& memory, const AttentionMask& mask) const {
    const Tensor q = split(query(x)), k = split(key(memory)), v = split(value(memory));
    tap("query_heads", q);
    tap("key_heads", k);
    tap("value_heads", v);
    const Tensor scores = tap("scores", matmul(q, transpose(k, -2, -1)) * scale());
    const Tensor weights =
        tap("weights", softmax(scores * sharpness(), mask.keep({x.size(0), o.heads, x.size(1), k.size(2), 0})));
    return output(merge(tap("context", matmul(weights, v))));
  }

 private:
  double scale() const {
    const double root = std::sqrt(static_cast<double>(o.d_model / o.heads));
    if (o.fault == Fault::no_scale) return 1;
    if (o.fault == Fault::scale_twice) return 1 / root / root;
    return 1 / root;
  }
  double sharpness() const {
    return o.fault == Fault::even_attention ? 0.01 : o.fault == Fault::sharp_attention ? 200 : 1;
  }
  Tensor split(const Tensor& x) const {
    if (o.fault == Fault::split_without_transpose)
      return reshape(x, {x.size(0), o.heads, x.size(1), x.size(2) / o.heads});
    return split_heads(x, o.heads);
  }
  Tensor merge(const Tensor& x) const {
    if (o.fault == Fault::merge_without_transpose) return reshape(x, {x.size(0), x.size(2), x.size(1) * x.size(3)});
    return merge_heads(x);
  }

  PlantedOptions o;
  Linear query, key, value, output;
};

class PlantedResidual : public Module {
 public:
  PlantedResidual(Module* parent, std::string name, const PlantedOptions& options)
      : Module(parent, std::move(name)), o(options), layer_norm(this, "norm", o.d_model) {}

  template <class SubLayer>
  Tensor operator()(const Tensor& x, SubLayer&& f) const {
    switch (o.fault) {
      case Fault::no_residual:
        return o.norm == NormScheme::pre ? add_to(f(norm(x)) * 0, f(norm(x))) : norm(add_to(f(x) * 0, f(x)));
      case Fault::norm_on_stream:
        return add_to(norm(x), f(norm(x)));
      case Fault::norm_on_output:
        return add_to(x, norm(f(x)));
      case Fault::exploding:
        return add_to(x, f(x) * 12);
      case Fault::vanishing:
        return add_to(x * 0.1, f(x) * 0.1);
      case Fault::no_norm_on_stream:
        return add_to(x, f(norm(x)));
      default:
        return o.norm == NormScheme::pre ? add_to(x, f(norm(x))) : norm(add_to(x, f(x)));
    }
  }

 private:
  Tensor norm(const Tensor& x) const {
    const int axis = o.fault == Fault::norm_over_positions ? 1 : o.fault == Fault::norm_over_batch ? 0 : 2;
    if (axis == 2) return layer_norm(x);
    const Tensor centred = x - mean(x, axis, true);
    return centred / sqrt(mean(centred * centred, axis, true) + 1e-5) * layer_norm.weight + layer_norm.bias;
  }
  Tensor add_to(const Tensor& x, const Tensor& contribution) const {
    const Scope scope(name());
    return tap("stream", x + tap("contribution", contribution));
  }

  PlantedOptions o;
  LayerNorm layer_norm;
};

class PlantedLayer : public ModuleOf<PlantedLayer> {
 public:
  PlantedLayer(Module* parent, std::string name, const PlantedOptions& o, bool reads_memory)
      : ModuleOf(parent, std::move(name)),
        self_attn(this, "self_attn", o),
        self_attn_residual(this, "self_attn_residual", o),
        feed_forward(this, "feed_forward", o.d_model, o.d_ff, Activation::relu, 0.0),
        feed_forward_residual(this, "feed_forward_residual", o) {
    if (!reads_memory) return;
    cross_attn.emplace(this, "cross_attn", o);
    cross_attn_residual.emplace(this, "cross_attn_residual", o);
  }

  Tensor forward(const Tensor& x, const Tensor& memory, const AttentionMask& self, const AttentionMask& cross) const {
    Tensor y = self_attn_residual(x, [&](const Tensor& z) { return self_attn(z, z, self); });
    if (cross_attn) y = (*cross_attn_residual)(y, [&](const Tensor& z) { return (*cross_attn)(z, memory, cross); });
    return feed_forward_residual(y, [&](const Tensor& z) { return feed_forward(z); });
  }

  PlantedAttention self_attn;
  PlantedResidual self_attn_residual;
  std::optional<PlantedAttention> cross_attn;
  std::optional<PlantedResidual> cross_attn_residual;
  FeedForward feed_forward;
  PlantedResidual feed_forward_residual;
};

class PlantedModel : public ModuleOf<PlantedModel> {
 public:
  explicit PlantedModel(const PlantedOptions& options)
      : ModuleOf(nullptr, ""),
        o(options),
        target_embedding(this, "target_embedding", o.vocabulary, o.d_model),
        source_embedding(this, "source_embedding", o.vocabulary, o.d_model),
        positions(this, "positions", o.d_model),
        encoder(this, "encoder"),
        decoder(this, "decoder"),
        final_norm(this, "final_norm", o.d_model),
        output(o.tied ? Linear(this, "output", target_embedding.weight)
                      : Linear(this, "output", o.d_model, o.vocabulary)) {
    for (int i = 0; i < o.layers; ++i) encoder.emplace_back(o, false);
    for (int i = 0; i < o.layers; ++i) decoder.emplace_back(o, true);
    initialize(*this, {}, 1);
  }

  Tensor forward(const Tensor& source, const Tensor& lengths, const Tensor& target) const {
    const bool ignores_input = o.fault == Fault::no_input;
    if (o.fault == Fault::fixed_size && source.size(1) != 9) throw ShapeError("reshape: 9 tokens were expected");
    Tensor memory = embedded("source_input", source_embedding, source, o.fault == Fault::no_source_positions);
    for (const PlantedLayer& layer : encoder) {
      const Scope scope("encoder");
      memory = layer(memory, memory, source_mask(lengths, false), AttentionMask::none());
    }
    if (o.norm == NormScheme::pre) memory = final_norm(memory);
    Tensor y = embedded("target_input", target_embedding, target, o.fault == Fault::no_target_positions);
    for (const PlantedLayer& layer : decoder) {
      const Scope scope("decoder");
      y = layer(y, memory, target_mask(), source_mask(lengths, true));
    }
    if (o.norm == NormScheme::pre && o.fault != Fault::wide_logits) y = final_norm(y);
    if (o.fault == Fault::wide_logits) y = final_norm(y) * 4;
    if (o.fault == Fault::detached) y = y.detach();
    if (ignores_input) y = y * 0;
    return tap("logits", output(y));
  }

  PlantedOptions o;
  TokenEmbedding target_embedding, source_embedding;
  SinusoidalPositions positions;
  ModuleList<PlantedLayer> encoder, decoder;
  LayerNorm final_norm;
  Linear output;

 private:
  Tensor embedded(const char* name, const TokenEmbedding& table, const Tensor& ids, bool without_positions) const {
    const Tensor rows = o.fault == Fault::no_embedding_scale ? embedding(table.weight, ids) : table(ids);
    return tap(name, without_positions ? rows : positions.embed(rows, 0));
  }
  AttentionMask target_mask() const {
    if (o.fault == Fault::future_visible) return AttentionMask::none();
    if (o.fault == Fault::mask_reversed)
      return AttentionMask::where([](Dim, Dim, Dim query, Dim key) { return key > query; });
    return AttentionMask::causal();
  }
  AttentionMask source_mask(const Tensor& lengths, bool is_cross) const {
    if (o.fault == Fault::padding_visible) return AttentionMask::none();
    if (o.fault == Fault::parked_head && !is_cross)
      return AttentionMask::where([](Dim, Dim head, Dim, Dim key) { return head != 2 || key == 0; });
    if (o.fault == Fault::padding_visible_in_cross && is_cross) return AttentionMask::none();
    if (o.fault == Fault::mask_over_batch)
      return AttentionMask::where([lengths](Dim, Dim, Dim query, Dim key) {
        return static_cast<double>(key) < lengths.at({query % lengths.size(0)});
      });
    return AttentionMask::lengths(lengths);
  }
};

inline Probe probe_of(PlantedModel& model) {
  Probe probe;
  probe.module = &model;
  probe.logits = [&model](const ProbeBatch& b) { return model(b.source, b.source_lengths, b.target); };
  probe.source_vocabulary = probe.target_vocabulary = model.o.vocabulary;
  probe.mask_of = usual_mask;
  probe.norm = model.o.norm;
  return probe;
}

}  // namespace glass::test
