#include "stemma/client.h"

#include <cstdlib>

namespace stemma {
namespace {

std::string Environment(const char* name, std::string otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value ? value : otherwise;
}

std::shared_ptr<grpc::Channel> Open(const std::string& address, const Options& options) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(16 * 1024 * 1024);
  // Back soon after a restart.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1'000);
  const auto security = options.credentials ? options.credentials : grpc::InsecureChannelCredentials();
  return grpc::CreateCustomChannel(address, security, arguments);
}

// The frames of a call whose answers have an `event`.
template <class Event, class Answer>
Opened<Event> Read(std::unique_ptr<grpc::ClientContext> context,
                   std::unique_ptr<grpc::ClientReader<Answer>> reader) {
  std::shared_ptr<grpc::ClientReader<Answer>> shared = std::move(reader);
  Opened<Event> opened;
  opened.context = std::move(context);
  opened.read = [shared](Event* event) {
    Answer answer;
    if (!shared->Read(&answer)) return false;
    event->Swap(answer.mutable_event());
    return true;
  };
  opened.finish = [shared] { return shared->Finish(); };
  return opened;
}

}  // namespace

Options Options::FromEnvironment() {
  Options options;
  options.conversation = Environment("STEMMA_CONVERSATION", options.conversation);
  options.drafts = Environment("STEMMA_DRAFT", options.drafts);
  options.api_key = Environment("STEMMA_API_KEY", "");
  return options;
}

Client::Client(Options options)
    : options_(std::move(options)),
      canon_(Open(options_.conversation, options_)),
      beside_(Open(options_.drafts, options_)),
      projects(conversation::v1::ProjectService::NewStub(canon_)),
      sessions(conversation::v1::SessionService::NewStub(canon_)),
      floors(conversation::v1::FloorService::NewStub(canon_)),
      runs(conversation::v1::RunService::NewStub(canon_)),
      contexts(conversation::v1::ContextService::NewStub(canon_)),
      state(conversation::v1::StateService::NewStub(canon_)),
      staged_writes(conversation::v1::StagedWriteService::NewStub(canon_)),
      events(conversation::v1::EventService::NewStub(canon_)),
      access(conversation::v1::AccessService::NewStub(canon_)),
      audit(conversation::v1::AuditService::NewStub(canon_)),
      admin(conversation::v1::AdminService::NewStub(canon_)),
      drafts(draft::v1::DraftService::NewStub(beside_)) {}

std::unique_ptr<grpc::ClientContext> Client::NewContext(Clock::time_point deadline) const {
  auto context = std::make_unique<grpc::ClientContext>();
  context->set_deadline(deadline);
  if (!options_.api_key.empty()) context->AddMetadata("authorization", "Bearer " + options_.api_key);
  return context;
}

Run Client::Respond(conversation::v1::RespondRequest request) {
  EnsureRequestId(&request);
  const auto open = [this, request](const std::string& run_id, const std::string& after, Clock::time_point until) {
    auto context = NewContext(until);
    if (run_id.empty()) {
      auto reader = runs->Respond(context.get(), request);
      return Read<kernel::v1::RunEvent>(std::move(context), std::move(reader));
    }
    conversation::v1::AttachRunRequest attach;
    attach.set_run_id(run_id);
    attach.set_after(after);
    auto reader = runs->AttachRun(context.get(), attach);
    return Read<kernel::v1::RunEvent>(std::move(context), std::move(reader));
  };
  return Run(open, "", "", Times(options_.stream_timeout, options_.retries));
}

Run Client::Respond(draft::v1::RespondRequest request) {
  EnsureRequestId(&request);
  const auto open = [this, request](const std::string& run_id, const std::string& after, Clock::time_point until) {
    auto context = NewContext(until);
    if (run_id.empty()) {
      auto reader = drafts->Respond(context.get(), request);
      return Read<kernel::v1::RunEvent>(std::move(context), std::move(reader));
    }
    draft::v1::AttachRunRequest attach;
    attach.set_draft_id(request.draft_id());
    attach.set_run_id(run_id);
    attach.set_after(after);
    auto reader = drafts->AttachRun(context.get(), attach);
    return Read<kernel::v1::RunEvent>(std::move(context), std::move(reader));
  };
  return Run(open, "", "", Times(options_.stream_timeout, options_.retries));
}

Run Client::Attach(const std::string& run_id, const std::string& after) {
  const auto open = [this](const std::string& id, const std::string& position, Clock::time_point until) {
    auto context = NewContext(until);
    conversation::v1::AttachRunRequest attach;
    attach.set_run_id(id);
    attach.set_after(position);
    auto reader = runs->AttachRun(context.get(), attach);
    return Read<kernel::v1::RunEvent>(std::move(context), std::move(reader));
  };
  return Run(open, run_id, after, Times(options_.stream_timeout, options_.retries));
}

Feed Client::Watch(const std::string& project_id, std::int64_t after) {
  const auto open = [this, project_id](std::int64_t position) {
    auto context = NewContext(Clock::now() + options_.stream_timeout);
    conversation::v1::WatchEventsRequest watch;
    watch.set_project_id(project_id);
    watch.set_after(position);
    auto reader = events->WatchEvents(context.get(), watch);
    return Read<conversation::v1::Event>(std::move(context), std::move(reader));
  };
  return Feed(open, after, options_.retries);
}

}  // namespace stemma
