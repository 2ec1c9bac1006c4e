#include <utility>

#include "glassformer/base/error.h"
#include "glassformer/data/text.h"
#include "glassformer/decode/translator.h"

namespace glass {

void translate_stream(
    const Translator& translator, LineReader& lines, const TranslateOptions& options, size_t block,
    const std::function<void(const std::vector<std::string>&, const std::vector<Translation>&)>& sink) {
  std::vector<std::string> waiting;
  const auto answer = [&] {
    const std::vector<std::string> block_lines = std::exchange(waiting, {});
    if (!block_lines.empty()) sink(block_lines, translator.translate(block_lines, options));
  };
  try {
    for (std::string line; lines.next(line);) {
      waiting.push_back(line);
      if (waiting.size() >= block || !lines.has_line_ready()) answer();
    }
  } catch (const InputError&) {
    answer();
    throw;
  }
  answer();
}

}  // namespace glass
