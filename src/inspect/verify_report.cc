#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "glassformer/inspect/verify.h"

namespace glass {

namespace {

using Json = nlohmann::ordered_json;

std::vector<Dim> row_of(const CellDifference& cell) {
  return cell.index.empty() ? cell.index : std::vector<Dim>(cell.index.begin(), cell.index.end() - 1);
}
Dim cell_of(const CellDifference& cell) { return cell.index.empty() ? 0 : cell.index.back(); }

// "row [0,1,2], cell 3", and less for fewer axes.
std::string place_text(const CellDifference& cell) {
  if (cell.index.empty()) return "its one number";
  if (cell.index.size() == 1) return fmt::format("cell {}", cell_of(cell));
  return fmt::format("row [{}], cell {}", fmt::join(row_of(cell), ","), cell_of(cell));
}

std::string difference_text(const TensorComparison& c) {
  if (!(c.shape == c.reference_shape)) {
    return fmt::format("{}: shape {}, in the reference {}\n", c.name, c.shape.text(), c.reference_shape.text());
  }
  const CellDifference& cell = *c.first;
  return fmt::format(
      "{} {}: {} is {:.9g}, in the reference {:.9g}\n"
      "  {:.3g} apart, {:.3g} allowed; {} of {} cells out of tolerance, the largest difference {:.3g}\n",
      c.name, c.shape.text(), place_text(cell), cell.value, cell.reference, std::abs(cell.value - cell.reference),
      cell.allowed, c.out_of_tolerance, c.shape.numel(), c.largest_difference);
}

std::string names_text(const char* what, const std::vector<std::string>& names) {
  return names.empty() ? std::string() : fmt::format("{} ({}):\n  {}\n", what, names.size(), fmt::join(names, "\n  "));
}

std::string others_text(const VerifyReport& report) {
  std::vector<std::string> others;
  for (const TensorComparison& c : report.compared) {
    if (!c.agrees() && &c != report.first_difference()) others.push_back(c.name);
  }
  return names_text("also different", others);
}

Json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Json shape_json(const Shape& shape) { return Json(std::vector<Dim>(shape.begin(), shape.end())); }

Json cell_json(const CellDifference& cell) {
  return {{"row", row_of(cell)},
          {"cell", cell_of(cell)},
          {"value", number(cell.value)},
          {"reference", number(cell.reference)},
          {"difference", number(std::abs(cell.value - cell.reference))},
          {"allowed", number(cell.allowed)}};
}

Json comparison_json(const TensorComparison& c) {
  return {{"name", c.name},
          {"shape", shape_json(c.shape)},
          {"reference_shape", shape_json(c.reference_shape)},
          {"out_of_tolerance", c.out_of_tolerance},
          {"cells", c.shape.numel()},
          {"largest_difference", number(c.largest_difference)},
          {"first", c.first ? cell_json(*c.first) : Json(nullptr)}};
}

}  // namespace

std::string verify_text(const VerifyReport& report) {
  std::string out;
  if (const TensorComparison* first = report.first_difference()) out += difference_text(*first) + others_text(report);
  out += names_text("missing, in the reference only", report.missing);
  out += names_text("extra, in the trace only, not compared", report.extra);
  size_t equal = 0;
  for (const TensorComparison& c : report.compared) equal += c.agrees();
  return out + fmt::format("{} of {} tensors agree within rtol {:g} and atol {:g}\n", equal,
                           report.compared.size() + report.missing.size(), report.tolerance.rtol,
                           report.tolerance.atol);
}

std::string verify_json(const VerifyReport& report) {
  Json json{{"agrees", report.agrees()},
            {"rtol", report.tolerance.rtol},
            {"atol", report.tolerance.atol},
            {"compared", report.compared.size()},
            {"first", nullptr},
            {"differing", Json::array()},
            {"missing", report.missing},
            {"extra", report.extra}};
  if (const TensorComparison* first = report.first_difference()) {
    json["first"] = {{"name", first->name}};
    if (first->first) json["first"].update(cell_json(*first->first));
  }
  for (const TensorComparison& c : report.compared) {
    if (!c.agrees()) json["differing"].push_back(comparison_json(c));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace glass
