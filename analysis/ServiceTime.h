// SPDX-License-Identifier: Apache-2.0
//
// Times that users of a job that serves see, with continuous batching: what the
// steps of an engine are like in the mean (docs/serving.md).
#pragma once

#include "ir/model/Evaluate.h"
#include "ir/model/Program.h"
#include <map>

namespace foretrace {

/// Times of steps of an instance, in seconds, for any number of sequences and
/// tokens of prompts.
class StepClock {
public:
  /// \p P has the laws of steps that decode, at least, and outlives the clock.
  explicit StepClock(const ir::Program &P);

  /// Returns the time of a step with a token, or those that are verified, of \p
  /// Sequences of each replica of attention, and \p Tokens of prompts.
  double operator()(double Sequences, double Tokens);

private:
  enum Law : unsigned char {
    DecodeCached,
    DecodeRest,
    PrefillCached,
    PrefillRest
  };
  double at(Law Of, ir::KeyId Key, int64_t Value);
  double between(Law Of, ir::KeyId Key, double Value, int64_t PerUnit);
  double ofSequences(Law Of, double Sequences);

  const ir::Program &P;
  const ir::ExprCode Code;
  ir::RowEvaluator Row;
  std::map<std::pair<Law, int64_t>, double> Known;
};

/// What holds a service back.
enum class ServiceBound : unsigned char {
  Requests, ///< there are no more: each one runs at once
  Cache,    ///< some wait for blocks of the cache or for places
  Prefill   ///< prompts arrive faster than steps take them
};
llvm::StringRef getName(ServiceBound B);

/// Means over requests, of one instance after it has started; times in seconds,
/// which are no numbers if the steps of other loads have none.
struct ServiceTime {
  double FirstToken; ///< from the arrival of a request
  double Token;      ///< from one token of a request to the next
  double DecodeStep; ///< without prompts
  double MixedStep;  ///< with those that a step takes
  double MixedShare; ///< of steps
  double Running;    ///< sequences that decode, of a replica of attention
  double Queue;      ///< of FirstToken, before a request has a place
  double RequestsPerSecond;
  ServiceBound Bound;
};

/// Returns the times of an instance of \p P with so many requests at a time.
ServiceTime serviceTimeOf(const ir::Program &P, StepClock &Clock);

} // namespace foretrace
