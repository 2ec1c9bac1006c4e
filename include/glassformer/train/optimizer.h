// AdamW on a model's parameters, and learning-rate schedules.
#pragma once

#include <limits>

#include "glassformer/nn/parameter_store.h"

namespace glass {

struct AdamWOptions {
  double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-8, weight_decay = 0.01;
};

// Decoupled weight decay on every parameter (Loshchilov & Hutter, 2019), bias correction as in the paper and in
// PyTorch. Belongs to one thread at a time.
class AdamW {
 public:
  // Keeps a reference to the store, which must outlive it; the moments, from zero, are its own.
  AdamW(ParameterStore& parameters, const AdamWOptions& options);
  // One update of the store's values with its gradients times `grad_scale`. The gradients stay; that they are finite is
  // the caller's to check.
  void step(double lr, double grad_scale = 1);

  int64_t steps() const { return steps_; }  // updates so far
  // The moments, [N] float32 in the layout of the store: what a checkpoint keeps. Not copies: step() changes them.
  const Tensor& first_moment() const { return m_; }
  const Tensor& second_moment() const { return v_; }
  // Copies the moments. Throws InputError, and changes nothing, if they are not of this layout's size.
  void restore(int64_t steps, const Tensor& first_moment, const Tensor& second_moment);

 private:
  ParameterStore& parameters_;
  AdamWOptions options_;
  Tensor m_, v_;
  int64_t steps_ = 0;
};

// √(Σ g²) over all gradients as they stand in the store, before any scale; not finite if one of them is not.
double global_grad_norm(const ParameterStore& parameters);

enum class Schedule { constant, inverse_sqrt, linear, cosine };
struct ScheduleOptions {
  Schedule schedule = Schedule::inverse_sqrt;
  double lr = 1e-3, min_lr = 0;
  int64_t warmup_steps = 1000;
  int64_t total_steps = std::numeric_limits<int64_t>::max();  // if nobody knows
};
// The rate of update `step`, counted from 1: a linear rise to lr over warmup_steps, then the schedule. constant stays
// at lr; inverse_sqrt is lr·√(max(1, warmup_steps)/step); linear and cosine fall to min_lr, which they reach at
// total_steps and keep. Only these two read min_lr and total_steps.
double learning_rate(const ScheduleOptions& options, int64_t step);

// The updates that a run of `seconds` will have made, the last one begun within them, if all take as long as the first
// `steps` of them, which took `spent` seconds: at least one more than these. Before the first, as many as there can be.
int64_t updates_within(double seconds, int64_t steps, double spent);

}  // namespace glass
