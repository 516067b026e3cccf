#include "stemma/streams.h"

#include "stemma/errors.h"

namespace stemma {
namespace {

using kernel::v1::RunEvent;

// How long the service may be away before a watcher gives up.
constexpr Milliseconds kPatience{300'000};
// A feed that has stood for so long was there, also when nothing happened in the project.
constexpr Milliseconds kStood{10'000};

bool IsLast(const RunEvent& event) {
  switch (event.event_case()) {
    case RunEvent::kFloorCommitted:
    case RunEvent::kHeld:
    case RunEvent::kFailed:
    case RunEvent::kCancelled:
      return true;
    default:
      return false;
  }
}

}  // namespace

Run::Run(Open open, std::string run_id, std::string after, Times times)
    : open_(std::move(open)), run_id_(std::move(run_id)), after_(std::move(after)), times_(times) {}

bool Run::Next(RunEvent* event) {
  while (!ended_) {
    if (!call_) call_ = open_(run_id_, after_, times_.until());
    if (call_.read(event)) {
      run_id_ = event->run_id();
      after_ = std::to_string(event->epoch()) + "." + std::to_string(event->seq());
      times_.Progress();
      if (IsLast(*event)) Close();
      return true;
    }
    const grpc::Status status = call_.finish();
    call_ = {};
    if (status.ok()) {
      // A run that waits ends this stream of it, and not the run.
      ended_ = true;
    } else {
      times_.Wait(Error(status));
    }
  }
  return false;
}

void Run::Close() {
  ended_ = true;
  call_.HangUp();
}

Feed::Feed(Open open, std::int64_t after, Retries retries)
    : open_(std::move(open)), after_(after), times_(kPatience, retries) {}

conversation::v1::Event Feed::Next() {
  for (;;) {
    if (!call_) {
      opened_ = Clock::now();
      call_ = open_(after_);
    }
    conversation::v1::Event event;
    if (call_.read(&event)) {
      after_ = event.position();
      times_.Again();
      return event;
    }
    const grpc::Status status = call_.finish();
    call_ = {};
    if (Clock::now() - opened_ > kStood) times_.Again();
    // Otherwise a stream's time was up, not the watcher's.
    if (!status.ok() && status.error_code() != grpc::StatusCode::DEADLINE_EXCEEDED) times_.Wait(Error(status));
  }
}

}  // namespace stemma
