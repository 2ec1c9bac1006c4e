#include <map>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "glassformer/decode/saved_model.h"
#include "output.h"

namespace glass::program {

namespace {

struct Options {
  std::string model;
  bool json = false;
};

struct Row {
  std::string name, kind, shapes;
  Dim parameters = 0;
};

// One row a module that has parameters of its own, in order.
void collect_rows(const Module& module, const std::string& path, std::vector<Row>& rows) {
  Row row{path, module.kind(), {}, 0};
  for (const NamedParameter& parameter : module.own_parameters()) {
    row.shapes += (row.shapes.empty() ? "" : "  ") + parameter.name + " " + parameter.tensor.shape().text();
    row.parameters += parameter.tensor.numel();
  }
  if (!row.shapes.empty()) rows.push_back(row);
  for (const Module* child : module.children()) {
    collect_rows(*child, path.empty() ? child->name() : path + "." + child->name(), rows);
  }
}

Dim distinct_parameters(const Module& module) {
  std::map<const void*, Dim> sizes;
  for (const NamedParameter& parameter : module.named_parameters())
    sizes[parameter.tensor.id()] = parameter.tensor.numel();
  Dim total = 0;
  for (const auto& [id, size] : sizes) total += size;
  return total;
}

void print_text(const std::string& task, const TransformerConfig& config, const std::vector<Row>& rows, Dim total,
                const ModelInfo& info) {
  print(fmt::format("task {}, {} parameters\nconfiguration {}\n\n", task, total, config_to_json(config)));
  size_t width = 6, kind_width = 5;
  for (const Row& row : rows) {
    width = std::max(width, row.name.size());
    kind_width = std::max(kind_width, row.kind.size());
  }
  print(fmt::format("{:{}}  {:{}}  {:>11}  shapes\n", "module", width, "class", kind_width, "parameters"));
  for (const Row& row : rows) {
    print(fmt::format("{:{}}  {:{}}  {:>11}  {}\n", row.name, width, row.kind, kind_width, row.parameters, row.shapes));
  }
  for (const auto& [key, value] : info) {
    if (key != "recipe") print(fmt::format("\n{} {}", key, value));
  }
  print("\n");
}

int run(const Options& o) {
  const SafeTensors contents = read_safetensors(o.model);
  const std::string task = task_of(contents, o.model);
  SavedTranslation translation;
  SavedForecast forecast;
  const Module* module = nullptr;
  const TransformerConfig* config = nullptr;
  if (task == "forecast") {
    forecast = forecast_from(contents, o.model);
    module = forecast.model.get();
    config = &forecast.model->config;
  } else {
    translation = translation_from(contents, o.model);
    module = translation.model.get();
    config = &translation.model->config;
  }
  const ModelInfo& info = task == "forecast" ? forecast.info : translation.info;
  std::vector<Row> rows;
  collect_rows(*module, "", rows);
  const Dim total = distinct_parameters(*module);
  if (!o.json) {
    print_text(task, *config, rows, total, info);
    return 0;
  }
  nlohmann::ordered_json json{
      {"task", task}, {"parameters", total}, {"config", nlohmann::ordered_json::parse(config_to_json(*config))}};
  for (const Row& row : rows)
    json["modules"].push_back(
        {{"name", row.name}, {"class", row.kind}, {"parameters", row.parameters}, {"shapes", row.shapes}});
  json["info"] = info;
  print(json.dump(2) + "\n");
  return 0;
}

}  // namespace

void add_info(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("info", "Parameters and shapes of a model, by module");
  command->add_option("--model", options->model, "Model file")->required();
  command->add_flag("--json", options->json, "As JSON");
  command->footer("Example: glassformer info --model runs/demo/model.safetensors");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace glass::program
