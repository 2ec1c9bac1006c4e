#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "glassformer/base/error.h"
#include "glassformer/data/series.h"
#include "glassformer/data/text.h"

namespace glass {

namespace {

using Fields = std::vector<std::string>;

// Fields may be quoted ("a, b", with "" for a quote).
Fields split_fields(const std::string& line) {
  Fields fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  return fields;
}

// A finite decimal number, blanks and a plus sign before it allowed.
std::optional<double> number(const std::string& field) {
  size_t begin = field.find_first_not_of(" \t");
  if (begin == std::string::npos) return {};
  if (field[begin] == '+' && field.find_first_of("+-", begin + 1) != begin + 1) ++begin;
  const char* const end = field.data() + field.find_last_not_of(" \t") + 1;
  double value = 0;
  const auto [stop, error] = std::from_chars(field.data() + begin, end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return {};
  return value;
}

std::string join(const Fields& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

bool contains(const Fields& fields, const std::string& name) {
  return std::find(fields.begin(), fields.end(), name) != fields.end();
}

// A row of data may lack a number, or have a date before it; a header has none at all, unless its years are asked for
// by name.
bool is_header(const Fields& first, const Fields& wanted) {
  const auto is_number = [](const std::string& field) { return number(field).has_value(); };
  if (std::none_of(first.begin(), first.end(), is_number)) return true;
  return std::any_of(wanted.begin(), wanted.end(),
                     [&](const std::string& name) { return !is_number(name) && contains(first, name); });
}

Fields numbered_names(size_t count) {
  Fields names;
  for (size_t i = 1; i <= count; ++i) names.push_back(std::to_string(i));
  return names;
}

// The place of a column by its name or, failing that, its number from 1.
size_t find_column(const std::string& path, const Fields& names, const std::string& wanted) {
  const auto found = std::find(names.begin(), names.end(), wanted);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  size_t index = 0;
  const auto [stop, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), index);
  if (error == std::errc() && stop == wanted.data() + wanted.size() && index >= 1 && index <= names.size())
    return index - 1;
  throw InputError(path + ": no column \"" + wanted + "\"; it has " + join(names));
}

std::vector<size_t> choose_columns(const std::string& path, const Fields& names, const Fields& first_row,
                                   const Fields& wanted) {
  std::vector<size_t> chosen;
  for (const std::string& name : wanted) chosen.push_back(find_column(path, names, name));
  for (size_t i = 0; wanted.empty() && i < std::min(names.size(), first_row.size()); ++i) {
    if (number(first_row[i])) chosen.push_back(i);
  }
  for (size_t i = 0; i < chosen.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (names[chosen[i]] != names[chosen[j]]) continue;
      throw InputError(path + ": two of its columns are called \"" + names[chosen[i]] +
                       "\", or one is named twice; give each a name of its own");
    }
  }
  if (chosen.empty()) throw InputError(path + ": no numeric column in its first row of data; fields end at commas");
  return chosen;
}

}  // namespace

Series read_csv(const std::string& path, const std::vector<std::string>& columns) {
  std::vector<std::string> lines =
      read_lines(path, InvalidUtf8::replace);  // a name may be in any encoding; numbers are ASCII
  while (lines.size() > 1 && lines.back().empty()) lines.pop_back();
  const Fields first = split_fields(lines[0]);
  const size_t first_row = is_header(first, columns) ? 1 : 0;
  if (lines.size() <= first_row) throw InputError(path + ": has no rows of data");
  const Fields names = first_row == 1 ? first : numbered_names(first.size());
  const auto chosen = choose_columns(path, names, split_fields(lines[first_row]), columns);
  Series series;
  for (const size_t column : chosen) series.columns.push_back(names[column]);
  for (size_t i = first_row; i < lines.size(); ++i) {
    const Fields fields = split_fields(lines[i]);
    std::vector<double>& row = series.rows.emplace_back();
    for (size_t c = 0; c < chosen.size(); ++c) {
      const auto value = chosen[c] < fields.size() ? number(fields[chosen[c]]) : std::nullopt;
      if (!value) {
        throw InputError(path + ":" + std::to_string(i + 1) + ":" + std::to_string(chosen[c] + 1) + ": column \"" +
                         series.columns[c] + "\" holds no finite number; fill the gap, or name other columns");
      }
      row.push_back(*value);
    }
  }
  return series;
}

}  // namespace glass
