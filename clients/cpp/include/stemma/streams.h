// Streams that go on after a cut where they were: no frame is lost or comes twice.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "stemma/conversation/v1/event_service.pb.h"
#include "stemma/kernel/v1/run.pb.h"
#include "stemma/retries.h"

namespace stemma {

// A call under way. `read` is false when no more comes; `finish` then says why.
template <class Event>
struct Opened {
  std::unique_ptr<grpc::ClientContext> context;
  std::function<bool(Event*)> read;
  std::function<grpc::Status()> finish;

  explicit operator bool() const { return context != nullptr; }
  // Ends the call.
  void HangUp() {
    if (context == nullptr) return;
    context->TryCancel();
    Event unread;
    while (read(&unread)) {
    }
    finish();
    *this = Opened();
  }
};

// The frames of a run, to the last one or to where the run waits. For one thread.
class Run {
 public:
  using Open = std::function<Opened<kernel::v1::RunEvent>(const std::string& run_id, const std::string& after,
                                                          Clock::time_point until)>;

  Run(Open open, std::string run_id, std::string after, Times times);
  Run(Run&&) = default;
  ~Run() { Close(); }

  // Waits for the next frame; false after the last one. Throws Error.
  bool Next(kernel::v1::RunEvent* event);
  // Hangs up. The run goes on: it is the server's.
  void Close();

  // Of the run; empty before the first frame.
  const std::string& id() const { return run_id_; }
  // Of the last frame, to attach after.
  const std::string& position() const { return after_; }

 private:
  Open open_;
  std::string run_id_, after_;
  Times times_;
  Opened<kernel::v1::RunEvent> call_;
  bool ended_ = false;
};

// The events of a project, each once and in order, for ever. An event's position is where to go on.
class Feed {
 public:
  using Open = std::function<Opened<conversation::v1::Event>(std::int64_t after)>;

  Feed(Open open, std::int64_t after, Retries retries);
  Feed(Feed&&) = default;
  ~Feed() { Close(); }

  // Waits for the next event. Throws Error, Unavailable when the service was away for five minutes.
  conversation::v1::Event Next();
  void Close() { call_.HangUp(); }

 private:
  Open open_;
  std::int64_t after_;
  Times times_;
  Clock::time_point opened_;
  Opened<conversation::v1::Event> call_;
};

}  // namespace stemma
