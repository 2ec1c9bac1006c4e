#include "glassformer/data/text.h"
#include "glassformer/decode/translator.h"

namespace glass {

void translate_stream(const Translator& translator, LineReader& lines, const TranslateOptions& options, size_t block,
                      const std::function<void(const std::vector<std::string>&, const std::vector<Translation>&)>& sink) {
  std::vector<std::string> waiting;
  std::string line;
  bool more = true;
  while (more) {
    more = lines.next(line);
    if (more) waiting.push_back(line);
    const bool block_ends = !more || waiting.size() >= block || !lines.has_line_ready();
    if (!block_ends || waiting.empty()) continue;
    sink(waiting, translator.translate(waiting, options));
    waiting.clear();
  }
}

}  // namespace glass
