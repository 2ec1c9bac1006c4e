#include "glassformer/inspect/doctor.h"

#include "glassformer/base/error.h"
#include "inspect/measure.h"

namespace glass {

namespace {

Finding does_not_run(const Error& error) {
  Finding f;
  f.check = "shapes";
  f.what = "the model does not take a batch of other sizes";
  f.evidence = {{error.what(), 0, "B, S and T may each be anything"}};
  f.cause = "sizes that are fixed in the model, or that agree by chance in its own batches";
  f.remedy = "read the sizes from the inputs; the message names the operation";
  f.certainty = Certainty::certain;
  return f;
}

Finding not_differentiable(const Error& error) {
  Finding f;
  f.check = "no gradient";
  f.what = "the backward pass fails, so the model cannot be trained";
  f.evidence = {{error.what(), 0, "every operation between weights and loss has a derivative"}};
  f.cause = "an operation without a derivative, or a tensor changed in place after it was used";
  f.remedy = "give the operation its derivative (record()), or change a copy; the message names the place";
  f.certainty = Certainty::certain;
  return f;
}

// A check whose forward pass throws ends in a finding; the others go on.
template <class Check>
void run(Findings& findings, Check check) {
  try {
    for (const Finding& finding : check()) measure::add_place(findings, finding);
  } catch (const ShapeError& error) {
    measure::add_place(findings, does_not_run(error));
  } catch (const ValueError& error) {
    measure::add_place(findings, does_not_run(error));
  } catch (const GradError& error) {
    measure::add_place(findings, not_differentiable(error));
  }
}

Findings run_all(const Probe& probe, const ProbeBatch& batch) {
  Findings f;
  run(f, [&] { return check_finite(probe, batch); });
  if (!f.empty()) return f;  // NaN is neither equal nor different
  run(f, [&] { return check_twins(probe); });
  if (probe.fresh) run(f, [&] { return check_initial_scale(probe); });
  run(f, [&] { return check_score_scale(probe, batch); });
  run(f, [&] { return check_future(probe); });
  run(f, [&] { return check_source_rows(probe); });
  run(f, [&] { return check_mask_direction(probe); });
  run(f, [&] { return check_examples_apart(probe); });
  run(f, [&] { return check_padding(probe); });
  run(f, [&] { return check_targets(probe, batch); });
  if (probe.fresh) run(f, [&] { return check_embedding_scale(probe, batch); });
  run(f, [&] { return check_positions(probe); });
  run(f, [&] { return check_residuals(probe, batch); });
  run(f, [&] { return check_direct_path(probe); });
  if (probe.fresh) run(f, [&] { return check_first_loss(probe, batch); });
  run(f, [&] { return check_deadlock(probe, batch); });
  run(f, [&] { return check_gradient_flow(probe, batch); });
  run(f, [&] { return check_gradients_arrive(probe, batch); });
  if (!probe.fresh && batch.labels.defined()) run(f, [&] { return check_heads(probe, batch); });
  return f;
}

}  // namespace

Findings diagnose(const Probe& probe, const ProbeBatch& batch) {
  if (probe.module == nullptr || !probe.logits) throw InputError("doctor: a probe needs its module and its logits");
  return without_consequences(run_all(probe, batch));
}

}  // namespace glass
