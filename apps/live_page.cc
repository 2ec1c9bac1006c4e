#include "live_page.h"

#include <unistd.h>

#include <exception>
#include <utility>

#include "version.h"

namespace glass::program {

namespace {

// On Linux the calling thread's own niceness, which the threads that it makes inherit.
void yield_to_training() { static_cast<void>(nice(19)); }

void serve(PageServer& server) {
  yield_to_training();
  try {
    server.serve();
  } catch (const std::exception&) {  // the page is gone, and whoever looks at it is told so there
  }
}

}  // namespace

LivePage::LivePage(TrainObserver& view, std::string run, std::optional<int> port)
    : view_(view), run_(std::move(run)), port_(port) {}

LivePage::~LivePage() {
  if (!serving_.joinable()) return;
  server_->stop();
  serving_.join();
}

void LivePage::on_progress(int64_t step, int64_t total, double fraction, double tokens_per_second) {
  if (port_) begin();
  view_.on_progress(step, total, fraction, tokens_per_second);
}

void LivePage::begin() {
  const int port = *std::exchange(port_, std::nullopt);
  try {
    inspector_ = std::make_unique<Inspector>(InspectorOptions{"glassformer " + version().program, "", run_});
    server_ = std::make_unique<PageServer>(*inspector_, ServerOptions{"127.0.0.1", port, run_});
    serving_ = std::thread([this] { serve(*server_); });
    view_.on_note("see the run at " + server_->address());
  } catch (const std::exception& error) {
    view_.on_warning(std::string("training goes on without its page: ") + error.what());
  }
}

}  // namespace glass::program
