// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/ChakraClasses.h"
#include "lang/diagnostics/Validate.h"
#include "tools/validate/ChakraSet.h"
#include "tools/validate/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace llvm;

namespace foretrace::validate {

namespace {

class ClassReader {
public:
  ClassReader(StringRef Path, ArrayRef<uint32_t> Traces, Findings &Out)
      : Traces(Traces), Out(Out), At{Path.str(), 0, {}} {}

  uint32_t run(StringRef Text);

private:
  void takeClass(const json::Value &V);
  void checkRanks();
  template <typename... Ts> void report(const char *Format, Ts &&...Args) {
    Out.report(At, diag::ChakraClasses,
               formatv(Format, std::forward<Ts>(Args)...).str());
  }

  const ArrayRef<uint32_t> Traces;
  Findings &Out;
  const Place At;
  std::set<int64_t> Ranks, Used; ///< that are in a class; that stand for one
};

void ClassReader::takeClass(const json::Value &V) {
  const json::Object *O = V.getAsObject();
  const json::Array *List = O ? O->getArray("ranks") : nullptr;
  const std::optional<int64_t> Trace =
      O ? O->getInteger("trace") : std::nullopt;
  if (!List || !Trace)
    return report("a class without a rank `trace` and a list `ranks`");
  bool HasTrace = false;
  for (const json::Value &Member : *List) {
    const std::optional<int64_t> Rank = Member.getAsInteger();
    if (!Rank || *Rank < 0 || *Rank >= int64_t(RankLimit))
      report("`{0}` is not a rank", Member);
    else if (!Ranks.insert(*Rank).second)
      report("rank {0} stands twice", *Rank);
    HasTrace |= Rank == Trace;
  }
  if (!HasTrace)
    report("the trace of rank {0} does not stand for that rank", *Trace);
  if (!is_contained(Traces, *Trace))
    report("there is no trace of rank {0}", *Trace);
  Used.insert(*Trace);
}

void ClassReader::checkRanks() {
  int64_t Next = 0;
  for (int64_t Rank : Ranks) {
    if (Rank != Next) {
      report("rank {0} is in no class, but there are ranks up to {1}", Next,
             *Ranks.rbegin());
      return;
    }
    ++Next;
  }
  for (uint32_t Trace : Traces)
    if (!Used.count(Trace))
      report("the trace of rank {0} stands for no ranks", Trace);
}

uint32_t ClassReader::run(StringRef Text) {
  Expected<json::Value> V = parseJson(Text);
  const json::Array *Classes = V ? V->getAsArray() : nullptr;
  if (!V)
    report("{0}", toString(V.takeError()));
  else if (!Classes)
    report("the classes are not a list");
  if (!Classes)
    return Traces.back() + 1;
  for (const json::Value &Class : *Classes)
    takeClass(Class);
  checkRanks();
  // With a gap, members beyond it are members all the same.
  const auto Last = Ranks.empty() ? -1 : *Ranks.rbegin();
  return std::max(static_cast<uint32_t>(Last + 1), Traces.back() + 1);
}

} // namespace

uint32_t readClasses(StringRef Text, StringRef Path, ArrayRef<uint32_t> Traces,
                     Findings &Out) {
  return ClassReader(Path, Traces, Out).run(Text);
}

} // namespace foretrace::validate
