#include "glassformer/inspect/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "glassformer/data/unicode.h"

namespace glass {

namespace {

// Along the way from `colors` first to last.
template <size_t N>
Color between(const std::array<Color, N>& colors, double share) {
  const double place = std::clamp(std::isnan(share) ? 0.0 : share, 0.0, 1.0) * (N - 1);
  const auto from = std::min(static_cast<size_t>(place), N - 2);
  const double rest = place - static_cast<double>(from);
  const auto mix = [&](uint8_t a, uint8_t b) { return static_cast<uint8_t>(std::lround(a + rest * (b - a))); };
  const Color &a = colors[from], &b = colors[from + 1];
  return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}

std::string hex(Color c) { return fmt::format("#{:02x}{:02x}{:02x}", c.red, c.green, c.blue); }

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  }
  return out;
}

constexpr double cell = 28, letter = 7, gap = 32, top = 56;

double longest(const std::vector<std::string>& names) {
  int width = 0;
  for (const std::string& name : names) width = std::max(width, display_width(name));
  return letter * width;
}

// One matrix with its upper left corner at (left, top); the width it takes goes to `width`, the height to `height`.
std::string matrix_svg(const HeadMatrix& m, double left, double& width, double& height) {
  const double names = longest(m.rows) + 8, heads = longest(m.columns) + 8;
  const double x0 = left + names, y0 = top + 24 + heads, largest = largest_absolute(m.values);
  std::string svg = fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"14\">{} {}</text>\n", left, top, escaped(m.name),
                                escaped(m.axes));
  for (size_t j = 0; j < m.columns.size(); ++j) {
    const double x = x0 + cell * (static_cast<double>(j) + 0.6);
    svg += fmt::format("<text transform=\"translate({:.1f},{:.1f}) rotate(-90)\">{}</text>\n", x, y0 - 4,
                       escaped(m.columns[j]));
  }
  for (Dim i = 0; i < m.values.size(0); ++i) {
    const double y = y0 + cell * static_cast<double>(i);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", x0 - 4, y + 0.65 * cell,
                       escaped(m.rows[static_cast<size_t>(i)]));
    for (Dim j = 0; j < m.values.size(1); ++j) {
      const bool forbidden = m.allowed.defined() && m.allowed.at({i, j}) == 0;
      const double value = m.values.at({i, j});
      svg += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" fill=\"{}\"><title>{}, {}: {}</title></rect>\n",
          x0 + cell * static_cast<double>(j), y, cell - 1, cell - 1,
          forbidden ? "url(#forbidden)" : hex(cell_color(m, value, largest)), escaped(m.rows[static_cast<size_t>(i)]),
          escaped(m.columns[static_cast<size_t>(j)]), forbidden ? "masked" : fmt::format("{:.4f}", value));
    }
  }
  width = std::max(names + cell * static_cast<double>(m.values.size(1)),
                   letter * static_cast<double>(m.name.size() + m.axes.size() + 4));
  height = y0 + cell * static_cast<double>(m.values.size(0));
  return svg;
}

}  // namespace

bool Color::is_dark() const { return 0.299 * red + 0.587 * green + 0.114 * blue < 140; }

Color share_color(double share) {
  static constexpr std::array<Color, 10> cividis{{{0x00, 0x22, 0x4e},
                                                  {0x12, 0x35, 0x70},
                                                  {0x3b, 0x49, 0x6c},
                                                  {0x57, 0x5d, 0x6d},
                                                  {0x70, 0x71, 0x73},
                                                  {0x8a, 0x86, 0x78},
                                                  {0xa5, 0x9c, 0x74},
                                                  {0xc3, 0xb3, 0x69},
                                                  {0xe1, 0xcc, 0x55},
                                                  {0xfe, 0xe8, 0x38}}};
  return between(cividis, share);
}

Color signed_color(double value, double largest) {
  static constexpr std::array<Color, 3> diverging{{{0x21, 0x66, 0xac}, {0xf7, 0xf7, 0xf7}, {0xb2, 0x18, 0x2b}}};
  return between(diverging, largest > 0 ? 0.5 + 0.5 * value / largest : 0.5);
}

Color cell_color(const HeadMatrix& matrix, double value, double largest) {
  return matrix.is_share ? share_color(value) : signed_color(value, largest);
}

double largest_absolute(const Tensor& values) {
  double largest = 0;
  for (const double value : values.to_vector()) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  return largest;
}

std::string heat_maps_svg(const std::string& title, const std::vector<HeadMatrix>& matrices) {
  std::string body;
  double left = 16, bottom = 0;
  for (const HeadMatrix& matrix : matrices) {
    double width = 0, height = 0;
    body += matrix_svg(matrix, left, width, height);
    left += width + gap;
    bottom = std::max(bottom, height);
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n"
      "<defs><pattern id=\"forbidden\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
      "<rect width=\"6\" height=\"6\" fill=\"#eee\"/><path d=\"M0 6 L6 0\" stroke=\"#999\"/></pattern></defs>\n"
      "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"white\"/>\n<text x=\"16\" y=\"26\" "
      "font-size=\"15\">{2}</text>\n{3}</svg>\n",
      left, bottom + 16, escaped(title), body);
}

}  // namespace glass
