// The inspector over HTTP: the page, and the answers of docs/inspector-api.md.
#pragma once

#include <memory>
#include <string>

#include "glassformer/inspect/inspector.h"

namespace glass::program {

struct ServerOptions {
  std::string host = "127.0.0.1";  // whom it listens to: an address of this machine
  int port = 8642;                 // 0 for any that is free
  std::string run;                 // folder whose events are told; empty for none
};

// Refuses requests whose Host is another's and those that another site's page sends. Thread safe.
class PageServer {
 public:
  // Holds the port from here on. Throws SystemError, with the remedy, if it is not to be had. `inspector` must outlive
  // this object.
  PageServer(Inspector& inspector, ServerOptions options);
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  std::string address() const;  // "http://127.0.0.1:8642/"

  // Answers until stop(), which any thread may call, also before; returns when the last request is answered.
  void serve();
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace glass::program
