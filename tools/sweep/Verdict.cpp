// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Verdict.h"
#include "analysis/Figures.h"
#include "backends/figures/Figures.h"
#include "ir/model/SpecKeys.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Tools.h"
#include "tools/sweep/Digest.h"
#include "tools/sweep/Shell.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace::sweep {

CompiledJob &replay(Compiler &Session, const Sweep &S, int64_t Point,
                    bool EmitsOfSweep) {
  FrontendOptions Options = S.Options;
  Options.EmitsOfSweep = EmitsOfSweep;
  append_range(Options.Overrides, S.Space.overridesOf(Point));
  return Session.read(S.Job, std::move(Options), S.Diags.cloneEmpty());
}

std::map<std::string, std::string> filesRead(Compiler &Session,
                                             unsigned First) {
  std::map<std::string, std::string> Files;
  const SourceMgr &Read = Session.sources().forRenderer();
  for (unsigned I = First; I <= Read.getNumBuffers(); ++I) {
    const MemoryBuffer *B = Read.getMemoryBuffer(I);
    if (!B || B->getBufferIdentifier().starts_with("<"))
      continue; // of the command line, or of the library
    Files[B->getBufferIdentifier().str()] = digestOf(B->getBuffer());
  }
  return Files;
}

namespace {

/// The expressions of a sweep at one point.
class PointValues {
public:
  PointValues(const Sweep &S, int64_t Point) : Spec(S.Space.spec()) {
    for (const auto &[Index, A] : enumerate(Spec.Axes))
      for (const SweepSpec::Key &K : A.Keys)
        Axes.push_back({&K, S.Space.indexAt(Point, Index)});
  }

  /// Sets the program of a legal job.
  void setProgram(const ir::Program &Legal, ArrayRef<int64_t> Measured) {
    P = &Legal;
    Metrics = Measured;
  }
  int64_t evaluate(ir::ExprId E) const {
    const ir::ExprCode Code(Spec.Sizes, E);
    ir::RowEvaluator Row(Code);
    for (const auto &[Index, L] : enumerate(Code.leaves()))
      Row.set(Index, numberOf(L.Key));
    return Row.value(0);
  }
  /// `: tp = 4, peak = 1024`; nothing if it is made of nothing.
  std::string describe(ir::ExprId E) const {
    std::string Text;
    for (const ir::Key K : Spec.leavesOf(E))
      Text += (Text.empty() ? ": " : ", ") + nameOf(K) + " = " + textOf(K);
    return Text;
  }

private:
  int64_t numberOf(ir::Key K) const {
    if (K.Id == ir::KeyId::SweepAxis)
      return Axes[K.Block].Of->Numbers[Axes[K.Block].Position];
    if (K.Id == ir::KeyId::SweepMetric)
      return Metrics[K.Block];
    const Located<int64_t> *F = findField(P->Spec, K);
    return F && F->isPresent() ? **F : 0;
  }
  std::string nameOf(ir::Key K) const {
    if (K.Id == ir::KeyId::SweepAxis)
      return Axes[K.Block].Of->Name;
    if (K.Id == ir::KeyId::SweepMetric)
      return allFigures()[K.Block].Name;
    return ir::nameOf(P->Spec, K);
  }
  std::string textOf(ir::Key K) const {
    if (K.Id == ir::KeyId::SweepAxis)
      return Axes[K.Block].Of->Values[Axes[K.Block].Position];
    const FigureUnit U = K.Id == ir::KeyId::SweepMetric
                             ? allFigures()[K.Block].Unit
                             : FigureUnit::Count;
    return foretrace::describe(numberOf(K), U, /*IsExact=*/true);
  }

  struct AxisValue {
    const SweepSpec::Key *Of;
    size_t Position;
  };
  const SweepSpec &Spec;
  std::vector<AxisValue> Axes; ///< by key
  const ir::Program *P = nullptr;
  ArrayRef<int64_t> Metrics;
};

} // namespace

/// Reports the first condition that does not hold, of those on axes alone or of
/// the others; returns whether there is one.
static bool reportUnmet(const SweepSpec &Spec, const PointValues &Values,
                        bool AreOfAxes, DiagnosticEngine &Diags) {
  for (const SweepSpec::Condition &C : Spec.Conditions)
    if (Spec.axesOf(C.Holds).has_value() == AreOfAxes &&
        Values.evaluate(C.Holds) != 1) {
      Diags.report(C.Range, diag::WhereFailed, C.Text,
                   Values.describe(C.Holds));
      return true;
    }
  return false;
}

PointVerdict judge(Compiler &Session, const Sweep &S, int64_t Point) {
  const SweepSpec &Spec = S.Space.spec();
  PointVerdict V = {replay(Session, S, Point), {}};
  DiagnosticEngine &Diags = V.Job.engine();
  PointValues Values(S, Point);
  if (!V.Job.spec() || reportUnmet(Spec, Values, true, Diags))
    return V;
  const ir::Program *P = V.Job.program(factsOfMetrics(Spec));
  if (!P)
    return V;
  ir::ExprOverlay Measured(*P);
  std::vector<int64_t> Metrics;
  for (const auto &[Info, M] :
       zip_equal(allFigures(), JobFigures(Measured, Validity::ThisJob).all())) {
    Metrics.push_back(M ? Measured.Sizes.value(*M) : ir::NoValue);
    if (!M || Metrics.back() != ir::NoValue)
      continue;
    Diags.report(P->Spec.Model.LayersRange, diag::SizeOverflow, Info.Name);
    return V;
  }
  for (const size_t M : Spec.metricsRead())
    if (M < Metrics.size() && Metrics[M] == ir::NoValue) {
      Diags.report(P->Spec.Parallel.World.Range, diag::MetricMissing,
                   allFigures()[M].Name);
      return V;
    }
  Values.setProgram(*P, Metrics);
  if (reportUnmet(Spec, Values, false, Diags))
    return V;
  std::vector<int64_t> Own;
  for (const SweepSpec::Metric &M : Spec.Metrics) {
    Own.push_back(Values.evaluate(M.Of));
    if (Own.back() == ir::NoValue) {
      Diags.report(M.Range, diag::MetricWithoutValue, M.Name);
      return V;
    }
  }
  append_range(Metrics, Own);
  V.Metrics = std::move(Metrics);
  return V;
}

void printMetrics(const Sweep &S, ArrayRef<int64_t> Metrics, bool IsExact,
                  raw_ostream &OS) {
  for (const auto &[Number, Info] : zip(Metrics, allMetrics(S.Space.spec())))
    if (Number != 0 && Number != ir::NoValue)
      OS << formatv("{0,-20} {1,24}  {2}\n", Info.Name,
                    describe(Number, Info.Unit, IsExact), Info.Doc);
}

std::string optionOf(StringRef Override) { return "-D " + quoted(Override); }

std::string commandOf(const Sweep &S) {
  std::string Command = "foretrace compile " + quoted(StringRef(S.Job));
  for (const std::string &Text : S.Options.Overrides)
    Command += " " + optionOf(Text);
  return Command;
}

std::string commandOf(const Sweep &S, int64_t Point) {
  std::string Command = commandOf(S);
  for (const std::string &Text : S.Space.overridesOf(Point))
    Command += " " + optionOf(Text);
  return Command;
}

} // namespace foretrace::sweep
