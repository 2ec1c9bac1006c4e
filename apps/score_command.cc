#include <nlohmann/json.hpp>

#include "commands.h"
#include "glassformer/data/text.h"
#include "output.h"
#include "scores.h"

namespace glass::program {

namespace {

struct Options {
  std::string hypothesis;
  std::vector<std::string> references;
  ScoreFlags score;
  bool replace_invalid = false;
};

int run(const Options& o) {
  const InvalidUtf8 invalid = o.replace_invalid ? InvalidUtf8::replace : InvalidUtf8::error;
  const auto hypotheses = read_lines(o.hypothesis, invalid);
  References references;
  for (const std::string& path : o.references) {
    references.push_back(read_lines(path, invalid));
    if (references.back().size() != hypotheses.size()) {
      throw InputError(fmt::format("{} has {} lines, {} has {}; line n is scored against line n", o.hypothesis,
                                   hypotheses.size(), path, references.back().size()));
    }
  }
  print(scores_text(hypotheses, references, o.score));
  return 0;
}

}  // namespace

void add_score(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("score", "BLEU and chrF of a translation, equal to sacreBLEU's");
  command->add_option("hypothesis", options->hypothesis, "Translated lines")->required();
  command->add_option("references", options->references, "Reference lines, one file or more")->required();
  options->score.add_to(*command);
  command->add_flag("--replace-invalid", options->replace_invalid, "Put U+FFFD where the text is not UTF-8");
  command->footer("Example: glassformer score output.zh test.zh --tokenize zh");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace glass::program
