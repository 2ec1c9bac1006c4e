#include "page_server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "glassformer/base/error.h"
#include "page_files.h"
#include "request_checks.h"
#include "run_events.h"

namespace glass::program {

namespace {

using httplib::Request;
using httplib::Response;

constexpr const char* api = "/api/v1/";
constexpr size_t most_body = 1 << 20;  // bytes
constexpr int workers = 16, most_listeners = 8;
constexpr auto look_every = std::chrono::milliseconds(150);
constexpr auto heartbeat_every = std::chrono::seconds(15);  // so that nothing between takes the stream for dead

const httplib::Headers common_headers{
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri "
     "'none'; "
     "form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Accept-Ranges", "none"},
};

std::string error_text(const std::string& what) {
  return nlohmann::json{{"error", what}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// By a provider, since the library would compress what is given to it as a text, and what is compressed already again.
void send(Response& response, std::string body, const std::string& type) {
  if (body.empty()) return response.set_content(body, type.c_str());
  const auto kept = std::make_shared<const std::string>(std::move(body));
  response.set_content_provider(kept->size(), type.c_str(), [kept](size_t begin, size_t size, httplib::DataSink& sink) {
    return sink.write(kept->data() + begin, size);
  });
}

void send_error(Response& response, int status, const std::string& what) {
  response.status = status;
  response.set_header("Cache-Control", "no-store");
  send(response, error_text(what), "application/json");
}

// Errors that the library itself answers: a request too long, a method it does not know.
void explain_error(const Request& /*request*/, Response& response) {
  if (!response.body.empty() || response.has_header("Cache-Control")) return;
  const std::string what =
      response.status == 413 ? "the request is larger than 1 MB, or than 8 KB and not of Content-Type: application/json"
                             : "the request is not understood; see docs/inspector-api.md";
  response.set_content(error_text(what), "application/json");
}

// Before its body is read: the library counts only bodies of a known length against the limit.
httplib::Server::HandlerResponse refuse_unmeasured(const Request& request, Response& response) {
  if (!request.has_header("Transfer-Encoding")) return httplib::Server::HandlerResponse::Unhandled;
  send_error(response, 411, "a request says how long it is: Content-Length, not Transfer-Encoding");
  return httplib::Server::HandlerResponse::Handled;
}

void send_file(const Request& request, Response& response, const PageFile& file) {
  response.set_header("Cache-Control", "no-cache");  // keep it, but ask whether it is still the one
  response.set_header("ETag", file.etag);
  response.set_header("Vary", "Accept-Encoding");
  if (matches_etag(request.get_header_value("If-None-Match"), file.etag)) {
    response.status = 304;
    return;
  }
  if (request.get_header_value("Accept-Encoding").find("gzip") == std::string::npos)
    return send(response, file.text(), std::string(file.type));
  response.set_header("Content-Encoding", "gzip");
  send(response, std::string(file.gzip), std::string(file.type));
}

void send_placeholder(Response& response) {
  response.set_header("Cache-Control", "no-store");
  send(response,
       fmt::format("<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Glassformer</title>\n"
                   "<h1>Glassformer</h1>\n<p>There is no page here: {}.</p>\n"
                   "<p>What it would ask is answered all the same: see <code>{}meta</code> and "
                   "<code>docs/inspector-api.md</code>.</p></html>\n",
                   how_to_get_the_page, api),
       "text/html; charset=utf-8");
}

void send_page(const Request& request, Response& response) {
  const std::string name = request.path == "/" ? "index.html" : request.path.substr(1);
  for (const PageFile& file : page_files()) {
    if (file.name == name) return send_file(request, response, file);
  }
  if (name == "index.html") return send_placeholder(response);
  send_error(response, 404, request.path + ": there is no such file; the page is at /");
}

Question question_of(const Request& request) {
  Question question{
      request.method == "HEAD" ? "GET" : request.method, request.path.substr(std::strlen(api)), {}, request.body};
  for (const auto& [name, value] : request.params) question.query.emplace(name, value);
  return question;
}

// What a listener of run/events is sent, in steps.
class EventStream {
 public:
  EventStream(const std::string& run, int64_t offset, std::atomic<int>& listeners)
      : events_(run, offset), listeners_(listeners) {}
  ~EventStream() { --listeners_; }
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  // Sends what is new, or waits for a moment; with `last`, all that is left, and ends. False once the listener has
  // gone.
  bool step(httplib::DataSink& sink, bool last) {
    if (!sink.is_writable()) return false;  // a page that was closed keeps no place from another
    std::string text = begun_ ? events_.next() : "retry: 2000\n\n" + events_.next();
    if (last) text += events_.next();  // after the lines, the end
    const auto now = std::chrono::steady_clock::now();
    if (text.empty() && now - told_ > heartbeat_every) text = ": still here\n\n";
    if (!text.empty()) told_ = now;
    begun_ = true;
    if (!text.empty() && !sink.write(text.data(), text.size())) return false;
    if (last || events_.ended()) {
      sink.done();
    } else if (text.empty()) {
      std::this_thread::sleep_for(look_every);
    }
    return true;
  }

 private:
  RunEvents events_;
  std::atomic<int>& listeners_;
  bool begun_ = false;
  std::chrono::steady_clock::time_point told_ = std::chrono::steady_clock::now();
};

int64_t last_event(const Request& request) {
  const std::string id = request.get_header_value("Last-Event-ID");
  if (id.empty() || id.size() > 18 || id.find_first_not_of("0123456789") != std::string::npos) return -1;
  return std::stoll(id);
}

}  // namespace

struct PageServer::State {
  State(Inspector& i, ServerOptions o) : inspector(i), options(std::move(o)) {}

  void bind();
  void answer(const Request& request, Response& response);
  bool refuse(const Request& request, Response& response) const;
  void answer_question(const Request& request, Response& response);
  void send_events(const Request& request, Response& response);

  Inspector& inspector;
  ServerOptions options;
  int port = 0;
  std::atomic<bool> stopped = false, serving = false;
  std::mutex beginning;  // between stop() and the begin of serve()
  std::atomic<int> listeners = 0;
  httplib::Server http;
};

void PageServer::State::bind() {
  // The library's default would let two servers share a port.
  http.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  errno = 0;
  const bool any = options.port == 0;
  port = any ? http.bind_to_any_port(options.host) : http.bind_to_port(options.host, options.port) ? options.port : -1;
  if (port > 0) return;
  const std::string reason = errno != 0 ? std::string(" (") + std::strerror(errno) + ")" : "";
  throw SystemError(
      fmt::format("cannot listen on {}, port {}{}; {}", options.host, options.port, reason,
                  any ? "name an address of this machine" : "name another port, or 0 for any that is free"));
}

// Also of requests that another site sends: they could cost time even if the answer is kept from it.
bool PageServer::State::refuse(const Request& request, Response& response) const {
  const std::string host = request.get_header_value("Host");
  if (request.get_header_value_count("Host") != 1 || !host_allowed(host, options.host, port)) {
    send_error(response, 403, fmt::format("this server is {}:{}, not \"{}\"", url_host(options.host), port, host));
    return true;
  }
  if (!origin_allowed(request.get_header_value("Origin"), host)) {
    send_error(response, 403, "only this server's own page may ask");
    return true;
  }
  const bool question = request.path.starts_with(api), reads = request.method == "GET" || request.method == "HEAD";
  if (reads || (question && request.method == "POST")) return false;
  response.set_header("Allow", question ? "GET, HEAD, POST" : "GET, HEAD");
  send_error(response, 405, request.method + " is not answered here");
  return true;
}

// A part that is asked for is not sent: an answer is small, and the library would read past its end for one that is not
// there. The request is the library's own, which it hands out as const.
void send_whole(const Request& request) { const_cast<Request&>(request).ranges.clear(); }

void PageServer::State::answer(const Request& request, Response& response) {
  send_whole(request);
  if (refuse(request, response)) return;
  try {
    if (!request.path.starts_with(api)) return send_page(request, response);
    if (request.path == std::string(api) + "run/events" && !options.run.empty()) return send_events(request, response);
    answer_question(request, response);
  } catch (const std::exception& error) {
    send_error(response, 500, error.what());
  }
}

void PageServer::State::answer_question(const Request& request, Response& response) {
  Answer answered = inspector.answer(question_of(request));
  response.status = answered.status;
  response.set_header("Cache-Control", "no-store");
  send(response, std::move(answered.body), answered.type);
}

void PageServer::State::send_events(const Request& request, Response& response) {
  if (++listeners > most_listeners) {
    --listeners;
    return send_error(response, 503, "too many pages follow this run already; close one");
  }
  const auto stream = std::make_shared<EventStream>(options.run, last_event(request), listeners);
  response.set_header("Cache-Control", "no-store");
  response.set_chunked_content_provider(
      "text/event-stream",
      [this, stream](size_t /*offset*/, httplib::DataSink& sink) { return stream->step(sink, stopped); });
}

PageServer::PageServer(Inspector& inspector, ServerOptions options)
    : state_(std::make_unique<State>(inspector, std::move(options))) {
  httplib::Server& http = state_->http;
  http.new_task_queue = [] { return new httplib::ThreadPool(workers); };  // which the library deletes
  // One request a connection: none waits behind an idle one, nothing of a refused body is taken for a request, and the
  // way to this machine itself costs next to nothing.
  http.set_keep_alive_max_count(1);
  http.set_tcp_nodelay(true);
  http.set_payload_max_length(most_body);
  http.set_default_headers(common_headers);
  http.set_pre_routing_handler(refuse_unmeasured);
  http.set_error_handler(httplib::Server::Handler(explain_error));
  const auto answer = [state = state_.get()](const Request& request, Response& response) {
    state->answer(request, response);
  };
  http.Get(".*", answer)
      .Post(".*", answer)
      .Put(".*", answer)
      .Patch(".*", answer)
      .Delete(".*", answer)
      .Options(".*", answer);
  state_->bind();
}

PageServer::~PageServer() = default;

std::string PageServer::address() const {
  return fmt::format("http://{}:{}/", url_host(state_->options.host), state_->port);
}

void PageServer::serve() {
  {
    const std::lock_guard lock(state_->beginning);
    if (state_->stopped) return;
    state_->serving = true;
  }
  const bool good = state_->http.listen_after_bind();
  state_->serving = false;
  if (!good && !state_->stopped) throw SystemError("the server cannot go on listening");
}

void PageServer::stop() {
  {
    const std::lock_guard lock(state_->beginning);
    state_->stopped = true;
  }
  // Who listens to a run is told its end; one who does not listen any more is not waited for.
  for (int i = 0; i < 40 && state_->listeners > 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(25));
  while (state_->serving && !state_->http.is_running()) std::this_thread::yield();  // it can be stopped once it runs
  state_->http.stop();
}

}  // namespace glass::program
