// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/Fields.h"
#include "tools/fit/Measurements.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace llvm;

namespace foretrace::fit {

using ir::ElementType;

/// Returns the type of an operand such as `bf16:row`.
static std::optional<ElementType> operandType(StringRef Operand) {
  static constexpr std::pair<StringLiteral, ElementType> Types[] = {
      {"bf16", ElementType::BF16}, {"f16", ElementType::FP16},
      {"f32", ElementType::FP32},  {"tf32", ElementType::FP32},
      {"e4m3", ElementType::FP8},  {"e5m2", ElementType::FP8}};
  for (const auto &[Name, Type] : Types)
    if (Operand.split(':').first == Name)
      return Type;
  return std::nullopt;
}

void MeasurementReader::readCutlass(SourceText Text) {
  using Problem = std::tuple<ElementType, ElementType, double, double, double>;
  std::map<Problem, double> Best; // ms
  std::vector<StringRef> Columns;
  for (StringRef Rest = Text.str(); !Rest.empty();) {
    StringRef Line;
    std::tie(Line, Rest) = Rest.split('\n');
    const std::vector<StringRef> Fields = splitFields(Line.rtrim('\r'));
    if (is_contained(Fields, "OperationKind")) {
      Columns = Fields;
      continue;
    }
    if (Columns.empty() || Fields.size() != Columns.size())
      continue; // text around the table
    auto Cell = [&](StringRef Column) {
      const auto It = find(Columns, Column);
      return It == Columns.end()
                 ? StringRef()
                 : Fields[static_cast<size_t>(It - Columns.begin())];
    };
    const StringRef Out = Cell("D").empty() ? Cell("C") : Cell("D");
    const auto Operand = operandType(Cell("A")), Result = operandType(Out);
    double M = 0, N = 0, K = 0, Millis = 0;
    if (!Operand || !Result || Cell("m").getAsDouble(M) ||
        Cell("n").getAsDouble(N) || Cell("k").getAsDouble(K) ||
        Cell("Runtime").getAsDouble(Millis) || !(M * N * K * Millis > 0))
      continue; // an operation that does not exist, or failed
    const auto [It, IsNew] =
        Best.try_emplace({*Operand, *Result, M, N, K}, Millis);
    It->second = std::min(It->second, Millis);
  }
  for (const auto &[Of, Millis] : Best) {
    const auto &[Operand, Result, M, N, K] = Of;
    Found.push_back({ProductShape{Operand, Result, false, false, 1, M, N, K},
                     Millis * 1e-3});
  }
}

} // namespace foretrace::fit
