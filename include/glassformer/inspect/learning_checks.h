// The loss, the learning rate, and whether the model learns at all.
#pragma once

#include "glassformer/inspect/finding.h"
#include "glassformer/inspect/probe.h"
#include "glassformer/train/optimizer.h"

namespace glass {

// A model that knows nothing loses ln V plus half the variance of its logits, and no less on the real labels than on
// any others. batch.labels is needed. "first loss"
Findings check_first_loss(const Probe& probe, const ProbeBatch& batch);

// Adam moves each weight by about the rate in its first steps and by less later, so rate/rms(weight) bounds the
// update-to-weight ratio; about 1e-3 is usual. "learning rate" for the highest rate of the schedule, "no warm-up" for
// the first one.
Findings check_learning_rate(const Probe& probe, const ScheduleOptions& schedule);

struct LearningTrial {
  int steps = 150;
  double lr = 0;  // after a rise over 20 steps; 0 for 0.03 of the weights' rms, whatever the recipe's rate
};
// Trains on the one batch until its loss is under a tenth of the first, and again with its labels shuffled, as a
// control; then puts the parameters back. Moves them into a ParameterStore, which keeps their values. "cannot learn"
Findings check_learning(const Probe& probe, const ProbeBatch& batch, const LearningTrial& trial = {});

}  // namespace glass
