// Weights are made again, block by block, from the queries, the keys and the saved log Σ exp. With P = exp(S − lse),
// M the dropout's factors, and δ = Σ dO·O for each query:
//   dV = (P∘M)ᵀ·dO,  dP = dO·Vᵀ,  dS = P∘(dP∘M − δ),  dQ = scale·dS·K,  dK = scale·dSᵀ·Q
#include "kernels/attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_backward.cc"
#include <hwy/foreach_target.h>
// Highway includes this file once for each target, so what follows must come after.
#include <hwy/highway.h>

#include "kernels/attention_lanes.h"
#include "kernels/attention_work.h"

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

// One head after another; the memory serves all of them. The forward pass had operands of type T.
template <class Numbers, class T>
class BackwardHeads {
 public:
  BackwardHeads(const AttentionProblem& problem, const AttentionForward<T>& forward,
                const HeadRows<const float>& out_gradient, const AttentionGradients& gradients, int64_t most_queries,
                int64_t most_keys)
      : p_(problem),
        forward_(forward),
        out_gradient_(out_gradient),
        gradients_(gradients),
        width_(whole_vectors(problem.width)),
        value_width_(whole_vectors(problem.value_width)),
        keys_(block_memory(Panels::size(Numbers::steps(most_keys), problem.width))),
        keys_across_(block_memory(Panels::size(Numbers::steps(problem.width), most_keys))),
        values_across_(block_memory(Panels::size(Numbers::steps(problem.value_width), most_keys))),
        queries_(block_memory(Panels::size(Numbers::steps(most_queries), problem.width))),
        out_gradients_(block_memory(Panels::size(Numbers::steps(most_queries), problem.value_width))),
        query_rows_(block_memory(most_queries * problem.width)),
        out_gradient_rows_(block_memory(most_queries * problem.value_width)),
        across_(block_memory(block_queries * block_keys)),
        weights_(block_memory(block_queries * block_keys)),
        dropped_(block_memory(block_queries * block_keys)),
        score_gradients_(block_memory(block_queries * block_keys)),
        query_sums_(block_memory(most_queries * width_)),
        key_sums_(block_memory(block_keys * width_)),
        value_sums_(block_memory(block_keys * value_width_)),
        shares_(block_memory(most_queries)) {}

  void run(HeadPlace at) {
    at_ = at;
    pack_head();
    const int64_t queries = p_.queries[at.sequence], keys = p_.keys[at.sequence];
    std::fill_n(query_sums_.get(), queries * width_, 0.0f);
    for (int64_t k = 0; k < keys; k += block_keys) {
      const int64_t count = std::min(block_keys, keys - k);
      std::fill_n(key_sums_.get(), count * width_, 0.0f);
      std::fill_n(value_sums_.get(), count * value_width_, 0.0f);
      for (int64_t q = first_block_that_sees(k); q < queries; q += block_queries) {
        const int64_t rows = std::min(block_queries, queries - q), seen = keys_seen(p_, at.sequence, q, rows) - k;
        if (seen > 0) add_block({q, rows, k, std::min(count, seen)});
      }
      write(key_sums_.get(), width_, k, count, p_.width, p_.scale, gradients_.key);
      write(value_sums_.get(), value_width_, k, count, p_.value_width, 1, gradients_.value);
    }
    write(query_sums_.get(), width_, 0, queries, p_.width, p_.scale, gradients_.query);
  }

 private:
  // Of so many steps and columns.
  static Panels panels(const BlockMemory& memory, int64_t steps, int64_t columns) {
    return {memory.get(), Numbers::steps(steps), columns};
  }
  Panels keys() const { return panels(keys_, p_.keys[at_.sequence], p_.width); }
  Panels keys_across() const { return panels(keys_across_, p_.width, p_.keys[at_.sequence]); }
  Panels values_across() const { return panels(values_across_, p_.value_width, p_.keys[at_.sequence]); }
  Panels queries() const { return panels(queries_, p_.queries[at_.sequence], p_.width); }
  Panels out_gradients() const { return panels(out_gradients_, p_.queries[at_.sequence], p_.value_width); }

  template <class Element>
  TypedRows<Element> rows_of(const HeadRows<const Element>& tensor) const {
    return {tensor.at(at_.sequence, at_.head, 0), tensor.row};
  }

