#include "report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "glassformer/base/error.h"
#include "page_files.h"
#include "report_answers.h"
#include "zlib_text.h"

namespace glass::program {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view policy =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; style-src "
    "'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">";

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// A "<" could end the element it stands in.
std::string for_json(std::string text) {
  replace_all(text, "<", "\\u003c");
  return text;
}

std::string for_script(std::string text) {
  replace_all(text, "</script", "<\\/script");
  return text;
}

std::string for_style(std::string text) {
  replace_all(text, "</style", "<\\/style");
  return text;
}

// Puts `by` in the place of the element `tag` that names `file`: <link … href="app.css">, <script …
// src="app.js"></script>.
void replace_element(std::string& html, const std::string& tag, const std::string& file, const std::string& end,
                     const std::string& by) {
  const size_t name = html.find('"' + file + '"');
  const size_t begin = name == std::string::npos ? name : html.rfind('<' + tag, name);
  const size_t close = name == std::string::npos ? name : html.find(end, name);
  if (begin == std::string::npos || close == std::string::npos)
    throw SystemError("report: the page does not name its " + file);
  html.replace(begin, close + end.size() - begin, by);
}

// `answers` as docs/inspector-api.md has them: where each is, and all of them compressed at once.
std::string answers_text(const std::vector<const ReportAnswer*>& answers) {
  Json places = Json::object();
  std::string bodies;
  for (const ReportAnswer* answer : answers) {
    places[answer->url] = {{"type", answer->type}, {"at", {bodies.size(), bodies.size() + answer->body.size()}}};
    bodies += answer->body;
  }
  const Json json{{"answers", std::move(places)}, {"deflate", base64(zlib_compressed(bodies))}};
  return for_json(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string page_with(const std::string& answers) {
  std::string html = page_file("index.html").text();
  // Modules run once the document is there, in the order of their elements.
  const std::string scripts = "<script type=\"application/json\" id=\"answers\">" + answers +
                              "</script>\n<script type=\"module\">" + for_script(page_file("app.js").text()) +
                              "</script>";
  replace_element(html, "link", "app.css", ">", "<style>" + for_style(page_file("app.css").text()) + "</style>");
  replace_element(html, "script", "app.js", "</script>", scripts);
  const size_t head = html.find("<head>");
  if (head == std::string::npos) throw SystemError("report: the page has no head");
  return html.insert(head + 6, policy);
}

// One choice of what is in the report.
struct Choice {
  bool scores = true, tensors = true, weights = true, large_overviews = true;

  bool has(ReportPart part) const {
    switch (part) {
      case ReportPart::scores:
        return scores;
      case ReportPart::tensors:
        return tensors;
      case ReportPart::weights:
        return weights;
      case ReportPart::large_overviews:
        return large_overviews && !weights;
      case ReportPart::core:
        break;
    }
    return true;
  }
  // Gives up what is worth least of what is left; false if nothing is.
  bool give_up() {
    for (bool* part : {&scores, &tensors, &weights, &large_overviews}) {
      if (*part) return *part = false, true;
    }
    return false;
  }
  std::vector<std::string> left_out() const {
    std::vector<std::string> words;
    if (!scores) words.push_back("scores before softmax");
    if (!tensors) words.push_back("queries, keys, values, contexts and inputs as numbers");
    if (!weights) words.push_back("weights of single heads at full size");
    return words;
  }
};

std::string meta_text(const std::string& meta, const ReportAnswers& answers, const Choice& choice) {
  Json json = Json::parse(meta);
  json["report"] = true;
  json["traces"] = answers.traces();
  json["left_out"] = choice.left_out();
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Report report_of(const ReportAnswers& answers, const Choice& choice) {
  ReportAnswer meta;
  std::vector<const ReportAnswer*> chosen;
  for (const ReportAnswer& answer : answers.all()) {
    if (!choice.has(answer.part)) continue;
    chosen.push_back(&answer);
    if (answer.url != "meta") continue;
    meta = {answer.url, answer.part, answer.type, meta_text(answer.body, answers, choice)};
    chosen.back() = &meta;
  }
  return {page_with(answers_text(chosen)), choice.left_out()};
}

}  // namespace

Report make_report(Inspector& inspector, const ReportOptions& options) {
  page_file("index.html");  // without a page nothing need be computed
  const ReportAnswers answers(inspector, options);
  Choice choice;
  choice.scores = !answers.incomplete(ReportPart::scores);
  choice.tensors = !answers.incomplete(ReportPart::tensors);
  choice.weights = !answers.incomplete(ReportPart::weights);
  for (;;) {
    Report report = report_of(answers, choice);
    if (report.html.size() <= options.most_bytes || !choice.give_up()) return report;
  }
}

}  // namespace glass::program
