#include "kernels/attention_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_rows.cc"
#include <hwy/foreach_target.h>
// Highway includes this file once for each target, so what follows must come after.
#include <hwy/highway.h>

#include "kernels/attention_lanes.h"
#include "kernels/attention_work.h"

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

// x·y
HWY_INLINE float dot(const float* x, const float* y, int64_t n) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto even = hn::Zero(d), odd = hn::Zero(d);  // two sums, so that additions need not wait for each other
  int64_t j = 0;
  for (; j + 2 * lanes <= n; j += 2 * lanes) {
    even = hn::MulAdd(hn::LoadU(d, x + j), hn::LoadU(d, y + j), even);
    odd = hn::MulAdd(hn::LoadU(d, x + j + lanes), hn::LoadU(d, y + j + lanes), odd);
  }
  for (; j + lanes <= n; j += lanes) even = hn::MulAdd(hn::LoadU(d, x + j), hn::LoadU(d, y + j), even);
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
  for (; j < n; ++j) sum += x[j] * y[j];
  return sum;
}

// out = Σ weight_j · row_j · share over `count` rows `stride` apart: Vectors vectors of columns at a time stay in
// registers.
template <int Vectors>
HWY_INLINE void sum_columns(const float* weights, const float* rows, int64_t stride, int64_t count, float share,
                            float* out) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<decltype(d)> sums[Vectors];
  for (auto& sum : sums) sum = hn::Zero(d);
  for (int64_t j = 0; j < count; ++j) {
    const auto weight = hn::Set(d, weights[j]);
    for (int v = 0; v < Vectors; ++v)
      sums[v] = hn::MulAdd(weight, hn::LoadU(d, rows + j * stride + v * lanes), sums[v]);
  }
  for (int v = 0; v < Vectors; ++v) hn::StoreU(hn::Mul(sums[v], hn::Set(d, share)), d, out + v * lanes);
}

HWY_INLINE void weighted_sum(const float* weights, const float* rows, int64_t stride, int64_t count, int64_t width,
                             float share, float* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<float>()));
  int64_t c = 0;
  for (; c + 4 * lanes <= width; c += 4 * lanes) sum_columns<4>(weights, rows + c, stride, count, share, out + c);
  for (; c + lanes <= width; c += lanes) sum_columns<1>(weights, rows + c, stride, count, share, out + c);
  for (; c < width; ++c) {
    float sum = 0;
    for (int64_t j = 0; j < count; ++j) sum += weights[j] * rows[j * stride + c];
    out[c] = sum * share;
  }
}

// The only query of one head.
void attend_row(const AttentionProblem& p, HeadPlace at, const HeadRows<const float>& query,
                const HeadRows<const float>& key, const HeadRows<const float>& value, float* weights, float* out,
                float& log_sum_exp) {
  constexpr float nothing = -std::numeric_limits<float>::infinity();
  const float* q = query.at(at.sequence, at.head, 0);
  const float* k = key.at(at.sequence, at.head, 0);
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

void attention_row_heads(const AttentionProblem& p, const HeadRows<const float>& query,
                         const HeadRows<const float>& key, const HeadRows<const float>& value,
                         const HeadRows<float>& out, const HeadRows<float>& log_sum_exp, const AttentionWork& work,
                         int64_t begin, int64_t end) {
  const BlockMemory weights = block_memory(work.most_keys);
  for (int64_t i = begin; i < end; ++i) {
    const HeadPlace at{i / p.heads, i % p.heads};
    if (p.queries[at.sequence] == 0) continue;
    attend_row(p, at, query, key, value, weights.get(), out.at(at.sequence, at.head, 0),
               *log_sum_exp.at(at.sequence, at.head, 0));
  }
}

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "glassformer/base/threads.h"
#include "kernels/dispatch.h"

namespace glass::kernels {

HWY_EXPORT(attention_row_heads);

bool attention_rows_serve(const AttentionProblem& p) {
  return attention_work(p).most_queries <= 1 && p.keep == nullptr && p.dropout_rate == 0;
}

void attention_rows(const AttentionProblem& p, HeadRows<const float> query, HeadRows<const float> key,
                    HeadRows<const float> value, HeadRows<float> out, HeadRows<float> log_sum_exp) {
  const AttentionWork work = attention_work(p);
  const auto heads = GLASS_DISPATCH(attention_row_heads);
  parallel_for(p.sequences * p.heads, work.heads_per_chunk,
               [&](int64_t begin, int64_t end) { heads(p, query, key, value, out, log_sum_exp, work, begin, end); });
}

}  // namespace glass::kernels
#endif