  void pack_head() {
    const int64_t queries_here = p_.queries[at_.sequence], keys_here = p_.keys[at_.sequence];
    Numbers::pack(rows_of(forward_.key), keys_here, keys());
    Numbers::pack_transposed(rows_of(forward_.key), p_.width, p_.scale, keys_across());
    Numbers::pack_transposed(rows_of(forward_.value), p_.value_width, 1, values_across());
    Numbers::pack(rows_of(forward_.query), queries_here, queries());
    Numbers::pack(rows_of(out_gradient_), queries_here, out_gradients());
    left_queries_ = Numbers::left(rows_of(forward_.query), queries_here, p_.width, query_rows_.get());
    left_out_gradients_ = Numbers::left(rows_of(out_gradient_), queries_here, p_.value_width, out_gradient_rows_.get());
    for (int64_t i = 0; i < queries_here && !one_block(); ++i) {
      shares_[i] =
          dot(forward_.out.at(at_.sequence, at_.head, i), out_gradient_.at(at_.sequence, at_.head, i), p_.value_width);
    }
  }

  // All keys of a query are then in front of us, and δ = Σ P·dP∘M in the very numbers it is subtracted from: so a query
  // with a single key has gradients of exactly zero, as by definition.
  bool one_block() const { return p_.keys[at_.sequence] <= block_keys; }

  static float dot(const float* a, const float* b, int64_t n) {
    const BlockTag d;
    const int64_t lanes = lanes_of_block();
    auto sums = hn::Zero(d);
    int64_t j = 0;
    for (; j + lanes <= n; j += lanes) sums = hn::MulAdd(hn::LoadU(d, a + j), hn::LoadU(d, b + j), sums);
    float sum = hn::GetLane(hn::SumOfLanes(d, sums));
    for (; j < n; ++j) sum += a[j] * b[j];
    return sum;
  }

  int64_t first_block_that_sees(int64_t key) const {
    if (!p_.causal) return 0;
    return std::max<int64_t>(0, key - p_.first_query) / block_queries * block_queries;
  }

  void add_block(const Block& b) {
    make_weights(b);
    make_score_gradients(b);
    multiply_block<Numbers>(across(weights_, b), b.keys, out_gradients(), {b.query, b.queries, 0, p_.value_width}, true,
                            value_sums_.get(), value_width_);
    multiply_block<Numbers>(across(score_gradients_, b), b.keys, queries(), {b.query, b.queries, 0, p_.width}, true,
                            key_sums_.get(), width_);
    const LeftBlock along = Numbers::left_in_place(score_gradients_.get(), block_keys, b.queries, b.keys);
    multiply_block<Numbers>(along, b.queries, keys(), {b.key, b.keys, 0, p_.width}, true,
                            query_sums_.get() + b.query * width_, width_);
  }

  LeftBlock across(const BlockMemory& block, const Block& b) {
    return Numbers::left_across(block.get(), block_keys, b.queries, b.keys, across_.get());
  }

  static LeftBlock from_row(LeftBlock rows, int64_t row) {
    return {rows.data + row * rows.row_stride, rows.row_stride, rows.step_stride};
  }

  // P, before dropout.
  void make_weights(const Block& b) {
    multiply_block<Numbers>(from_row(left_queries_, b.query), b.queries, keys_across(), {0, p_.width, b.key, b.keys},
                            false, weights_.get(), block_keys);
    if (p_.keep != nullptr) apply_keep(p_, at_, b, weights_.get());
    for (int64_t i = 0; i < b.queries; ++i) {
      float* row = weights_.get() + i * block_keys;
      const float log_sum_exp = *forward_.log_sum_exp.at(at_.sequence, at_.head, b.query + i);
      const bool empty = log_sum_exp == -std::numeric_limits<float>::infinity();
      const int64_t visible = empty ? 0 : visible_keys(p_, b, i);
      exp_and_sum(row, visible, log_sum_exp, row);
      std::fill(row + visible, row + b.keys, 0.0f);
    }
  }

  // dS into its block, and P∘M in place of P.
  void make_score_gradients(const Block& b) {
    multiply_block<Numbers>(from_row(left_out_gradients_, b.query), b.queries, values_across(),
                            {0, p_.value_width, b.key, b.keys}, false, score_gradients_.get(), block_keys);
    if (p_.dropout_rate > 0) weight_dropout(p_, at_, b, dropped_.get());
    for (int64_t i = 0; i < b.queries; ++i) {
      float* weights = weights_.get() + i * block_keys;
      float* scores = score_gradients_.get() + i * block_keys;  // dP still
      const float* factors = dropped_.get() + i * block_keys;
      if (p_.dropout_rate > 0) multiply_row(scores, factors, b.keys);
      const float share = one_block() ? dot(weights, scores, b.keys) : shares_[b.query + i];
      score_gradient_row(weights, share, b.keys, scores);
      if (p_.dropout_rate > 0) multiply_row(weights, factors, b.keys);
    }
  }

