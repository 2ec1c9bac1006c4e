// The inspector's page on a run that is going on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "glassformer/train/trainer.h"
#include "page_server.h"

namespace glass::program {

// Passes on to `view` what happens, and with the first update begins to serve the page in threads of its own, at the
// lowest priority. It reads only the run's files, so training is the same with and without; a page that cannot be
// served is a warning. Ends with this object.
class LivePage : public TrainObserver {
 public:
  // Without a port there is no page. `view` must outlive this object.
  LivePage(TrainObserver& view, std::string run, std::optional<int> port);
  ~LivePage() override;

  void on_note(const std::string& text) override { view_.on_note(text); }
  void on_warning(const std::string& text) override { view_.on_warning(text); }
  void on_metrics(const StepMetrics& metrics) override { view_.on_metrics(metrics); }
  void on_progress(int64_t step, int64_t total, double fraction, double tokens_per_second) override;

 private:
  void begin();

  TrainObserver& view_;
  std::string run_;
  std::optional<int> port_;  // until it has begun
  std::unique_ptr<Inspector> inspector_;
  std::unique_ptr<PageServer> server_;
  std::thread serving_;
};

}  // namespace glass::program
