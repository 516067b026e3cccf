// The whole story from C++: a conversation, an edit, a run that breaks off and goes on, a draft, its acceptance, and
// the feed. Checks what it is told at every step; ends with 1 at the first that is not so.
//
// It asks STEMMA_CONVERSATION and STEMMA_DRAFT, with STEMMA_API_KEY if it is set.
#include <google/protobuf/util/message_differencer.h>

#include <cstdio>
#include <iostream>
#include <vector>

#include "stemma/client.h"

using google::protobuf::util::MessageDifferencer;
using namespace stemma::conversation::v1;
using namespace stemma::kernel::v1;
namespace draft = stemma::draft::v1;

namespace {

const char kFifteen[] = "My train leaves in fifteen minutes. Is there time for a coffee?";
const char kFifty[] = "My train leaves in fifty minutes. Is there time for a coffee?";

void Check(bool is_so, const std::string& what) {
  if (!is_so) throw std::runtime_error("not so: " + what);
}

void Log(const char* step, const std::string& what) {
  std::printf("%-9s %s\n", step, what.c_str());
  std::fflush(stdout);
}

void Say(Message* message, const std::string& text, Role role = ROLE_USER) {
  message->set_role(role);
  message->add_parts()->mutable_text()->set_text(text);
}

std::string TextOf(const Page& page) {
  std::string whole;
  for (const auto& message : page.messages()) {
    for (const auto& part : message.parts()) whole += part.text().text();
  }
  return whole;
}

// Whether `call` is refused with this class.
template <class Refusal, class Call>
bool Refused(Call call) {
  try {
    call();
  } catch (const Refusal&) {
    return true;
  }
  return false;
}

// Follows a run to its end. The floor that it ends with says what the frames say, `seen` the first.
Floor Committed(std::vector<RunEvent> seen, stemma::Run rest) {
  for (RunEvent event; rest.Next(&event);) seen.push_back(event);
  std::string joined;
  for (std::size_t index = 0; index < seen.size(); ++index) {
    Check(seen[index].seq() == static_cast<std::int64_t>(index + 1), "frames are numbered in a row");
    joined += seen[index].text_delta().text();
  }
  Check(!seen.empty() && seen.back().has_floor_committed(), "the last frame says what was committed");
  const Floor& floor = seen.back().floor_committed().floor();
  Check(!joined.empty() && joined == TextOf(floor.output_page()), "the frames' text is the page's");
  return floor;
}

// One project with one session, and the head that its branch should have.
class Story {
 public:
  explicit Story(stemma::Client& client) : client_(client) {
    CreateProjectRequest request;
    request.set_title("The story in C++");
    project_id_ = client_.Call(client_.projects, &ProjectService::Stub::CreateProject, request).project().project_id();
  }

  void Session() {
    CreateSessionRequest request;
    request.set_request_id(stemma::NewRequestId());
    request.set_project_id(project_id_);
    request.set_title("Coffee");
    const auto made = client_.Call(client_.sessions, &SessionService::Stub::CreateSession, request).session();
    const auto again = client_.Call(client_.sessions, &SessionService::Stub::CreateSession, request).session();
    Check(again.session_id() == made.session_id(), "one request_id makes one session");
    session_id_ = made.session_id();
    head_ = made.root_floor_id();
    Log("session", "asked for twice with one request_id, made once");
  }

  void Append() {
    auto request = Turn(kFifteen, head_);
    Say(request.add_output(), "Hardly.", ROLE_ASSISTANT);
    const auto done = client_.Call(client_.floors, &FloorService::Stub::AppendFloor, request);
    Check(done.branch().head_floor_id() == done.floor().floor_id(), "the new floor is the head");
    head_ = done.floor().floor_id();
    Log("append", "a turn, committed");
  }

  void Edit() {
    const std::string before = head_;
    EditFloorRequest request;
    request.set_floor_id(before);
    Say(request.add_input(), kFifty);
    Say(request.add_output(), "Plenty of it.", ROLE_ASSISTANT);
    head_ = client_.Call(client_.floors, &FloorService::Stub::EditFloor, request).floor().floor_id();
    ListSiblingsRequest beside;
    beside.set_floor_id(head_);
    const auto kept = client_.Call(client_.floors, &FloorService::Stub::ListSiblings, beside).floors();
    Check(kept.size() == 2 && kept[0].floor_id() == before && kept[1].floor_id() == head_, "both versions are kept");
    const auto path = Path();
    Check(path.size() == 1 && TextOf(path[0].input_page()) == kFifty, "the path has the edited turn alone");
    Log("edit", "fifteen became fifty; the path has the new turn, the old one stays beside it");
  }

  void Conflict() {
    auto request = Turn("Thanks.", stemma::NewRequestId());
    try {
      client_.Call(client_.floors, &FloorService::Stub::AppendFloor, request);
      Check(false, "a wrong expected_head is refused");
    } catch (const stemma::HeadMoved& moved) {
      Check(moved.current_head() == head_, "HEAD_MOVED names the head");
      request.set_expected_head(moved.current_head());
    }
    head_ = client_.Call(client_.floors, &FloorService::Stub::AppendFloor, request).floor().floor_id();
    Log("conflict", "HEAD_MOVED named the head; the turn went in below it");
  }

