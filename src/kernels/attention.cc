#include "kernels/attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention.cc"
#include <hwy/foreach_target.h>
// Highway includes this file once for each target, so what follows must come after.
#include <hwy/highway.h>

#include "kernels/attention_lanes.h"
#include "kernels/attention_work.h"

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

// The forward pass of one head after another; its memory serves all of them. Operands are of type T.
template <class Numbers, class T>
class ForwardHeads {
 public:
  ForwardHeads(const AttentionProblem& problem, int64_t most_keys)
      : p_(problem),
        value_stride_(whole_vectors(problem.value_width)),
        keys_(block_memory(Panels::size(Numbers::steps(problem.width), most_keys))),
        values_(block_memory(Panels::size(Numbers::steps(most_keys), problem.value_width))),
        queries_(block_memory(block_queries * problem.width)),
        weights_(block_memory(block_queries * block_keys)),
        factors_(block_memory(block_queries * block_keys)),
        sums_(block_memory(block_queries * value_stride_)) {}

  void run(HeadPlace at, const HeadRows<const T>& query, const HeadRows<const T>& key, const HeadRows<const T>& value,
           const HeadRows<float>& out, const HeadRows<float>& log_sum_exp) {
    const int64_t queries = p_.queries[at.sequence], keys = p_.keys[at.sequence];
    const Panels packed_keys{keys_.get(), Numbers::steps(p_.width), keys};
    const Panels packed_values{values_.get(), Numbers::steps(keys), p_.value_width};
    Numbers::pack_transposed(TypedRows<T>{key.at(at.sequence, at.head, 0), key.row}, p_.width, p_.scale, packed_keys);
    Numbers::pack(TypedRows<T>{value.at(at.sequence, at.head, 0), value.row}, keys, packed_values);
    for (int64_t first = 0; first < queries; first += block_queries) {
      const int64_t rows = std::min(block_queries, queries - first), seen = keys_seen(p_, at.sequence, first, rows);
      const TypedRows<T> own{query.at(at.sequence, at.head, first), query.row};
      const LeftBlock q = Numbers::left(own, rows, p_.width, queries_.get());
      for (int64_t i = 0; i < rows; ++i) begin_row(i);
      for (int64_t k = 0; k < seen; k += block_keys) {
        const Block block{first, rows, k, std::min(block_keys, seen - k)};
        multiply_block<Numbers>(q, rows, packed_keys, {0, p_.width, k, block.keys}, false, weights_.get(), block_keys);
        add_block(at, block, packed_values);
      }
      for (int64_t i = 0; i < rows; ++i) {
        finish_row(i, seen > 0, out.at(at.sequence, at.head, first + i),
                   *log_sum_exp.at(at.sequence, at.head, first + i));
      }
    }
  }

 private:
  void begin_row(int64_t i) {
    largest_[i] = -std::numeric_limits<float>::infinity();
    total_[i] = 0;
  }

  // From the block's scores to its weights, and their part of the output.
  void add_block(HeadPlace at, const Block& block, const Panels& values) {
    if (p_.keep != nullptr) apply_keep(p_, at, block, weights_.get());
    for (int64_t i = 0; i < block.queries; ++i) exponentiate(i, block);
    if (p_.dropout_rate > 0) {
      weight_dropout(p_, at, block, factors_.get());
      for (int64_t i = 0; i < block.queries; ++i) {
        multiply_row(weights_.get() + i * block_keys, factors_.get() + i * block_keys, block.keys);
      }
    }
    const LeftBlock weights = Numbers::left_in_place(weights_.get(), block_keys, block.queries, block.keys);
    multiply_block<Numbers>(weights, block.queries, values, {block.key, block.keys, 0, p_.value_width}, block.key > 0,
                            sums_.get(), value_stride_);
  }

  void exponentiate(int64_t i, const Block& block) {
    float* row = weights_.get() + i * block_keys;
    const int64_t visible = visible_keys(p_, block, i);
    const float here = row_max(row, visible);
    const float largest = here <= largest_[i] ? largest_[i] : here;
    if (largest == -std::numeric_limits<float>::infinity()) {  // no key so far
      std::fill(row, row + block.keys, 0.0f);
      return;
    }
    if (largest != largest_[i]) {
      const float factor = std::exp(largest_[i] - largest);
      total_[i] *= factor;
      if (block.key > 0) scale_row(sums_.get() + i * value_stride_, value_stride_, factor);
      largest_[i] = largest;
    }
    total_[i] += exp_and_sum(row, visible, largest, row);
    std::fill(row + visible, row + block.keys, 0.0f);
  }

