#include "train_doctor.h"

#include "glassformer/inspect/doctor_files.h"
#include "glassformer/inspect/history_checks.h"
#include "output.h"

namespace glass::program {

void TrainDoctor::look_at(Module& fresh_model) { report(diagnose_fresh_model(fresh_model, recipe_)); }

void TrainDoctor::on_metrics(const StepMetrics& metrics) {
  ProgressView::on_metrics(metrics);
  history_.push_back(metrics);
  if (!metrics.valid_nll) return;
  report(check_overfitting(history_));
  report(check_loss_history(history_));
  report(check_update_sizes(history_));
}

void TrainDoctor::report(const Findings& findings) {
  for (const Finding& f : findings) {
    if (f.severity == Severity::note || !said_.insert(f.check).second) continue;
    on_warning(fmt::format("doctor: {}: {}{}; {}", f.check, f.what, f.places.empty() ? "" : " (" + f.places[0] + ")",
                           f.remedy));
  }
}

}  // namespace glass::program
