#include "page_files.h"

#include <fmt/format.h>

#include "glassformer/base/error.h"
#include "zlib_text.h"

// The build makes the files before it compiles this one; they are empty where the page could not be built.
#define GLASS_EMBED(symbol, file)                                                                      \
  asm(".pushsection .rodata\n" #symbol "_begin:\n.incbin \"" GLASS_PAGE_FOLDER "/" file "\"\n" #symbol \
      "_end:\n.byte 0\n.popsection\n");                                                                \
  extern "C" __attribute__((visibility("hidden"))) const char symbol##_begin[], symbol##_end[]

GLASS_EMBED(glass_page_index, "index.html.gz");
GLASS_EMBED(glass_page_script, "app.js.gz");
GLASS_EMBED(glass_page_style, "app.css.gz");

namespace glass::program {

namespace {

// FNV-1a: enough to tell two builds apart.
std::string etag_of(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("\"{:016x}\"", hash);
}

PageFile embedded(std::string_view name, std::string_view type, const char* begin, const char* end) {
  const std::string_view bytes(begin, static_cast<size_t>(end - begin));
  return {name, type, bytes, etag_of(bytes)};
}

std::vector<PageFile> embedded_files() {
  std::vector<PageFile> files = {
      embedded("index.html", "text/html; charset=utf-8", glass_page_index_begin, glass_page_index_end),
      embedded("app.js", "text/javascript; charset=utf-8", glass_page_script_begin, glass_page_script_end),
      embedded("app.css", "text/css; charset=utf-8", glass_page_style_begin, glass_page_style_end),
  };
  if (files.front().gzip.empty()) files.clear();
  return files;
}

}  // namespace

std::string PageFile::text() const { return gunzip(gzip); }

const std::vector<PageFile>& page_files() {
  static const std::vector<PageFile> files = embedded_files();
  return files;
}

const PageFile& page_file(std::string_view name) {
  for (const PageFile& file : page_files()) {
    if (file.name == name) return file;
  }
  throw InputError(std::string(how_to_get_the_page));
}

}  // namespace glass::program
