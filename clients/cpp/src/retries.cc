#include "stemma/retries.h"

#include <algorithm>
#include <random>
#include <thread>

#include "stemma/errors.h"

namespace stemma {
namespace {

std::mt19937_64& Dice() {
  thread_local std::mt19937_64 dice{std::random_device{}()};
  return dice;
}

}  // namespace

Times::Times(Milliseconds timeout, Retries retries) : timeout_(timeout), retries_(retries) { Again(); }

void Times::Again() {
  attempt_ = 0;
  until_ = Clock::now() + timeout_;
}

void Times::Wait(const Error& error) {
  const auto grown = std::min(retries_.most, retries_.first * (1 << std::min(attempt_, 16)));
  std::uniform_int_distribution<Milliseconds::rep> between(grown.count() / 2, grown.count());
  const auto pause = std::max(Milliseconds(between(Dice())), error.retry_after.value_or(Milliseconds(0)));
  if (!error.passing() || Clock::now() + pause >= until_) Throw(error);
  ++attempt_;
  std::this_thread::sleep_for(pause);
}

std::string NewRequestId() {
  std::random_device random;
  std::string id = "xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx";
  for (char& digit : id) {
    if (digit == 'x') digit = "0123456789abcdef"[random() % 16];
  }
  return id;
}

void EnsureRequestId(google::protobuf::Message* request) {
  const auto* field = request->GetDescriptor()->FindFieldByName("request_id");
  if (field == nullptr || !request->GetReflection()->GetString(*request, field).empty()) return;
  request->GetReflection()->SetString(request, field, NewRequestId());
}

}  // namespace stemma
