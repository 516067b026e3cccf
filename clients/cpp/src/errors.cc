#include "stemma/errors.h"

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace stemma {
namespace {

grpc::Status StatusOf(const Error& error) { return grpc::Status(error.code, error.what()); }

template <class Kind>
[[noreturn]] void ThrowAs(const Error& error) {
  Kind made(StatusOf(error));
  static_cast<Error&>(made) = error;
  throw made;
}

// For people, with the reason.
std::string Described(const grpc::Status& status) {
  std::string why = "code " + std::to_string(status.error_code());
  google::rpc::Status details;
  details.ParseFromString(status.error_details());
  for (const auto& detail : details.details()) {
    google::rpc::ErrorInfo info;
    if (detail.UnpackTo(&info)) why = info.reason();
  }
  return status.error_message() + " (" + why + ")";
}

using Thrower = void (*)(const Error&);

const std::map<std::string, Thrower>& ByReason() {
  static const auto* kinds = new std::map<std::string, Thrower>{
      {"REQUEST_ID_REUSED", ThrowAs<RequestIdReused>},
      {"HEAD_MOVED", ThrowAs<HeadMoved>},
      {"VERSION_MOVED", ThrowAs<VersionMoved>},
      {"FLOOR_PENDING", ThrowAs<FloorPending>},
      {"RUN_ACTIVE", ThrowAs<RunActive>},
      {"ARCHIVED", ThrowAs<Archived>},
      {"DRAFT_NOT_ACTIVE", ThrowAs<DraftNotActive>},
      {"STALE", ThrowAs<Stale>},
      {"ALREADY_DECIDED", ThrowAs<AlreadyDecided>},
      {"CURSOR_TOO_OLD", ThrowAs<CursorTooOld>},
  };
  return *kinds;
}

const std::map<grpc::StatusCode, Thrower>& ByCode() {
  static const auto* kinds = new std::map<grpc::StatusCode, Thrower>{
      {grpc::StatusCode::NOT_FOUND, ThrowAs<NotFound>},
      {grpc::StatusCode::INVALID_ARGUMENT, ThrowAs<InvalidRequest>},
      {grpc::StatusCode::UNAUTHENTICATED, ThrowAs<Unauthenticated>},
      {grpc::StatusCode::PERMISSION_DENIED, ThrowAs<Forbidden>},
      {grpc::StatusCode::RESOURCE_EXHAUSTED, ThrowAs<LimitExceeded>},
      {grpc::StatusCode::DEADLINE_EXCEEDED, ThrowAs<DeadlineExceeded>},
      {grpc::StatusCode::UNAVAILABLE, ThrowAs<Unavailable>},
  };
  return *kinds;
}

}  // namespace

Error::Error(const grpc::Status& status)
    : std::runtime_error(Described(status)), code(status.error_code()) {
  google::rpc::Status details;
  // What cannot be read is some proxy's: no Stemma service said it.
  if (!details.ParseFromString(status.error_details())) return;
  for (const auto& detail : details.details()) {
    google::rpc::ErrorInfo info;
    google::rpc::BadRequest bad;
    google::rpc::RetryInfo retry;
    if (detail.UnpackTo(&info)) {
      reason = info.reason();
      metadata.insert(info.metadata().begin(), info.metadata().end());
    } else if (detail.UnpackTo(&bad)) {
      for (const auto& one : bad.field_violations()) violations.push_back({one.field(), one.description()});
    } else if (detail.UnpackTo(&retry)) {
      const auto& delay = retry.retry_delay();
      retry_after = Milliseconds(delay.seconds() * 1000 + delay.nanos() / 1'000'000);
    }
  }
}

bool Error::passing() const {
  switch (code) {
    case grpc::StatusCode::UNAVAILABLE:
      return true;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return retry_after.has_value();
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::INTERNAL:
    case grpc::StatusCode::UNKNOWN:
      // What a connection that breaks in the middle of a call ends it with.
      return reason.empty();
    default:
      return false;
  }
}

std::string Error::said(const std::string& name) const {
  const auto found = metadata.find(name);
  return found == metadata.end() ? "" : found->second;
}

void Throw(const Error& error) {
  if (const auto kind = ByReason().find(error.reason); kind != ByReason().end()) kind->second(error);
  if (const auto kind = ByCode().find(error.code); kind != ByCode().end()) kind->second(error);
  throw error;
}

}  // namespace stemma
