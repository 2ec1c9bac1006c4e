#include "nn/block_attention.h"

#include <cmath>
#include <type_traits>
#include <utility>

#include "autograd/op_support.h"
#include "glassformer/autograd/precision.h"
#include "glassformer/autograd/tap.h"
#include "glassformer/base/isa.h"
#include "kernels/attention.h"
#include "kernels/attention_rows.h"

namespace glass {

namespace {

// [B,H,T,K] whose memory is [B,T,H,K].
Tensor heads_within_rows(Dim batch, Dim heads, Dim rows, Dim width) {
  return Tensor::empty({batch, rows, heads, width}).transposed(1, 2);
}

Tensor with_adjacent_elements(const Tensor& x) {
  return x.strides()[3] == 1 || x.size(3) == 1 ? x.detach() : x.contiguous();
}

// Where each sequence and head of a [B,H,T,K] lies, or of a [1,H,N,K] whose sequences begin at `first_rows`.
template <class T>
class HeadsOf {
 public:
  HeadsOf() = default;  // of none
  HeadsOf(std::conditional_t<std::is_const_v<T>, const Tensor, Tensor>& x, const std::vector<int64_t>& first_rows)
      : data_(x.template data<std::remove_const_t<T>>()), head_(x.strides()[1]), row_(x.strides()[2]) {
    for (const int64_t row : first_rows) offsets_.push_back(row * row_);
    for (Dim b = 0; b < x.size(0) && first_rows.empty(); ++b) offsets_.push_back(b * x.strides()[0]);
  }
  // Of a [P,H,C,K], the sequences at these places.
  static HeadsOf at_places(const Tensor& x, const std::vector<int64_t>& places) {
    HeadsOf heads(x, {0});
    heads.offsets_.clear();
    for (const int64_t place : places) heads.offsets_.push_back(place * x.strides()[0]);
    return heads;
  }
  operator kernels::HeadRows<T>() const { return {data_, offsets_.data(), head_, row_}; }

 private:
  T* data_ = nullptr;
  std::vector<int64_t> offsets_;
  int64_t head_ = 0, row_ = 0;
};

// The problem, and what it points to.
struct Call {
  std::vector<int64_t> queries, keys;
  std::vector<int64_t> first_queries, first_keys;  // of packed sequences; empty for a batch
  kernels::KeepBlock keep;
  kernels::AttentionProblem problem;

