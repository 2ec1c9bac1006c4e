#include "progress.h"

#include "output.h"

namespace glass::program {

namespace {

std::string duration_text(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string bar_text(double fraction) {
  constexpr int width = 24;
  std::string bar;
  const int full = static_cast<int>(fraction * width + 0.5);
  for (int i = 0; i < width; ++i) bar += i < full ? "█" : "░";
  return bar;
}

}  // namespace

ProgressView::ProgressView() : terminal_(isatty(STDERR_FILENO) != 0) {}

ProgressView::~ProgressView() { clear_bar(); }

void ProgressView::clear_bar() {
  if (bar_shown_) say_raw("\r\033[K");
  bar_shown_ = false;
}

void ProgressView::on_note(const std::string& text) {
  clear_bar();
  say(text);
}

void ProgressView::on_warning(const std::string& text) {
  clear_bar();
  say("warning: " + text);
}

void ProgressView::on_progress(int64_t step, int64_t total, double fraction, double tokens_per_second) {
  if (!terminal_) return;
  const auto now = Clock::now();
  if (!start_) start_ = Start{now, fraction};
  if (now - last_drawn_ < std::chrono::milliseconds(200) && fraction < 1) return;
  last_drawn_ = now;
  std::string line = fmt::format("\r\033[K{} {:3.0f} %  step {}", bar_text(fraction), 100 * fraction, step);
  if (total > 0) line += fmt::format("/{}", total);
  line += fmt::format("  {:.0f} tokens/s", tokens_per_second);
  const double elapsed = std::chrono::duration<double>(now - start_->time).count(), done = fraction - start_->fraction;
  if (done > 0) line += fmt::format("  {} left", duration_text(elapsed * (1 - fraction) / done));
  say_raw(line);
  bar_shown_ = true;
}

void ProgressView::on_metrics(const StepMetrics& m) {
  clear_bar();
  std::string line = fmt::format("step {}", m.step);
  auto add = [&](const char* form, const std::optional<double>& value) {
    if (value) line += fmt::format(fmt::runtime(form), *value);
  };
  add("  loss {:.4f}", m.loss);
  add("  nll {:.4f}", m.nll);
  add("  lr {:.2e}", m.lr);
  add("  grad {:.2f}", m.grad_norm);
  add("  {:.0f} tokens/s", m.tokens_per_second);
  add("  valid nll {:.4f}", m.valid_nll);
  add("  ppl {:.2f}", m.valid_ppl);
  add("  BLEU {:.2f}", m.valid_bleu);
  add("  chrF {:.2f}", m.valid_chrf);
  say(line);
}

}  // namespace glass::program
