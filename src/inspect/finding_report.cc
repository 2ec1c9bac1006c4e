#include "glassformer/inspect/finding_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "inspect/answer.h"

namespace glass {

namespace {

const char* name_of(Certainty certainty) {
  return certainty == Certainty::certain ? "certain" : certainty == Certainty::likely ? "likely" : "possible";
}

const char* name_of(Severity severity) { return severity == Severity::fault ? "fault" : "note"; }

std::string joined(const std::vector<std::string>& words, size_t most) {
  std::string text;
  for (size_t i = 0; i < std::min(most, words.size()); ++i) text += (i > 0 ? ", " : "") + words[i];
  if (words.size() > most) text += fmt::format(" and {} more", words.size() - most);
  return text;
}

std::string evidence_text(const Evidence& e) {
  return fmt::format("  {}: {:.4g}{}\n", e.name, e.measured, e.healthy.empty() ? "" : "; healthy: " + e.healthy);
}

std::string finding_text(const Finding& f) {
  std::string text = fmt::format("{} ({}, {})\n  {}\n", f.check, name_of(f.severity), name_of(f.certainty), f.what);
  if (!f.places.empty()) text += fmt::format("  where: {}\n", joined(f.places, 4));
  if (f.step) text += fmt::format("  step: {}\n", *f.step);
  for (const Evidence& e : f.evidence) text += evidence_text(e);
  text += fmt::format("  cause: {}\n  remedy: {}\n", f.cause, f.remedy);
  if (!f.also.empty()) text += fmt::format("  this may explain as well: {}\n", joined(f.also, f.also.size()));
  return text;
}

nlohmann::ordered_json json_of(const Finding& f) {
  nlohmann::ordered_json json{{"check", f.check},
                              {"severity", name_of(f.severity)},
                              {"certainty", name_of(f.certainty)},
                              {"what", f.what},
                              {"places", f.places},
                              {"step", nullptr}};
  if (f.step) json["step"] = *f.step;
  json["evidence"] = nlohmann::ordered_json::array();
  for (const Evidence& e : f.evidence)
    json["evidence"].push_back({{"name", e.name}, {"measured", json_number(e.measured)}, {"healthy", e.healthy}});
  json["cause"] = f.cause;
  json["remedy"] = f.remedy;
  json["also"] = f.also;
  return json;
}

}  // namespace

std::string findings_text(const Findings& findings) {
  if (findings.empty()) return "no finding: healthy as far as the checks see\n";
  std::string text;
  for (const Finding& f : findings) text += (text.empty() ? "" : "\n") + finding_text(f);
  return text;
}

std::string findings_json(const Findings& findings) {
  nlohmann::ordered_json json{{"healthy", !has_faults(findings)}, {"findings", nlohmann::ordered_json::array()}};
  for (const Finding& f : findings) json["findings"].push_back(json_of(f));
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace glass