  kernels::AttentionProblem pointing_here() const {
    kernels::AttentionProblem p = problem;
    p.queries = queries.data();
    p.keys = keys.data();
    p.keep = keep ? &keep : nullptr;
    return p;
  }
};

Call make_call(const ScoreExtent& extent, Dim width, Dim value_width, const AttentionMask& mask, double scale,
               const Dropout* dropout) {
  Call call;
  if (mask.packed()) {
    mask.check_packed(extent);
    const Packing &queries = mask.packed()->queries, &keys = mask.packed()->keys;
    call = {queries.lengths(), keys.lengths(), queries.begins(), keys.begins(), nullptr, {}};
  } else {
    call.queries.assign(static_cast<size_t>(extent.batch), extent.queries);
    call.keys = mask.unpadded_keys(extent);
  }
  kernels::AttentionProblem& p = call.problem;
  p.sequences = static_cast<int64_t>(call.queries.size());
  p.heads = extent.heads;
  p.width = width;
  p.value_width = value_width;
  p.scale = static_cast<float>(scale);
  p.bf16 = precision() == Precision::bf16 && has_bf16_products();
  p.causal = mask.is_causal();
  p.first_query = extent.first_query;
  if (mask.has_functions()) {
    call.keep = [mask](const kernels::ScoreRectangle& at, bool* keep) {
      mask.apply_functions({at.sequence, at.head, at.query, at.queries, at.key, at.keys}, keep);
    };
  }
  if (dropout != nullptr && dropout->is_training() && dropout->rate > 0) {
    const Scope scope(dropout->name());
    const DropoutKey drawn = dropout_key();
    p.dropout_rate = dropout->rate;
    p.dropout_key = drawn.key;
    p.first_example = drawn.first_example;
  }
  return call;
}

// Of keys behind which there is padding the rest is zero.
Tensor key_gradient(const Tensor& of, const Call& call) {
  Tensor gradient = heads_within_rows(of.size(0), of.size(1), of.size(2), of.size(3));
  for (Dim b = 0; b < of.size(0) && call.first_keys.empty(); ++b) {
    const Dim filled = call.keys[static_cast<size_t>(b)];
    if (filled < of.size(2)) gradient.narrowed(0, b, b + 1).narrowed(2, filled, of.size(2)).fill(0);
  }
  return gradient;
}

}  // namespace

bool block_attention_serves(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& bias) {
  const bool f32 = query.dtype() == DType::f32 && key.dtype() == DType::f32 && value.dtype() == DType::f32;
  return f32 && !bias.defined() && query.numel() > 0 && key.numel() > 0 && value.numel() > 0;
}

namespace {

// As kernels read it: elements of a row adjacent, and of type T.
template <class T>
Tensor operand(const Tensor& x) {
  if constexpr (std::is_same_v<T, float>) return with_adjacent_elements(x);
  return x.detach().transposed(1, 2).to(DType::bf16).transposed(1, 2);  // most lie as [B,T,H,K]
}

// Whether a product in bf16 has the same operands if they are rounded before one of them is scaled.
bool rounds_alike_unscaled(const kernels::AttentionProblem& problem) {
  int exponent = 0;
  return problem.bf16 && std::frexp(problem.scale, &exponent) == 0.5f;
}

template <class T>
Tensor attend(const Call& call, const Tensor& query, const Tensor& key, const Tensor& value) {
  const Tensor q = operand<T>(query), k = operand<T>(key), v = operand<T>(value);
  Tensor out = heads_within_rows(q.size(0), q.size(1), q.size(2), v.size(3));
  Tensor log_sum_exp = Tensor::empty({q.size(0), q.size(1), q.size(2), 1});
  kernels::attention(call.pointing_here(), HeadsOf<const T>(q, call.first_queries),
                     HeadsOf<const T>(k, call.first_keys), HeadsOf<const T>(v, call.first_keys),
                     HeadsOf<float>(out, call.first_queries), HeadsOf<float>(log_sum_exp, call.first_queries));
  if (!needs_grad({query, key, value})) return record("attention", out, {query, key, value}, {});
  const bool reads_out = kernels::attention_backward_reads_out(call.pointing_here());
  return record(
      "attention", out, {query, key, value},
      [call, q = save(q), k = save(k), v = save(v), out = save(reads_out ? out : Tensor()),
       log_sum_exp = save(log_sum_exp)](const Tensor& dy) {
        const Tensor upstream = with_adjacent_elements(dy);
        Tensor dq = heads_within_rows(q->size(0), q->size(1), q->size(2), q->size(3));
        Tensor dk = key_gradient(*k, call), dv = key_gradient(*v, call);
        const auto of_out = out.defined() ? HeadsOf<const float>(*out, call.first_queries) : HeadsOf<const float>();
        kernels::attention_backward(
            call.pointing_here(),
            kernels::AttentionForward<T>{HeadsOf<const T>(*q, call.first_queries),
                                         HeadsOf<const T>(*k, call.first_keys), HeadsOf<const T>(*v, call.first_keys),
                                         of_out, HeadsOf<const float>(*log_sum_exp, call.first_queries)},
            HeadsOf<const float>(upstream, call.first_queries),
            {HeadsOf<float>(dq, call.first_queries), HeadsOf<float>(dk, call.first_keys),
             HeadsOf<float>(dv, call.first_keys)});
        return Tensors{dq, dk, dv};
      });
}

}  // namespace

Tensor block_attention(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMask& mask,
                       double scale, Dim first_query, const Dropout* dropout) {
  const ScoreExtent extent{query.size(0), query.size(1), query.size(2), key.size(2), first_query};
  const Call call = make_call(extent, query.size(3), value.size(3), mask, scale, dropout);
  // Half the memory until the backward pass.
  const bool round = needs_grad({query, key, value}) && rounds_alike_unscaled(call.problem);
  return round ? attend<bfloat16>(call, query, key, value) : attend<float>(call, query, key, value);
}

bool cached_attention_serves(const Tensor& query, const AttentionCache& cache, const Tensor& bias) {
  const Tensor &keys = cache.keys_in_place(), &values = cache.values_in_place();
  const bool types = query.dtype() == DType::f32 && keys.dtype() == values.dtype() &&
                     (keys.dtype() == DType::f32 || keys.dtype() == DType::bf16);
  return types && !bias.defined() && query.numel() > 0 && keys.numel() > 0 && values.numel() > 0 &&
         !needs_grad({query}) && !listening_to_taps();
}

namespace {

template <class T>
using AttentionKernel = void (*)(const kernels::AttentionProblem&, kernels::HeadRows<const float>,
                                 kernels::HeadRows<const T>, kernels::HeadRows<const T>, kernels::HeadRows<float>,
                                 kernels::HeadRows<float>);

template <class T, AttentionKernel<T> kernel>
void attend_in_place(const kernels::AttentionProblem& problem, const Tensor& query, const AttentionCache& cache,
                     Tensor& out, Tensor& log_sum_exp) {
  kernel(problem, HeadsOf<const float>(query, {}), HeadsOf<const T>::at_places(cache.keys_in_place(), cache.places()),
         HeadsOf<const T>::at_places(cache.values_in_place(), cache.places()), HeadsOf<float>(out, {}),
         HeadsOf<float>(log_sum_exp, {}));
}

}  // namespace

Tensor cached_attention(const Tensor& query, const AttentionCache& cache, const AttentionMask& mask, double scale,
                        Dim first_query) {
  const Tensor &keys = cache.keys_in_place(), &values = cache.values_in_place();
  const ScoreExtent extent{query.size(0), query.size(1), query.size(2), cache.length(), first_query};
  const Call call = make_call(extent, query.size(3), values.size(3), mask, scale, nullptr);
  const kernels::AttentionProblem problem = call.pointing_here();
  const bool bf16 = keys.dtype() == DType::bf16, rows = kernels::attention_rows_serve(problem);
  if (bf16 && !rows) return block_attention(query, cache.key(), cache.value(), mask, scale, first_query, nullptr);
  const Tensor q = with_adjacent_elements(query);
  Tensor out = heads_within_rows(q.size(0), q.size(1), q.size(2), values.size(3));
  Tensor log_sum_exp = Tensor::empty({q.size(0), q.size(1), q.size(2), 1});
  const auto attend = bf16   ? attend_in_place<bfloat16, kernels::attention_rows>
                      : rows ? attend_in_place<float, kernels::attention_rows>
                             : attend_in_place<float, kernels::attention>;  // the one of float32
  attend(problem, q, cache, out, log_sum_exp);
  return record("attention", out, {query, keys, values}, {});
}

}  // namespace glass
