// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/Formats.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::convert {

static constexpr StringLiteral Traces = "chakra", Machine = "astra-sim",
                               AllRanks = "all";

/// Backends that write what ranks do, or the machine that they do it on.
static constexpr StringRef Formats[] = {Traces, "goal", "simgrid", Machine};

ArrayRef<StringRef> formatNames() { return Formats; }

Expected<std::vector<ir::EmitSpec>> emitsFor(std::vector<StringRef> Names,
                                             StringRef Ranks, bool HasCluster) {
  if (Ranks.empty())
    return createStringError(
        "--ranks: expected all, classes or a list such as `0,4,8-11`");
  if (Names.empty())
    Names.push_back(Traces);
  // The script runs the traces of all ranks.
  if (HasCluster && Ranks == AllRanks && is_contained(Names, Traces) &&
      !is_contained(Names, Machine))
    Names.push_back(Machine);
  if (Ranks != AllRanks && !is_contained(Names, Traces))
    return createStringError("--ranks: only traces for `" + Traces +
                             "` can be of some ranks");
  if (!HasCluster && is_contained(Names, Machine))
    return createStringError(
        "--to: `" + Machine +
        "` needs a cluster, for example --cluster=clusters/h100.toml");
  std::vector<ir::EmitSpec> Emits;
  for (StringRef Name : Names) {
    if (!is_contained(Formats, Name))
      return createStringError("--to: a table can't be converted to `" + Name +
                               "`; it can to " + join(ArrayRef(Formats), ", "));
    ir::EmitSpec &E = Emits.emplace_back(ir::EmitSpec::plain(Name));
    if (Name == Traces)
      E.set("ranks",
            isDigit(Ranks.front()) ? ir::Attribute::Kind::Text
                                   : ir::Attribute::Kind::Name,
            Ranks);
  }
  return Emits;
}

} // namespace foretrace::convert
