// SPDX-License-Identifier: Apache-2.0
#include "ir/model/Messages.h"
#include "ir/model/Program.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace foretrace;
using namespace foretrace::ir;

llvm::raw_ostream &foretrace::ir::operator<<(llvm::raw_ostream &OS,
                                             const MessageList &L) {
  if (L.empty())
    return OS;
  OS << " messages(";
  llvm::interleave(
      L, OS,
      [&](const MessagePeriod &Of) {
        if (Of.Times != 1)
          OS << Of.Times << " by " << Of.Layers << " * (";
        llvm::interleave(
            Of.Each, OS,
            [&](const BucketMessage &M) {
              OS << M.Elements << '@' << M.Layer << ':' << M.Param;
            },
            " ");
        OS << (Of.Times != 1 ? ")" : "");
      },
      " + ");
  return OS << ')';
}

int64_t foretrace::ir::messageCount(const MessageList &L) {
  Elements Count;
  for (const MessagePeriod &P : L)
    Count += Elements(static_cast<int64_t>(P.Each.size())) * P.Times;
  return Count.isOverflow() ? INT64_MAX : Count.value();
}

std::optional<int64_t> foretrace::ir::messageSum(const MessageList &L) {
  Elements Sum;
  for (const MessagePeriod &P : L)
    for (const BucketMessage &M : P.Each)
      Sum += Elements(M.Elements) * P.Times;
  return Sum.isOverflow() ? std::nullopt : std::optional(Sum.value());
}

std::vector<BucketMessage> foretrace::ir::unfolded(const MessageList &L) {
  std::vector<BucketMessage> All;
  for (const MessagePeriod &Of : L)
    for (int64_t I = 0; I < Of.Times; ++I)
      for (BucketMessage M : Of.Each) {
        M.Layer -= I * Of.Layers;
        All.push_back(M);
      }
  return All;
}

int64_t foretrace::ir::messageCount(const Op &O) {
  return O.Messages.empty() ? 1 : messageCount(O.Messages);
}

/// The share of \p All that \p Part of \p Whole elements have.
static Bytes share(Bytes All, __int128 Part, int64_t Whole) {
  return Bytes(static_cast<int64_t>(All.value() * Part / Whole));
}

std::vector<Bytes> foretrace::ir::messagesOf(const Program &P, const Op &O) {
  const Bytes All = messageBytes(P, O);
  if (O.Messages.empty() || All.isOverflow())
    return {All};
  const int64_t Whole = *messageSum(O.Messages);
  std::vector<Bytes> Sizes;
  __int128 Before = 0;
  Bytes Sent;
  for (const BucketMessage &M : unfolded(O.Messages)) {
    const Bytes Until = share(All, Before += M.Elements, Whole);
    Sizes.emplace_back(Until.value() - Sent.value());
    Sent = Until;
  }
  return Sizes;
}

void foretrace::ir::forEachSize(const Program &P, const Op &O,
                                llvm::function_ref<void(Bytes, int64_t)> Do) {
  const Bytes All = messageBytes(P, O);
  if (O.Messages.empty() || All.isOverflow())
    return Do(All, 1);
  const int64_t Whole = *messageSum(O.Messages);
  for (const MessagePeriod &Of : O.Messages)
    for (const BucketMessage &M : Of.Each)
      Do(share(All, M.Elements, Whole), Of.Times);
}
