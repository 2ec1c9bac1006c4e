#include "plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace glass::program {

namespace {

constexpr double width = 720, height = 360, left = 56, right = 16, top = 40, bottom = 32;

struct Range {
  double low = 1e300, high = -1e300;
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  // Where `value` lies, from 0 to 1.
  double share(double value) const { return high > low ? (value - low) / (high - low) : 0.5; }
};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

}  // namespace

std::string chart_svg(const std::string& title, const std::vector<Curve>& curves) {
  Range x, y;
  for (const Curve& curve : curves) {
    for (size_t i = 0; i < curve.values.size(); ++i) {
      x.include(curve.first_x + static_cast<double>(i));
      y.include(curve.values[i]);
    }
  }
  auto at_x = [&](double value) { return left + x.share(value) * (width - left - right); };
  auto at_y = [&](double value) { return height - bottom - y.share(value) * (height - top - bottom); };

  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n<text x=\"{2}\" y=\"20\" font-size=\"14\">{3}</text>\n",
      width, height, left, escaped(title));
  constexpr int grid_lines = 5;
  for (int i = 0; i < grid_lines; ++i) {
    const double value = y.low + (y.high - y.low) * i / (grid_lines - 1);
    svg += fmt::format(
        "<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>"
        "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:.3g}</text>\n",
        left, width - right, at_y(value), at_y(value), left - 6, at_y(value) + 4, value);
  }
  double legend = left;
  for (const Curve& curve : curves) {
    std::string points;
    for (size_t i = 0; i < curve.values.size(); ++i) {
      points += fmt::format("{:.1f},{:.1f} ", at_x(curve.first_x + static_cast<double>(i)), at_y(curve.values[i]));
    }
    svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n", points,
                       curve.color, curve.dashed ? " stroke-dasharray=\"6 4\"" : "");
    svg += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\">{}</text>\n", legend, height - 8, curve.color,
                       escaped(curve.name));
    legend += 16 + 8 * static_cast<double>(curve.name.size());
  }
  return svg + "</svg>\n";
}

}  // namespace glass::program
