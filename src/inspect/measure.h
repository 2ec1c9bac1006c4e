// Measures of tensors that the checks share.
#pragma once

#include <string>
#include <vector>

#include "glassformer/inspect/finding.h"
#include "glassformer/inspect/probe.h"
#include "glassformer/inspect/trace.h"

namespace glass::measure {

bool same_bits(const Tensor& a, const Tensor& b);
double rms(const Tensor& x);
// ‖a − b‖/‖a‖
double relative_difference(const Tensor& a, const Tensor& b);

struct Moments {
  double mean = 0, deviation = 0;
};
Moments moments(const std::vector<double>& values);

// Other sizes may be summed in another order: what is equal but for rounding.
inline constexpr double rounding = 1e-4;

// x with row `position` of example `example` (of every example if negative) made another: the next token, or numbers
// 3 larger.
Tensor with_changed(const Tensor& x, Dim example, Dim position, Dim vocabulary);
// Row `position` of every example moved to where `order` says: out[:, i] = x[:, order[i]].
Tensor reordered(const Tensor& x, const std::vector<int64_t>& order);

// Sizes of the experiments. T and S differ, so that a tap's length tells whose positions it holds.
inline constexpr Dim rows = 3, source_length = 6, target_length = 7;
// A random batch whose every source token is real.
ProbeBatch unpadded_batch(const Probe& probe, Dim batch, Dim source, Dim target);
ProbeBatch with_source(ProbeBatch batch, const Tensor& source);
ProbeBatch with_target(ProbeBatch batch, const Tensor& target);

// "decoder.layers.0.self_attn" of "decoder.layers.0.self_attn.weights", and "weights".
std::string parent_of(const std::string& path);
std::string last_name(const std::string& path);

// What the taps give while the model reads `batch`, without a graph.
Trace trace_of(const Probe& probe, const ProbeBatch& batch);
Tensor logits_of(const Probe& probe, const ProbeBatch& batch);

// The distinct parameters, each under its first name.
std::vector<NamedParameter> distinct_parameters(const Module& module);

// Puts a finding of the same check together: places are gathered, the first one's evidence stays.
void add_place(Findings& findings, const Finding& finding);

}  // namespace glass::measure
