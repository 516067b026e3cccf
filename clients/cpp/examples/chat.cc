// A chat in one file: copy it, and begin.
//
// It asks STEMMA_CONVERSATION, with STEMMA_API_KEY if it is set. Each line is a turn. `/edit WORDS` says the last one
// differently, `/again` asks for another answer to it: both keep what was there. Ends with the input.
#include <iostream>
#include <string>

#include "stemma/client.h"

using namespace stemma::conversation::v1;
using namespace stemma::kernel::v1;

namespace {

void Say(Message* message, const std::string& text) {
  message->set_role(ROLE_USER);
  message->add_parts()->mutable_text()->set_text(text);
}

// What a line asks for. `last` is the id of the last turn's floor; empty, it is the first.
RespondRequest Turn(const std::string& line, const std::string& last) {
  const auto space = line.find(' ');
  const std::string command = line.substr(0, space);
  RespondRequest request;
  if (command == "/again" && !last.empty()) {
    request.mutable_regenerate()->set_floor_id(last);
  } else if (command == "/edit" && !last.empty() && space != std::string::npos) {
    request.mutable_edit()->set_floor_id(last);
    Say(request.mutable_edit()->add_messages(), line.substr(space + 1));
  } else {
    Say(request.mutable_input()->add_messages(), line);
  }
  return request;
}

}  // namespace

int main() {
  stemma::Client client(stemma::Options::FromEnvironment());
  std::string last;
  try {
    CreateSessionRequest create;
    create.set_title("Chat");
    const auto session = client.Call(client.sessions, &SessionService::Stub::CreateSession, create).session();
    std::cout << "session " << session.session_id() << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
      if (line.empty()) continue;
      auto request = Turn(line, last);
      request.set_session_id(session.session_id());
      try {
        auto run = client.Respond(request);
        for (RunEvent event; run.Next(&event);) {
          last = event.floor_id();
          std::cout << event.text_delta().text() << std::flush;
          if (event.has_failed()) std::cout << "[failed: " << event.failed().reason() << "]";
        }
      } catch (const stemma::Error& refused) {
        std::cout << "[" << refused.what() << "]";
      }
      std::cout << std::endl;
    }
  } catch (const stemma::Error& refused) {
    std::cerr << "chat: " << refused.what() << "\n";
    return 1;
  }
}
