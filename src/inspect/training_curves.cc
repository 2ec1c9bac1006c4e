#include "glassformer/inspect/training_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include "glassformer/base/error.h"
#include "inspect/drawing_colors.h"

namespace glass {

std::vector<TrainingCurve> curves_of(const std::vector<MetricsLine>& lines) {
  std::vector<TrainingCurve> curves;
  std::unordered_map<std::string, size_t> places;
  for (const MetricsLine& line : lines) {
    for (const auto& [name, value] : line.values) {
      const auto [place, is_new] = places.try_emplace(name, curves.size());
      if (is_new) curves.push_back({name, {}});
      if (std::isfinite(value)) curves[place->second].points.emplace_back(static_cast<double>(line.step), value);
    }
  }
  return curves;
}

std::vector<TrainingCurve> read_curves(const std::string& path) { return curves_of(read_metrics_file(path)); }

namespace {

constexpr int width = 640, height = 150, left = 70, right = 120, title_height = 40, gap = 34;

struct Chart {
  std::string title;
  struct Wanted {
    std::string name, label;
    Color color;
  };
  std::vector<Wanted> curves;
};

const std::vector<Chart>& charts() {
  // Told apart by lightness as well as by colour.
  static const std::vector<Chart> all{{"loss",
                                       {{"loss", "loss", {0x9a, 0xa5, 0xb1}},
                                        {"nll", "nll", {0x35, 0x5c, 0x8d}},
                                        {"valid_nll", "validation nll", {0xc2, 0x57, 0x0c}}}},
                                      {"BLEU", {{"valid_bleu", "validation BLEU", {0xc2, 0x57, 0x0c}}}},
                                      {"learning rate", {{"lr", "learning rate", {0x35, 0x5c, 0x8d}}}}};
  return all;
}

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  double share(double value) const { return high > low ? (value - low) / (high - low) : 0.5; }
};

// Round numbers, four or so, inside the range.
std::vector<double> ticks(const Range& range) {
  if (!(range.high > range.low)) return {range.low};
  const double raw = (range.high - range.low) / 4, unit = std::pow(10, std::floor(std::log10(raw)));
  const double step = unit * (raw / unit < 1.5 ? 1 : raw / unit < 3.5 ? 2 : raw / unit < 7.5 ? 5 : 10);
  std::vector<double> out;
  for (double k = std::ceil(range.low / step); k * step <= range.high * (1 + 1e-12); ++k) out.push_back(k * step);
  return out;
}

const TrainingCurve* find(const std::vector<TrainingCurve>& curves, const std::string& name) {
  const auto found = std::find_if(curves.begin(), curves.end(),
                                  [&](const TrainingCurve& c) { return c.name == name && !c.points.empty(); });
  return found == curves.end() ? nullptr : &*found;
}

// One chart with its upper edge at `top`.
class Plot {
 public:
  Plot(const Chart& chart, const std::vector<TrainingCurve>& curves, const Range& steps, int top)
      : chart_(chart), curves_(curves), steps_(steps), top_(top) {
    for (const Chart::Wanted& wanted : chart.curves) {
      const TrainingCurve* curve = find(curves, wanted.name);
      if (curve == nullptr) continue;
      any_ = true;
      for (const auto& [step, value] : curve->points) values_.include(value);
    }
  }

  bool has_any() const { return any_; }

  void draw(Drawing& to) const {
    to.texts.push_back({left, double(top_ - 7), chart_.title, 12, Drawing::Anchor::start, false, ink});
    for (const double value : ticks(values_)) {
      to.lines.push_back({{{left, y(value)}, {width - right, y(value)}}, rule, 1});
      to.texts.push_back(
          {left - 6.0, y(value) + 3.5, fmt::format("{:.4g}", value), 10, Drawing::Anchor::end, false, grey});
    }
    double label_y = top_ + 10;
    for (const Chart::Wanted& wanted : chart_.curves) {
      const TrainingCurve* curve = find(curves_, wanted.name);
      if (curve == nullptr) continue;
      draw_curve(*curve, wanted.color, to);
      to.texts.push_back(
          {double(width - right + 10), label_y, wanted.label, 11, Drawing::Anchor::start, false, wanted.color});
      label_y += 15;
    }
  }

  void draw_steps(Drawing& to) const {
    for (const double step : ticks(steps_)) {
      to.texts.push_back(
          {x(step), double(top_ + height + 15), fmt::format("{:g}", step), 10, Drawing::Anchor::middle, false, grey});
    }
    to.texts.push_back(
        {double(width - right + 10), double(top_ + height + 15), "updates", 10, Drawing::Anchor::start, false, grey});
  }

 private:
  double x(double step) const { return left + steps_.share(step) * (width - left - right); }
  double y(double value) const { return top_ + height - values_.share(value) * height; }

  void draw_curve(const TrainingCurve& curve, Color color, Drawing& to) const {
    Drawing::Line line{{}, color, 1.5};
    for (const auto& [step, value] : curve.points) line.points.emplace_back(x(step), y(value));
    if (line.points.size() == 1)
      line.points.push_back({line.points[0].first + 3, line.points[0].second});  // a dash, to be seen
    to.lines.push_back(line);
  }

  const Chart& chart_;
  const std::vector<TrainingCurve>& curves_;
  Range steps_, values_;
  int top_;
  bool any_ = false;
};

}  // namespace

Drawing draw_curves(const std::string& title, const std::vector<TrainingCurve>& curves) {
  Range steps;
  for (const TrainingCurve& curve : curves) {
    for (const auto& [step, value] : curve.points) steps.include(step);
  }
  Drawing out;
  out.texts.push_back({16, 30, title, 15, Drawing::Anchor::start, false, ink});
  int top = title_height + gap / 2;
  std::optional<Plot> last;
  for (const Chart& chart : charts()) {
    const Plot plot(chart, curves, steps, top);
    if (!plot.has_any()) continue;
    plot.draw(out);
    last.emplace(plot);
    top += height + gap;
  }
  if (!last) throw InputError("curves: no loss, nll, valid_nll, valid_bleu or lr in these metrics");
  last->draw_steps(out);
  out.width = width;
  out.height = top;
  return out;
}

}  // namespace glass
