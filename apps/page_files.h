// The files of the inspector's page, as the build put them into the program (cmake/Page.cmake).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace glass::program {

struct PageFile {
  std::string_view name;  // "app.js"
  std::string_view type;  // of its content
  std::string_view gzip;  // the file, compressed
  std::string etag;       // changes with the content, quoted as HTTP has it

  std::string text() const;  // the file itself
};

// index.html, app.js and app.css; none if the program was built without its page.
const std::vector<PageFile>& page_files();

// Throws InputError, which says how to get the page, if there is none.
const PageFile& page_file(std::string_view name);

// What a person can do who has no page.
inline constexpr std::string_view how_to_get_the_page =
    "this program was built without the inspector's page; install nodejs and npm, remove the folder \"page\" in the "
    "build "
    "folder, configure and build again";

}  // namespace glass::program
