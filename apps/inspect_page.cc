#include "inspect_page.h"

#include <semaphore.h>

#include <csignal>
#include <exception>
#include <thread>

#include "output.h"
#include "page_files.h"
#include "page_server.h"
#include "report.h"
#include "report_answers.h"
#include "request_checks.h"
#include "version.h"

namespace glass::program {

namespace {

sem_t wake_up;  // posted by a signal, and by a server that ends by itself

void on_signal(int /*signal*/) { sem_post(&wake_up); }

// A second Ctrl-C ends the program at once.
void catch_signals() {
  sem_init(&wake_up, 0, 0);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void serve_until_signalled(PageServer& server) {
  std::exception_ptr failure;
  std::thread serving([&] {
    try {
      server.serve();
    } catch (...) {
      failure = std::current_exception();
    }
    sem_post(&wake_up);
  });
  while (sem_wait(&wake_up) != 0) continue;  // EINTR
  server.stop();
  serving.join();
  if (failure) std::rethrow_exception(failure);
}

InspectorOptions inspector_options(const PageOptions& o) {
  if (o.model.empty() && o.run.empty()) throw InputError("inspect: name the model, --model FILE, or a run, --run DIR");
  if (o.model.empty() && !o.sources.empty())
    throw InputError("inspect: name the model that is to read the sentence, --model FILE");
  return {"glassformer " + version().program, o.model, o.run};
}

}  // namespace

int serve_page(const PageOptions& o) {
  if (o.sources.size() > 1) throw InputError("inspect: the page begins with one sentence; give one --source");
  if (o.host.empty()) throw InputError("inspect: --host is empty, which would be every address; 0.0.0.0 says so");
  Inspector inspector(inspector_options(o));
  PageServer server(inspector, {o.host, o.port, o.run});
  for (const std::string& source : o.sources) trace_sentence(inspector, source, o.target);
  catch_signals();
  if (page_files().empty()) say("warning: " + std::string(how_to_get_the_page));
  if (!is_loopback(o.host)) say("warning: whoever reaches " + o.host + " can see the model and have it compute");
  print(server.address() + "\n");
  flush_output();
  say("Open it in a browser; Ctrl-C ends it.");
  serve_until_signalled(server);
  return 0;
}

int write_report(const PageOptions& o, const std::string& file) {
  if (o.sources.empty()) throw InputError("inspect: a report is of sentences; give at least one, --source \"…\"");
  if (o.target && o.sources.size() > 1) throw InputError("inspect: --target is of one sentence; here are several");
  Inspector inspector(inspector_options(o));
  const Report report = make_report(inspector, {o.sources, o.target, !o.run.empty()});
  write_file(file, report.html);
  say(fmt::format("{}: {} of {:.1f} MB; it opens in a browser", file,
                  o.sources.size() == 1 ? "a sentence" : fmt::format("{} sentences", o.sources.size()),
                  static_cast<double>(report.html.size()) / (1 << 20)));
  for (const std::string& part : report.left_out) say("left out, to stay within 10 MB: " + part);
  return 0;
}

}  // namespace glass::program
