// SPDX-License-Identifier: Apache-2.0
#include "tools/explore/Gate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <array>
#include <cstdint>
#include <sys/random.h>

using namespace llvm;

namespace foretrace::explore {

static constexpr double MostAtOnce = 400, PerSecond = 200;

static std::string makeToken() {
  std::array<uint8_t, 32> Bytes;
  if (getrandom(Bytes.data(), Bytes.size(), 0) !=
      static_cast<ssize_t>(Bytes.size()))
    report_fatal_error("the operating system has no random bytes", false);
  return toHex(Bytes, /*LowerCase=*/true);
}

Gate::Gate(uint16_t Port)
    : Port(utostr(Port)), Token(makeToken()), Allowance(MostAtOnce) {}

bool Gate::isLocal(StringRef Host) const {
  const auto [Name, Of] = Host.rsplit(':');
  return Of == Port && is_contained({"127.0.0.1", "localhost"}, Name);
}

/// Takes the same time for all wrong tokens.
bool Gate::isToken(StringRef Given) const {
  if (Given.size() != Token.size())
    return false;
  unsigned char Different = 0;
  for (size_t I = 0; I != Token.size(); ++I)
    Different |= static_cast<unsigned char>(Given[I] ^ Token[I]);
  return Different == 0;
}

bool Gate::isTooOften() {
  const Clock::time_point Now = Clock::now();
  const std::chrono::duration<double> Passed = Now - Last;
  Last = Now;
  Allowance = std::min(MostAtOnce, Allowance + Passed.count() * PerSecond);
  if (Allowance < 1)
    return true;
  Allowance -= 1;
  return false;
}

std::optional<Refusal> Gate::check(const Caller &From, bool IsForPage) {
  StringRef Origin = From.Origin;
  if (!isLocal(From.Host) ||
      (!Origin.empty() &&
       !(Origin.consume_front("http://") && isLocal(Origin))))
    return Refusal{403, "the request is not from the page of this server"};
  StringRef Given = From.Authorization, Query = From.Query;
  if (IsForPage && Query.consume_front("token="))
    Given = Query;
  else if (!Given.consume_front("Bearer "))
    Given = "";
  if (!isToken(Given))
    return Refusal{403, "the token is missing or wrong; use the address that "
                        "`foretrace explore` has printed"};
  if (isTooOften())
    return Refusal{429, "too many requests"};
  return std::nullopt;
}

} // namespace foretrace::explore
