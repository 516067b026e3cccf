// Stemma's services from C++: the generated stubs, with what a careful caller adds.
//
//   stemma::Client client(stemma::Options::FromEnvironment());
//   stemma::conversation::v1::CreateSessionRequest request;
//   auto made = client.Call(client.sessions, &SessionService::Stub::CreateSession, request);
//
// A request without a request_id gets one and keeps it through every retry, so a write happens once. What passes
// (a connection that breaks, a server that stops or has too much to do) is tried again for as long as the call's
// time allows. Refusals are exceptions, see errors.h. Respond, Attach and Watch go on after a cut where they were.
#pragma once

#include <memory>
#include <string>

#include "stemma/conversation/v1/access_service.grpc.pb.h"
#include "stemma/conversation/v1/admin_service.grpc.pb.h"
#include "stemma/conversation/v1/audit_service.grpc.pb.h"
#include "stemma/conversation/v1/context_service.grpc.pb.h"
#include "stemma/conversation/v1/event_service.grpc.pb.h"
#include "stemma/conversation/v1/floor_service.grpc.pb.h"
#include "stemma/conversation/v1/project_service.grpc.pb.h"
#include "stemma/conversation/v1/run_service.grpc.pb.h"
#include "stemma/conversation/v1/session_service.grpc.pb.h"
#include "stemma/conversation/v1/staged_write_service.grpc.pb.h"
#include "stemma/conversation/v1/state_service.grpc.pb.h"
#include "stemma/draft/v1/draft_service.grpc.pb.h"
#include "stemma/errors.h"
#include "stemma/streams.h"

namespace stemma {

// Where to call, and how. The addresses are host:port.
struct Options {
  std::string conversation = "127.0.0.1:50051";
  std::string drafts = "127.0.0.1:50052";
  std::string api_key;
  // Of TLS; without them the connection is plain.
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  // For a call, its retries included; and for a stream.
  Milliseconds timeout{30'000}, stream_timeout{3'600'000};
  Retries retries;

  // With STEMMA_CONVERSATION, STEMMA_DRAFT and STEMMA_API_KEY, where they are set.
  static Options FromEnvironment();
};

// Connects with the first call. Threads may share it.
class Client {
 public:
  explicit Client(Options options);

  template <class Service>
  using Stub = const std::unique_ptr<typename Service::Stub>;

  // One answer. `timeout` 0: that of the options. Throws Error.
  template <class Service, class Request, class Answer>
  Answer Call(const std::unique_ptr<Service>& stub,
              grpc::Status (Service::*method)(grpc::ClientContext*, const Request&, Answer*), Request request,
              Milliseconds timeout = Milliseconds(0)) {
    EnsureRequestId(&request);
    Times times(timeout.count() ? timeout : options_.timeout, options_.retries);
    for (;;) {
      Answer answer;
      auto context = NewContext(times.until());
      const grpc::Status status = (stub.get()->*method)(context.get(), request, &answer);
      if (status.ok()) return answer;
      times.Wait(Error(status));
    }
  }

  // The frames of the run that the request begins.
  Run Respond(conversation::v1::RespondRequest request);
  Run Respond(draft::v1::RespondRequest request);
  // The frames of a session's run after a position, `<epoch>.<seq>`; empty: from its beginning.
  Run Attach(const std::string& run_id, const std::string& after = "");
  // The events of a project after a position, 0 from the beginning.
  Feed Watch(const std::string& project_id, std::int64_t after = 0);

  // For calls that this class has no words for: a deadline, and the key.
  std::unique_ptr<grpc::ClientContext> NewContext(Clock::time_point deadline) const;

 private:
  Options options_;
  std::shared_ptr<grpc::Channel> canon_, beside_;

 public:
  Stub<conversation::v1::ProjectService> projects;
  Stub<conversation::v1::SessionService> sessions;
  Stub<conversation::v1::FloorService> floors;
  Stub<conversation::v1::RunService> runs;
  Stub<conversation::v1::ContextService> contexts;
  Stub<conversation::v1::StateService> state;
  Stub<conversation::v1::StagedWriteService> staged_writes;
  Stub<conversation::v1::EventService> events;
  Stub<conversation::v1::AccessService> access;
  Stub<conversation::v1::AuditService> audit;
  Stub<conversation::v1::AdminService> admin;
  Stub<draft::v1::DraftService> drafts;
};

}  // namespace stemma
