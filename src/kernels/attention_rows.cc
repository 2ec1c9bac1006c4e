#include "kernels/attention_rows.h"

#ifndef GLASS_ROW_ATTENTION
#define GLASS_ROW_ATTENTION
namespace glass::kernels {

// The operands, and what depends on the sizes of all.
template <class T>
struct RowAttention {
  AttentionProblem problem;
  HeadRows<const float> query;
  HeadRows<const T> key, value;
  HeadRows<float> out, log_sum_exp;
  int64_t most_keys = 0;
};

}  // namespace glass::kernels
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_rows.cc"
#include <hwy/foreach_target.h>
// Highway includes this file once for each target, so what follows must come after.
#include <hwy/highway.h>

#include "kernels/attention_lanes.h"
#include "kernels/attention_work.h"

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

using RowTag = hn::ScalableTag<float>;

HWY_INLINE hn::Vec<RowTag> load(RowTag d, const float* from) { return hn::LoadU(d, from); }
HWY_INLINE hn::Vec<RowTag> load(RowTag d, const bfloat16* from) {
  const hn::Rebind<uint32_t, RowTag> words;
  const hn::Rebind<uint16_t, RowTag> halves;
  const auto upper = hn::PromoteTo(words, hn::LoadU(halves, reinterpret_cast<const uint16_t*>(from)));
  return hn::BitCast(d, hn::ShiftLeft<16>(upper));
}

// x·y
template <class T>
HWY_INLINE float dot(const float* x, const T* y, int64_t n) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto even = hn::Zero(d), odd = hn::Zero(d);  // two sums, so that additions need not wait for each other
  int64_t j = 0;
  for (; j + 2 * lanes <= n; j += 2 * lanes) {
    even = hn::MulAdd(load(d, x + j), load(d, y + j), even);
    odd = hn::MulAdd(load(d, x + j + lanes), load(d, y + j + lanes), odd);
  }
  for (; j + lanes <= n; j += lanes) even = hn::MulAdd(load(d, x + j), load(d, y + j), even);
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
  for (; j < n; ++j) sum += x[j] * static_cast<float>(y[j]);
  return sum;
}

// out = Σ weight_j · row_j · share over `count` rows `stride` apart: Vectors vectors of columns at a time stay in
// registers.
template <int Vectors, class T>
HWY_INLINE void sum_columns(const float* weights, const T* rows, int64_t stride, int64_t count, float share,
                            float* out) {
  const RowTag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<decltype(d)> sums[Vectors];
  for (auto& sum : sums) sum = hn::Zero(d);
  for (int64_t j = 0; j < count; ++j) {
    const auto weight = hn::Set(d, weights[j]);
    for (int v = 0; v < Vectors; ++v) sums[v] = hn::MulAdd(weight, load(d, rows + j * stride + v * lanes), sums[v]);
  }
  for (int v = 0; v < Vectors; ++v) hn::StoreU(hn::Mul(sums[v], hn::Set(d, share)), d, out + v * lanes);
}

template <class T>
HWY_INLINE void weighted_sum(const float* weights, const T* rows, int64_t stride, int64_t count, int64_t width,
                             float share, float* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(RowTag()));
  int64_t c = 0;
  for (; c + 4 * lanes <= width; c += 4 * lanes) sum_columns<4>(weights, rows + c, stride, count, share, out + c);
  for (; c + lanes <= width; c += lanes) sum_columns<1>(weights, rows + c, stride, count, share, out + c);
  for (; c < width; ++c) {
    float sum = 0;
    for (int64_t j = 0; j < count; ++j) sum += weights[j] * static_cast<float>(rows[j * stride + c]);
    out[c] = sum * share;
  }
}

// The only query of one head.
template <class T>
void attend_row(const AttentionProblem& p, HeadPlace at, const HeadRows<const float>& query,
                const HeadRows<const T>& key, const HeadRows<const T>& value, float* weights, float* out,
                float& log_sum_exp) {
  constexpr float nothing = -std::numeric_limits<float>::infinity();
  const float* q = query.at(at.sequence, at.head, 0);
  const T* k = key.at(at.sequence, at.head, 0);
  const int64_t seen = keys_seen(p, at.sequence, 0, 1);
  for (int64_t j = 0; j < seen; ++j) weights[j] = dot(q, k + j * key.row, p.width) * p.scale;
  const float largest = row_max(weights, seen);
  if (seen == 0 || largest == nothing) {
    std::fill(out, out + p.value_width, 0.0f);
    log_sum_exp = nothing;
    return;
  }
  const float total = exp_and_sum(weights, seen, largest, weights);
  weighted_sum(weights, value.at(at.sequence, at.head, 0), value.row, seen, p.value_width, 1 / total, out);
  log_sum_exp = largest + std::log(total);
}

template <class T>
void run_row_heads(const RowAttention<T>& r, int64_t begin, int64_t end) {
  const AttentionProblem& p = r.problem;
  const BlockMemory weights = block_memory(r.most_keys);
  for (int64_t i = begin; i < end; ++i) {
    const HeadPlace at{i / p.heads, i % p.heads};
    if (p.queries[at.sequence] == 0) continue;
    attend_row(p, at, r.query, r.key, r.value, weights.get(), r.out.at(at.sequence, at.head, 0),
               *r.log_sum_exp.at(at.sequence, at.head, 0));
  }
}

void attention_row_heads(const RowAttention<float>& r, int64_t begin, int64_t end) { run_row_heads(r, begin, end); }
void attention_row_heads_bf16(const RowAttention<bfloat16>& r, int64_t begin, int64_t end) {
  run_row_heads(r, begin, end);
}

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "glassformer/base/threads.h"
#include "kernels/dispatch.h"

namespace glass::kernels {

HWY_EXPORT(attention_row_heads);
HWY_EXPORT(attention_row_heads_bf16);

bool attention_rows_serve(const AttentionProblem& p) {
  return attention_work(p).most_queries <= 1 && p.keep == nullptr && p.dropout_rate == 0;
}

namespace {

template <class T>
void share_rows(RowAttention<T> rows, void (*heads)(const RowAttention<T>&, int64_t, int64_t)) {
  constexpr int64_t worth_a_chunk = 1 << 17;  // every number multiplied comes from memory, for this use alone
  const AttentionProblem& p = rows.problem;
  const AttentionWork work = attention_work(p, worth_a_chunk);
  rows.most_keys = work.most_keys;
  parallel_for(p.sequences * p.heads, work.heads_per_chunk,
               [&](int64_t begin, int64_t end) { heads(rows, begin, end); });
}

}  // namespace

void attention_rows(const AttentionProblem& p, HeadRows<const float> query, HeadRows<const float> key,
                    HeadRows<const float> value, HeadRows<float> out, HeadRows<float> log_sum_exp) {
  share_rows<float>({p, query, key, value, out, log_sum_exp}, GLASS_DISPATCH(attention_row_heads));
}

void attention_rows(const AttentionProblem& p, HeadRows<const float> query, HeadRows<const bfloat16> key,
                    HeadRows<const bfloat16> value, HeadRows<float> out, HeadRows<float> log_sum_exp) {
  share_rows<bfloat16>({p, query, key, value, out, log_sum_exp}, GLASS_DISPATCH(attention_row_heads_bf16));
}

}  // namespace glass::kernels
#endif
