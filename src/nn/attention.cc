#include "glassformer/nn/attention.h"

#include <cmath>

#include "glassformer/autograd/tap.h"
#include "glassformer/base/error.h"
#include "nn/block_attention.h"

namespace glass {

double AttentionScale::factor(Dim head_width) const {
  return factor_.value_or(1.0 / std::sqrt(static_cast<double>(head_width)));
}

namespace {

void check_attention(const Tensor& query, const Tensor& key, const Tensor& value) {
  const bool four_axes = query.rank() == 4 && key.rank() == 4 && value.rank() == 4;
  if (four_axes && query.size(0) == key.size(0) && key.size(0) == value.size(0) && query.size(1) == key.size(1) &&
      key.size(1) == value.size(1) && query.size(3) == key.size(3) && key.size(2) == value.size(2)) {
    return;
  }
  throw ShapeError("attention: query " + query.shape().text() + ", key " + key.shape().text() + ", value " +
                   value.shape().text() +
                   "; they are [B,H,T,K], [B,H,S,K] and [B,H,S,Kv], key and value of one length S");
}

// Step 2: query·keyᵀ·scale + bias. [B,H,T,S]
Tensor attention_scores(const Tensor& query, const Tensor& key, double scale, const Tensor& bias) {
  const Tensor scores = matmul(query * scale, transpose(key, -2, -1));
  return bias.defined() ? scores + bias : scores;
}

ScoreExtent extent_of(const Tensor& query, const Tensor& key, Dim first_query) {
  return {query.size(0), query.size(1), query.size(2), key.size(2), first_query};
}

}  // namespace

namespace plain {

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionMask& mask, double scale, Dim first_query, const Tensor& bias,
                                    const Dropout* dropout) {
  check_attention(query, key, value);
  const Tensor scores = tap("scores", attention_scores(query, key, scale, bias));                   // [B,H,T,S]
  Tensor weights = tap("weights", softmax(scores, mask.keep(extent_of(query, key, first_query))));  // [B,H,T,S]
  if (dropout != nullptr) weights = (*dropout)(weights);
  return tap("context", matmul(weights, value));  // [B,H,T,Kv]
}

}  // namespace plain

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionMask& mask, double scale, Dim first_query, const Tensor& bias,
                                    const Dropout* dropout) {
  check_attention(query, key, value);
  if (!block_attention_serves(query, key, value, bias)) {
    return plain::scaled_dot_product_attention(query, key, value, mask, scale, first_query, bias, dropout);
  }
  if (listening_to_taps()) {  // the blocks never form these
    const NoGrad values_only;
    const Tensor scores = tap("scores", attention_scores(query, key, scale, {}));
    tap("weights", softmax(scores, mask.keep(extent_of(query, key, first_query))));
  }
  return tap("context", block_attention(query, key, value, mask, scale, first_query, dropout));
}

Tensor split_heads(const Tensor& x, Dim heads) {
  const Tensor by_head = reshape(x, {x.size(0), x.size(1), heads, x.size(2) / heads});  // [B,T,H,K]
  return transpose(by_head, 1, 2);                                                      // [B,H,T,K]
}

Tensor merge_heads(const Tensor& x) {
  return reshape(transpose(x, 1, 2), {x.size(0), x.size(2), x.size(1) * x.size(3)});  // [B,T,D]
}

namespace {

Dim checked_heads(const AttentionOptions& options) {
  if (options.heads < 1 || options.d_model < 1 || options.d_model % options.heads != 0) {
    throw ShapeError("multi-head attention: d_model " + std::to_string(options.d_model) +
                     " is not divisible by heads " + std::to_string(options.heads) +
                     "; each head has d_model/heads columns");
  }
  return options.heads;
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(Module* parent, std::string name, const AttentionOptions& options)
    : ModuleOf(parent, std::move(name)),
      heads(checked_heads(options)),
      scale(options.scale),
      query(this, "query", options.d_model, options.d_model, true, Initial::third),
      key(this, "key", options.d_model, options.d_model, true, Initial::third),
      value(this, "value", options.d_model, options.d_model, true, Initial::third),
      output(this, "output", options.d_model, options.d_model),
      dropout(this, "dropout", options.dropout) {}

Tensor MultiHeadAttention::forward(const Tensor& x, const AttentionMask& mask, const AttentionContext& context) const {
  const Dim first = context.cache != nullptr ? context.cache->length() : 0;
  const Tensor input = rounded_for_products(x);       // [B,T,D]
  Tensor q = split_heads(query(input), heads);        // [B,H,T,K]
  Tensor k = split_heads(key(input), heads);          // [B,H,T,K]
  const Tensor v = split_heads(value(input), heads);  // [B,H,T,K]
  Tensor bias;
  if (context.positions != nullptr) {
    const QueryKey rotated = context.positions->rotate({q, k}, first);
    q = rotated.query;
    k = rotated.key;
    bias = context.positions->score_bias({x.size(0), heads, x.size(1), first + x.size(1), first});
  }
  if (context.cache != nullptr) {
    keep(k, v, *context.cache);
    return attend(q, *context.cache, mask, first, bias);
  }
  return attend(q, k, v, mask, first, bias);
}

Tensor MultiHeadAttention::forward(const Tensor& x, const Tensor& memory, const AttentionMask& mask,
                                   const AttentionContext& context) const {
  const Tensor q = split_heads(query(x), heads);  // [B,H,T,K]
  if (context.cache == nullptr || context.cache->is_empty()) {
    const Tensor k = split_heads(key(memory), heads);    // [B,H,S,K]
    const Tensor v = split_heads(value(memory), heads);  // [B,H,S,K]
    if (context.cache == nullptr) return attend(q, k, v, mask, 0, {});
    keep(k, v, *context.cache);
  }
  return attend(q, *context.cache, mask, 0, {});
}

// Weights rounded to eight bits have no use for keys exact to 24.
void MultiHeadAttention::keep(const Tensor& k, const Tensor& v, AttentionCache& cache) const {
  const DType type = key.compacted ? DType::bf16 : k.dtype();
  cache.append(k.to(type), v.to(type));
}

Tensor MultiHeadAttention::attend(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionMask& mask,
                                  Dim first_query, const Tensor& bias) const {
  tap("query_heads", q);
  tap("key_heads", k);
  tap("value_heads", v);
  const Tensor attended = scaled_dot_product_attention(q, k, v, mask, scale.factor(q.size(3)), first_query, bias,
                                                       &dropout);  // [B,H,T,K]
  return output(merge_heads(attended));                            // [B,T,D]
}

Tensor MultiHeadAttention::attend(const Tensor& q, const AttentionCache& cache, const AttentionMask& mask,
                                  Dim first_query, const Tensor& bias) const {
  if (dropout.is_training() || !cached_attention_serves(q, cache, bias)) {
    return attend(q, cache.key(), cache.value(), mask, first_query, bias);
  }
  return output(merge_heads(cached_attention(q, cache, mask, scale.factor(q.size(3)), first_query)));  // [B,T,D]
}

}  // namespace glass
