// Who may ask a server on this machine. A page from elsewhere that a browser shows can send requests here too: by a
// name of its own that it lets point to this machine (DNS rebinding), or across origins. Both can be told by their
// headers.
#pragma once

#include <string>

namespace glass::program {

// Whether `host`, a Host header, names the server at `bound`:`port`: by the address it was bound to, or as this
// machine. A server that was bound to more than this machine is also reached by its address in numbers, which nobody
// can rebind.
bool host_allowed(const std::string& host, const std::string& bound, int port);

// Whether `origin`, an Origin header or empty for none, is the page that was served under `host`.
bool origin_allowed(const std::string& origin, const std::string& host);

// Whether a server at this address is for this machine alone.
bool is_loopback(const std::string& address);

// The address as it stands in a URL: IPv6 in brackets.
std::string url_host(const std::string& address);

// Whether an If-None-Match header names this entity tag.
bool matches_etag(const std::string& header, const std::string& etag);

}  // namespace glass::program
