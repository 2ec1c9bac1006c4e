#include "request_checks.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>

namespace glass::program {

namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool is_ipv4(const std::string& text) {
  in_addr address{};
  return inet_pton(AF_INET, text.c_str(), &address) == 1;
}

bool is_ipv6(const std::string& text) {
  in6_addr address{};
  return inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

bool is_address(const std::string& host) {
  const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  return brackets ? is_ipv6(host.substr(1, host.size() - 2)) : is_ipv4(host);
}

// Without its ":port", which must be ours; a browser leaves out 80.
bool take_port(std::string& host, int port) {
  const std::string suffix = ":" + std::to_string(port);
  if (!host.ends_with(suffix)) return port == 80;
  host.resize(host.size() - suffix.size());
  return true;
}

}  // namespace

bool is_loopback(const std::string& address) {
  return address == "::1" || lower(address) == "localhost" || (is_ipv4(address) && address.starts_with("127."));
}

std::string url_host(const std::string& address) { return is_ipv6(address) ? "[" + address + "]" : address; }

bool host_allowed(const std::string& host, const std::string& bound, int port) {
  std::string name = lower(host);
  if (!take_port(name, port)) return false;
  if (name == "localhost" || name == "127.0.0.1" || name == "[::1]" || name == lower(url_host(bound))) return true;
  return !is_loopback(bound) && is_address(name);
}

bool origin_allowed(const std::string& origin, const std::string& host) {
  return origin.empty() || lower(origin) == "http://" + lower(host);
}

bool matches_etag(const std::string& header, const std::string& etag) {
  return header == "*" || (!etag.empty() && header.find(etag) != std::string::npos);
}

}  // namespace glass::program