  void Respond() {
    RespondRequest request;
    request.set_session_id(session_id_);
    Say(request.mutable_input()->add_messages(), "Which one?");
    auto run = client_.Respond(request);
    std::vector<RunEvent> seen;
    for (RunEvent event; seen.size() < 3 && run.Next(&event);) seen.push_back(event);
    // Hanging up ends the call, not the run: that is the server's.
    run.Close();
    const Floor floor = Committed(seen, client_.Attach(run.id(), run.position()));
    Check(MessageDifferencer::Equals(LastOf(Path()), floor), "the path ends with the floor of the last frame");
    head_ = floor.floor_id();
    Log("respond", "hung up after 3 frames, attached after the third: no frame lost, none twice");
  }

  // The id of the staged write that came of it.
  std::string Draft() {
    draft::CreateDraftRequest create;
    create.set_session_id(session_id_);
    create.set_purpose("a second opinion");
    using Drafts = draft::DraftService::Stub;
    const auto drafted = client_.Call(client_.drafts, &Drafts::CreateDraft, create).draft();
    draft::RespondRequest ask;
    ask.set_draft_id(drafted.draft_id());
    Say(ask.mutable_input()->add_messages(), "Say it differently.");
    Committed({}, client_.Respond(ask));
    draft::ExportDraftRequest request;
    request.set_draft_id(drafted.draft_id());
    request.mutable_target()->set_placement(PLACEMENT_NEXT_FLOOR);
    request.add_parts()->mutable_output_page();
    request.set_reason("reads better");
    request.set_finalize(true);
    const auto exported = client_.Call(client_.drafts, &Drafts::ExportDraft, request);
    Check(LastOf(Path()).floor_id() == head_, "a draft and its export leave the conversation as it is");
    Log("draft", "answered beside the conversation, exported, nothing of it there yet");
    return exported.staged_write_id();
  }

  void Accept(const std::string& staged_write_id) {
    using Ledger = StagedWriteService::Stub;
    AcceptStagedWriteRequest request;
    request.set_staged_write_id(staged_write_id);
    request.set_expected_head(head_);
    request.set_reason("agreed");
    const auto accepted = client_.Call(client_.staged_writes, &Ledger::AcceptStagedWrite, request).floor();
    Check(accepted.parent_floor_id() == head_, "it became the head's child");
    Check(MessageDifferencer::Equals(LastOf(Path()), accepted), "and the head");
    request.clear_expected_head();
    request.set_reason("agreed again");
    Check(Refused<stemma::AlreadyDecided>(
              [&] { client_.Call(client_.staged_writes, &Ledger::AcceptStagedWrite, request); }),
          "a second decision is refused");
    Log("accept", "the draft's answer is a turn now; a second decision is refused");
  }

  void Watch() {
    std::int64_t last = 0;
    int turns = 0;
    bool accepted = false;
    while (!accepted) {
      auto feed = client_.Watch(project_id_, last);
      // A few at a time: each time the feed is asked for what follows the last position.
      for (int taken = 0; taken < 4 && !accepted; ++taken) {
        const auto event = feed.Next();
        Check(event.position() == last + 1, "each event once, in order");
        last = event.position();
        turns += event.type() == "floor.committed";
        accepted = event.type() == "staged_write.accepted";
      }
    }
    Check(turns == 5, "each turn has its event");
    Log("watch", std::to_string(last) + " events, four at a time, each once and in order");
  }

  void Refusals() {
    GetSessionRequest unknown;
    unknown.set_session_id(stemma::NewRequestId());
    Check(Refused<stemma::NotFound>(
              [&] { client_.Call(client_.sessions, &SessionService::Stub::GetSession, unknown); }),
          "an unknown session is not found");
    ListEventsRequest list;
    list.set_project_id(project_id_);
    WatchEventsRequest silent;
    silent.set_project_id(project_id_);
    silent.set_after(client_.Call(client_.events, &EventService::Stub::ListEvents, list).last_position());
    const auto context = client_.NewContext(stemma::Clock::now() + stemma::Milliseconds(300));
    const auto reader = client_.events->WatchEvents(context.get(), silent);
    WatchEventsResponse answer;
    Check(!reader->Read(&answer), "nothing happens");
    Check(reader->Finish().error_code() == grpc::StatusCode::DEADLINE_EXCEEDED, "the deadline ends it");
    Log("refusals", "NOT_FOUND has a type of its own; a deadline is kept");
  }

 private:
  AppendFloorRequest Turn(const std::string& text, const std::string& expected_head) {
    AppendFloorRequest request;
    request.set_session_id(session_id_);
    request.set_expected_head(expected_head);
    Say(request.add_input(), text);
    return request;
  }

  google::protobuf::RepeatedPtrField<Floor> Path() {
    ListPathRequest request;
    request.set_session_id(session_id_);
    return client_.Call(client_.floors, &FloorService::Stub::ListPath, request).floors();
  }

  static Floor LastOf(const google::protobuf::RepeatedPtrField<Floor>& path) { return path[path.size() - 1]; }

  stemma::Client& client_;
  std::string project_id_, session_id_, head_;
};

}  // namespace

int main() {
  try {
    stemma::Client client(stemma::Options::FromEnvironment());
    Story story(client);
    story.Session();
    story.Append();
    story.Edit();
    story.Conflict();
    story.Respond();
    story.Accept(story.Draft());
    story.Watch();
    story.Refusals();
  } catch (const std::exception& error) {
    std::cerr << "story: " << error.what() << "\n";
    return 1;
  }
  std::puts("ok");
}