  void finish_row(int64_t i, bool any_key, float* out, float& log_sum_exp) {
    const float* sums = sums_.get() + i * value_stride_;
    const bool empty = !any_key || largest_[i] == -std::numeric_limits<float>::infinity();
    const float share = empty ? 0 : 1 / total_[i];
    for (int64_t j = 0; j < p_.value_width; ++j) out[j] = empty ? 0 : sums[j] * share;
    log_sum_exp = empty ? -std::numeric_limits<float>::infinity() : largest_[i] + std::log(total_[i]);
  }

  const AttentionProblem& p_;
  const int64_t value_stride_;
  BlockMemory keys_, values_, queries_, weights_, factors_, sums_;
  float largest_[block_queries], total_[block_queries];
};

template <class Numbers, class T>
void run_heads(const AttentionProblem& p, const HeadRows<const T>& query, const HeadRows<const T>& key,
               const HeadRows<const T>& value, const HeadRows<float>& out, const HeadRows<float>& log_sum_exp,
               const AttentionWork& work, int64_t begin, int64_t end) {
  ForwardHeads<Numbers, T> heads(p, work.most_keys);
  for (int64_t i = begin; i < end; ++i) heads.run({i / p.heads, i % p.heads}, query, key, value, out, log_sum_exp);
}

void attention_heads(const AttentionProblem& p, const HeadRows<const float>& query, const HeadRows<const float>& key,
                     const HeadRows<const float>& value, const HeadRows<float>& out, const HeadRows<float>& log_sum_exp,
                     const AttentionWork& work, int64_t begin, int64_t end) {
  const auto run = p.bf16 ? run_heads<Bf16Numbers, float> : run_heads<Float32, float>;
  run(p, query, key, value, out, log_sum_exp, work, begin, end);
}

#if HWY_TARGET == HWY_AVX3
void rounded_attention_heads(const AttentionProblem& p, const HeadRows<const bfloat16>& query,
                             const HeadRows<const bfloat16>& key, const HeadRows<const bfloat16>& value,
                             const HeadRows<float>& out, const HeadRows<float>& log_sum_exp, const AttentionWork& work,
                             int64_t begin, int64_t end) {
  run_heads<Bf16Pairs>(p, query, key, value, out, log_sum_exp, work, begin, end);
}
#else
void rounded_attention_heads(const AttentionProblem&, const HeadRows<const bfloat16>&, const HeadRows<const bfloat16>&,
                             const HeadRows<const bfloat16>&, const HeadRows<float>&, const HeadRows<float>&,
                             const AttentionWork&, int64_t, int64_t) {
  HWY_ABORT("attention in bf16 without bf16 products");
}
#endif

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "glassformer/base/threads.h"
#include "kernels/dispatch.h"

namespace glass::kernels {

HWY_EXPORT(attention_heads);
HWY_EXPORT(rounded_attention_heads);

namespace {

template <class T, class Heads>
void share_heads(const AttentionProblem& p, HeadRows<const T> query, HeadRows<const T> key, HeadRows<const T> value,
                 HeadRows<float> out, HeadRows<float> log_sum_exp, Heads heads) {
  const AttentionWork work = attention_work(p);
  parallel_for(p.sequences * p.heads, work.heads_per_chunk,
               [&](int64_t begin, int64_t end) { heads(p, query, key, value, out, log_sum_exp, work, begin, end); });
}

}  // namespace

void attention(const AttentionProblem& p, HeadRows<const float> query, HeadRows<const float> key,
               HeadRows<const float> value, HeadRows<float> out, HeadRows<float> log_sum_exp) {
  share_heads(p, query, key, value, out, log_sum_exp, GLASS_DISPATCH(attention_heads));
}

void attention(const AttentionProblem& p, HeadRows<const bfloat16> query, HeadRows<const bfloat16> key,
               HeadRows<const bfloat16> value, HeadRows<float> out, HeadRows<float> log_sum_exp) {
  share_heads(p, query, key, value, out, log_sum_exp, GLASS_DISPATCH(rounded_attention_heads));
}

}  // namespace glass::kernels
#endif
