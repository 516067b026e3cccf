// Refusals as exceptions: one class for each reason that a caller may want to act on.
#pragma once

#include <grpcpp/grpcpp.h>

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "stemma/retries.h"

namespace stemma {

// A field that is wrong, of an INVALID_ARGUMENT.
struct Violation {
  std::string field, description;
};

// What a service refused, or that it could not be reached.
class Error : public std::runtime_error {
 public:
  explicit Error(const grpc::Status& status);

  grpc::StatusCode code;
  // Of google.rpc.ErrorInfo; empty when no Stemma service answered.
  std::string reason;
  // Of ErrorInfo: `current_head`, `run_id` ...
  std::map<std::string, std::string> metadata;
  std::vector<Violation> violations;
  // When to come again, where the service said so.
  std::optional<Milliseconds> retry_after;

  // Whether the same request may get through later, and is safe to send again.
  bool passing() const;
  // One of the metadata; empty when it is not there.
  std::string said(const std::string& name) const;
};

// Throws the class that `error` is of.
[[noreturn]] void Throw(const Error& error);

// There is no such thing, or not for this caller: nothing says which.
struct NotFound : Error { using Error::Error; };
// `violations` say what to correct.
struct InvalidRequest : Error { using Error::Error; };
// No valid credential.
struct Unauthenticated : Error { using Error::Error; };
// The caller may know of it, and may not do this.
struct Forbidden : Error { using Error::Error; };
// This request_id was used with other content.
struct RequestIdReused : Error { using Error::Error; };
// Somebody else committed first: look at the current head, decide, and ask again.
struct HeadMoved : Error {
  using Error::Error;
  std::string current_head() const { return said("current_head"); }
};
// Somebody else wrote this layer first; said("current_version").
struct VersionMoved : Error { using Error::Error; };
// The branch has a turn that is not committed yet; said("pending_floor_id").
struct FloorPending : Error { using Error::Error; };
// A model is writing that turn; said("run_id").
struct RunActive : Error { using Error::Error; };
// Restore it first.
struct Archived : Error { using Error::Error; };
// The draft has ended; said("state").
struct DraftNotActive : Error { using Error::Error; };
// The target moved since the entry was written: decide, and accept with allow_stale.
struct Stale : Error { using Error::Error; };
// The entry was accepted, rejected, withdrawn, or has expired; said("state").
struct AlreadyDecided : Error { using Error::Error; };
// The feed no longer has what comes after that position: begin again at said("earliest").
struct CursorTooOld : Error { using Error::Error; };
// Too large, too many, or too fast; `retry_after` is set where it passes.
struct LimitExceeded : Error { using Error::Error; };
// The call's time was up.
struct DeadlineExceeded : Error { using Error::Error; };
// Not reached, or not able to answer now, and the call's time is up.
struct Unavailable : Error { using Error::Error; };

}  // namespace stemma
