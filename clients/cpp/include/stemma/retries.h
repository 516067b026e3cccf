// When a call is tried again.
#pragma once

#include <chrono>
#include <string>

#include <google/protobuf/message.h>

namespace stemma {

using Milliseconds = std::chrono::milliseconds;
using Clock = std::chrono::system_clock;

class Error;

// The pauses between tries: the first, and the most. Each may be twice as long as the one before, and is drawn
// between half of that and all of it, so that many clients do not come back together.
struct Retries {
  Milliseconds first{100}, most{5'000};
};

// The time that a call has, and how often it was tried since it last got anywhere.
class Times {
 public:
  Times(Milliseconds timeout, Retries retries);

  Clock::time_point until() const { return until_; }
  // It got somewhere.
  void Progress() { attempt_ = 0; }
  // The whole time anew, for what goes on for ever.
  void Again();
  // Waits until the next try. Throws when `error` does not pass, or would pass too late.
  void Wait(const Error& error);

 private:
  Milliseconds timeout_;
  Retries retries_;
  Clock::time_point until_;
  int attempt_ = 0;
};

// A random UUID.
std::string NewRequestId();

// Gives the request an id when it should have one and has none.
void EnsureRequestId(google::protobuf::Message* request);

}  // namespace stemma