  // Rows are whole vectors long.
  static void score_gradient_row(const float* weights, float share, int64_t n, float* scores) {
    const BlockTag d;
    for (int64_t j = 0; j < n; j += lanes_of_block()) {
      const auto centred = hn::Sub(hn::LoadU(d, scores + j), hn::Set(d, share));
      hn::StoreU(hn::Mul(hn::LoadU(d, weights + j), centred), d, scores + j);
    }
  }

  void write(const float* sums, int64_t stride, int64_t first, int64_t count, int64_t width, float factor,
             const HeadRows<float>& to) const {
    for (int64_t i = 0; i < count; ++i) {
      float* row = to.at(at_.sequence, at_.head, first + i);
      for (int64_t j = 0; j < width; ++j) row[j] = factor * sums[i * stride + j];
    }
  }

  const AttentionProblem& p_;
  const AttentionForward<T>& forward_;
  const HeadRows<const float>& out_gradient_;
  const AttentionGradients& gradients_;
  const int64_t width_, value_width_;
  BlockMemory keys_, keys_across_, values_across_, queries_, out_gradients_;
  BlockMemory query_rows_, out_gradient_rows_;  // where left operands are rounded
  BlockMemory across_;                          // a block of ours, transposed for a product
  BlockMemory weights_, dropped_, score_gradients_;
  BlockMemory query_sums_, key_sums_, value_sums_;
  BlockMemory shares_;  // δ
  LeftBlock left_queries_{}, left_out_gradients_{};
  HeadPlace at_{};
};

template <class Numbers, class T>
void run_backward_heads(const AttentionProblem& p, const AttentionForward<T>& forward,
                        const HeadRows<const float>& out_gradient, const AttentionGradients& gradients,
                        const AttentionWork& work, int64_t begin, int64_t end) {
  BackwardHeads<Numbers, T> heads(p, forward, out_gradient, gradients, work.most_queries, work.most_keys);
  for (int64_t i = begin; i < end; ++i) heads.run({i / p.heads, i % p.heads});
}

void attention_backward_heads(const AttentionProblem& p, const AttentionForward<float>& forward,
                              const HeadRows<const float>& out_gradient, const AttentionGradients& gradients,
                              const AttentionWork& work, int64_t begin, int64_t end) {
  const auto run = p.bf16 ? run_backward_heads<Bf16Numbers, float> : run_backward_heads<Float32, float>;
  run(p, forward, out_gradient, gradients, work, begin, end);
}

#if HWY_TARGET == HWY_AVX3
void rounded_attention_backward_heads(const AttentionProblem& p, const AttentionForward<bfloat16>& forward,
                                      const HeadRows<const float>& out_gradient, const AttentionGradients& gradients,
                                      const AttentionWork& work, int64_t begin, int64_t end) {
  run_backward_heads<Bf16Pairs>(p, forward, out_gradient, gradients, work, begin, end);
}
#else
void rounded_attention_backward_heads(const AttentionProblem&, const AttentionForward<bfloat16>&,
                                      const HeadRows<const float>&, const AttentionGradients&, const AttentionWork&,
                                      int64_t, int64_t) {
  HWY_ABORT("attention in bf16 without bf16 products");
}
#endif

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "glassformer/base/threads.h"
#include "kernels/dispatch.h"

namespace glass::kernels {

HWY_EXPORT(attention_backward_heads);
HWY_EXPORT(rounded_attention_backward_heads);

bool attention_backward_reads_out(const AttentionProblem& p) { return attention_work(p).most_keys > block_keys; }

namespace {

template <class T, class Heads>
void share_backward_heads(const AttentionProblem& p, const AttentionForward<T>& forward,
                          HeadRows<const float> out_gradient, const AttentionGradients& gradients, Heads heads) {
  const AttentionWork work = attention_work(p);
  parallel_for(p.sequences * p.heads, work.heads_per_chunk,
               [&](int64_t begin, int64_t end) { heads(p, forward, out_gradient, gradients, work, begin, end); });
}

}  // namespace

void attention_backward(const AttentionProblem& p, const AttentionForward<float>& forward,
                        HeadRows<const float> out_gradient, const AttentionGradients& gradients) {
  share_backward_heads(p, forward, out_gradient, gradients, GLASS_DISPATCH(attention_backward_heads));
}

void attention_backward(const AttentionProblem& p, const AttentionForward<bfloat16>& forward,
                        HeadRows<const float> out_gradient, const AttentionGradients& gradients) {
  share_backward_heads(p, forward, out_gradient, gradients, GLASS_DISPATCH(rounded_attention_backward_heads));
}

}  // namespace glass::kernels
#endif
