#include "glassformer/base/error.h"
#include "glassformer/data/text.h"
#include "glassformer/decode/translator.h"

namespace glass {

void translate_stream(
    const Translator& translator, LineReader& lines, const TranslateOptions& options, size_t block,
    const std::function<void(const std::vector<std::string>&, const std::vector<Translation>&)>& sink) {
  std::vector<std::string> waiting;
  const auto answer = [&] {
    if (!waiting.empty()) sink(waiting, translator.translate(waiting, options));
    waiting.clear();
  };
  const auto next = [&](std::string& line) {
    try {
      return lines.next(line);
    } catch (const InputError&) {
      answer();
      throw;
    }
  };
  for (std::string line; next(line);) {
    waiting.push_back(line);
    if (waiting.size() >= block || !lines.has_line_ready()) answer();
  }
  answer();
}

}  // namespace glass
