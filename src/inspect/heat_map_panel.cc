#include "inspect/heat_map_panel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "glassformer/base/error.h"
#include "inspect/drawing_colors.h"

namespace glass {

namespace {

constexpr int title_size = 11;
constexpr Color not_finite{0xff, 0x00, 0xff};

void check(const HeatMap& map) {
  const Shape& shape = map.values.shape();
  const auto fits = [](const std::vector<std::string>& names, Dim count) {
    return names.empty() || static_cast<Dim>(names.size()) == count;
  };
  if (shape.rank() == 2 && shape[0] > 0 && shape[1] > 0 && fits(map.rows, shape[0]) && fits(map.columns, shape[1]) &&
      (!map.allowed.defined() || map.allowed.shape() == shape)) {
    return;
  }
  throw ShapeError("heat map \"" + map.title + "\": values " + shape.text() + ", " + std::to_string(map.rows.size()) +
                   " row and " + std::to_string(map.columns.size()) + " column names" +
                   (map.allowed.defined() ? ", mask " + map.allowed.shape().text() : ""));
}

Cells pooled(const HeatMap& map, Dim block_rows, Dim block_columns) {
  const Dim rows = map.values.size(0), columns = map.values.size(1);
  Cells out{(rows + block_rows - 1) / block_rows, (columns + block_columns - 1) / block_columns, {}, {}};
  const auto count = static_cast<size_t>(out.rows * out.columns);
  out.values.assign(count, std::numeric_limits<double>::quiet_NaN());
  out.allowed.assign(count, false);
  const std::vector<double> values = map.values.to_vector();
  const std::vector<double> allowed = map.allowed.defined() ? map.allowed.to_vector() : std::vector<double>();
  for (Dim i = 0; i < rows; ++i) {
    for (Dim j = 0; j < columns; ++j) {
      const auto from = static_cast<size_t>(i * columns + j);
      const auto to = static_cast<size_t>(i / block_rows * out.columns + j / block_columns);
      if (!allowed.empty() && allowed[from] == 0) continue;
      double& shown = out.values[to];
      const bool first = !out.allowed[to];
      if (first || std::isnan(values[from]) || std::abs(values[from]) > std::abs(shown)) shown = values[from];
      out.allowed[to] = true;
    }
  }
  return out;
}

// In steps that nobody can tell apart, so that equal neighbours become one box.
Color color_of(double value, ColorScale scale, double largest) {
  constexpr double steps = 63;
  if (scale == ColorScale::mask) return may_attend_color;
  if (!std::isfinite(value)) return not_finite;
  if (scale == ColorScale::share) return share_color(std::round(std::clamp(value / largest, 0.0, 1.0) * steps) / steps);
  return signed_color(largest > 0 ? std::round(value / largest * steps) / steps : 0, 1);
}

bool same(Color a, Color b) { return a.red == b.red && a.green == b.green && a.blue == b.blue; }

double name_size(int cell) { return std::clamp(0.8 * cell, 7.0, 12.0); }

int widest(const std::vector<std::string>& names, double size) {
  double width = 0;
  for (const std::string& name : names) width = std::max(width, text_width(name, size));
  return names.empty() ? 0 : 6 + static_cast<int>(width);
}

}  // namespace

Panel::Panel(const HeatMap& map, const CellSize& cell) : map_(map), cell_(cell) {
  check(map);
  cells_ = pooled(map, cell.block_rows, cell.block_columns);
  left_ = widest(map.rows, row_size());
  above_ = widest(map.columns, column_size());
}

double Panel::row_size() const { return name_size(cell_.height); }
double Panel::column_size() const { return name_size(cell_.width); }
int Panel::above() const { return above_ + (map_.title.empty() ? 0 : title_size + 6); }
int Panel::height() const { return static_cast<int>(cells_.rows) * cell_.height; }

int Panel::width() const {
  const int cells = static_cast<int>(cells_.columns) * cell_.width;
  return std::max(cells, static_cast<int>(text_width(map_.title, title_size)));
}

bool Panel::has_masked() const {
  return std::find(cells_.allowed.begin(), cells_.allowed.end(), false) != cells_.allowed.end();
}

void Panel::draw(int x, int y, ColorScale scale, double largest, Drawing& to) const {
  if (!map_.title.empty()) {
    to.texts.push_back({double(x), double(y - above_ - 5), map_.title, title_size, Drawing::Anchor::start, false, ink});
  }
  for (Dim i = 0; i < cells_.rows; ++i) draw_row(x, y, i, scale, largest, to);
  draw_lattice(x, y, to);
  draw_names(x, y, to);
}

void Panel::draw_row(int x, int y, Dim i, ColorScale scale, double largest, Drawing& to) const {
  Drawing::Box run;
  for (Dim j = 0; j < cells_.columns; ++j) {
    const auto at = static_cast<size_t>(i * cells_.columns + j);
    const bool hatched = !cells_.allowed[at];
    const Color color = hatched ? Color() : color_of(cells_.values[at], scale, largest);
    if (run.width > 0 && run.hatched == hatched && same(run.color, color)) {
      run.width += cell_.width;
      continue;
    }
    if (run.width > 0) to.boxes.push_back(run);
    run = {x + static_cast<int>(j) * cell_.width,
           y + static_cast<int>(i) * cell_.height,
           cell_.width,
           cell_.height,
           color,
           hatched};
  }
  to.boxes.push_back(run);
}

// Thin lines between large cells, so that equal neighbours can be counted.
void Panel::draw_lattice(int x, int y, Drawing& to) const {
  constexpr int large = 16;
  constexpr Color white{255, 255, 255};
  if (std::min(cell_.width, cell_.height) < large) return;
  const double right = x + static_cast<double>(cells_.columns) * cell_.width, bottom = y + height();
  for (Dim i = 1; i < cells_.rows; ++i) {
    const double at = y + static_cast<double>(i) * cell_.height;
    to.lines.push_back({{{double(x), at}, {right, at}}, white, 1});
  }
  for (Dim j = 1; j < cells_.columns; ++j) {
    const double at = x + static_cast<double>(j) * cell_.width;
    to.lines.push_back({{{at, double(y)}, {at, bottom}}, white, 1});
  }
}

// Where cells are smaller than letters, names are left out until there is room for the next.
void Panel::draw_names(int x, int y, Drawing& to) const {
  constexpr int letters = 8;
  int free_from = 0;
  for (size_t i = 0; i < map_.rows.size(); ++i) {
    const int at = cell_.y_of(static_cast<Dim>(i));
    if (map_.rows[i].empty() || at < free_from) continue;
    const double base = y + at + 0.5 * cell_.height + 0.35 * row_size();
    to.texts.push_back({x - 4.0, base, map_.rows[i], row_size(), Drawing::Anchor::end, false, ink});
    free_from = at + letters;
  }
  free_from = 0;
  for (size_t j = 0; j < map_.columns.size(); ++j) {
    const int at = cell_.x_of(static_cast<Dim>(j));
    if (map_.columns[j].empty() || at < free_from) continue;
    const double base = x + at + 0.5 * cell_.width + 0.35 * column_size();
    to.texts.push_back({base, y - 4.0, map_.columns[j], column_size(), Drawing::Anchor::start, true, ink});
    free_from = at + letters;
  }
}

}  // namespace glass
