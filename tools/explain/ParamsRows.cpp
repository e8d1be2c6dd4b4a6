// SPDX-License-Identifier: Apache-2.0
//
// A line of what `emit params` writes.
#include "backends/params/Params.h"
#include "tools/explain/Explain.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace::explain {

Expected<Subjects> explainParamsRow(const ir::Program &Of, int64_t Row) {
  ir::Program P = Of;
  const std::vector<params::Line> Lines = params::linesOf(P);
  const auto Count = static_cast<int64_t>(Lines.size());
  if (Row < 1 || Row > Count)
    return createStringError(
        formatv("--row: `params` has {0} rows, from 1", Count).str());
  const params::Line &L = Lines[static_cast<size_t>(Row - 1)];
  Subject S{formatv("row {0}, {1}", Row, L.What),
            {P.Spec.Model.LayersRange, "analyze", ""},
            {}};
  if (L.Layers)
    S.What += formatv(", of one layer of {0}", *L.Layers);
  S.Figures.push_back(FigureMaker(P).make("parameters", L.Of));
  return Subjects{std::move(S)};
}

} // namespace foretrace::explain
