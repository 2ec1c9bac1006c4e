#include <cmath>
#include <nlohmann/json.hpp>

#include "glassformer/inspect/explain_report.h"

namespace glass {

namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Json shape_json(const Shape& shape) { return Json(std::vector<Dim>(shape.begin(), shape.end())); }

Json rows_json(const Tensor& x, const std::function<Json(Dim, Dim)>& cell) {
  Json rows = Json::array();
  for (Dim i = 0; i < x.size(0); ++i) {
    Json row = Json::array();
    for (Dim j = 0; j < x.size(1); ++j) row.push_back(cell(i, j));
    rows.push_back(row);
  }
  return rows;
}

Json step_json(const HeadMatrix& m) {
  const auto masked = [&](Dim i, Dim j) { return m.allowed.defined() && m.allowed.at({i, j}) == 0; };
  Json json{{"step", m.step},
            {"name", m.name},
            {"formula", m.formula},
            {"axes", m.axes},
            {"shape", shape_json(m.values.shape())},
            {"rows", m.rows},
            {"columns", m.columns}};
  json["values"] = rows_json(m.values, [&](Dim i, Dim j) {
    return masked(i, j) && !m.is_share ? Json(nullptr) : number(m.values.at({i, j}));
  });
  if (m.allowed.defined()) json["masked"] = rows_json(m.values, [&](Dim i, Dim j) { return Json(masked(i, j)); });
  return json;
}

}  // namespace

std::string explanation_json(const AttentionExplanation& e, int step) {
  Json json{{"path", e.path}, {"head", e.head}, {"heads", e.heads}, {"scale", e.scale}};
  json["walk"] = Json::array();
  for (const ShapeOnTheWay& place : e.walk) {
    json["walk"].push_back({{"what", place.what}, {"axes", place.axes}, {"shape", shape_json(place.shape)}});
  }
  json["steps"] = Json::array();
  for (const HeadMatrix& matrix : e.steps) {
    if (step == 0 || matrix.step == step) json["steps"].push_back(step_json(matrix));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace glass
