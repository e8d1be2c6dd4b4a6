// SPDX-License-Identifier: Apache-2.0
//
// Who may ask the server: the page that it has served, and nobody else.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <chrono>
#include <optional>
#include <string>

namespace foretrace::explore {

/// Headers of a request that say where it is from; empty if it has none.
struct Caller {
  llvm::StringRef Host;          ///< `127.0.0.1:8080`
  llvm::StringRef Origin;        ///< `http://127.0.0.1:8080`
  llvm::StringRef Authorization; ///< `Bearer TOKEN`
  llvm::StringRef Query;         ///< `token=TOKEN`
};

/// Why a request is refused.
struct Refusal {
  int Code;
  llvm::StringLiteral Why;
};

class Gate {
public:
  /// Makes a token of random bytes of the operating system. The port is that of
  /// the server.
  explicit Gate(uint16_t Port);

  llvm::StringRef token() const { return Token; }

  /// Returns nothing if the request is welcome. One for the page, which cannot
  /// have a header, may have the token in its query. Another host or origin,
  /// which a web page has even if its name resolves to here, is refused.
  std::optional<Refusal> check(const Caller &From, bool IsForPage);

private:
  bool isLocal(llvm::StringRef Host) const;
  bool isToken(llvm::StringRef Given) const;
  bool isTooOften();

  using Clock = std::chrono::steady_clock;

  const std::string Port;
  std::string Token;
  /// Requests that may come at once; more come back with time.
  double Allowance;
  Clock::time_point Last = Clock::now();
};

} // namespace foretrace::explore
