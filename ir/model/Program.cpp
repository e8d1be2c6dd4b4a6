// SPDX-License-Identifier: Apache-2.0
#include "ir/model/Program.h"
#include "lang/diagnostics/IR.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

namespace foretrace::ir {

Program::Program() = default;
Program::Program(const Program &) = default;
Program::Program(Program &&) noexcept = default;
Program &Program::operator=(const Program &) = default;
Program &Program::operator=(Program &&) noexcept = default;
Program::~Program() = default;

llvm::StringRef getName(Axis A) {
  static constexpr llvm::StringLiteral Names[] = {
#define AXIS(ENUMERATOR, SPELLING, DOC) SPELLING,
#include "ir/model/Axes.def"
  };
  return Names[static_cast<unsigned>(A)];
}

std::optional<Axis> findAxis(llvm::StringRef Name) {
  return llvm::StringSwitch<std::optional<Axis>>(Name)
#define AXIS(ENUMERATOR, SPELLING, DOC) .Case(SPELLING, Axis::ENUMERATOR)
#include "ir/model/Axes.def"
      .Default(std::nullopt);
}

llvm::ArrayRef<Axis> allAxes() {
  static constexpr Axis Axes[] = {
#define AXIS(ENUMERATOR, SPELLING, DOC) Axis::ENUMERATOR,
#include "ir/model/Axes.def"
  };
  return Axes;
}

int64_t Mesh::groupSize(llvm::ArrayRef<Axis> Axes) const {
  int64_t N = 1;
  for (Axis A : Axes)
    N *= (*this)[A];
  return N;
}

llvm::StringRef getName(Fact F) {
  static constexpr llvm::StringLiteral Names[] = {
#define FACT(ENUMERATOR, SPELLING, MAKES, LEVEL, DOC) SPELLING,
#include "ir/model/Facts.def"
  };
  return Names[static_cast<unsigned>(F)];
}

const ElementInfo &getInfo(ElementType T) {
  using Class = ElementInfo::Class;
  static constexpr ElementInfo Infos[] = {
#define ELEMENT_TYPE(ENUMERATOR, NAME, CLASS, BITS, BLOCK, WEIGHT_BLOCK,       \
                     SCALE_BYTES)                                              \
  {NAME, Class::CLASS, BITS, BLOCK, WEIGHT_BLOCK, SCALE_BYTES},
#include "ir/model/ElementTypes.def"
  };
  return Infos[static_cast<size_t>(T)];
}

#define TYPE_KIND(ENUMERATOR, SPELLING)                                        \
  static_assert(static_cast<size_t>(TypeKind::ENUMERATOR) ==                   \
                static_cast<size_t>(ElementType::ENUMERATOR));
#define PRECISION_KIND(ENUMERATOR, SPELLING)                                   \
  static_assert(static_cast<size_t>(PrecisionKind::ENUMERATOR) ==              \
                static_cast<size_t>(ElementType::ENUMERATOR));
#include "ir/model/Spec.def"

int64_t bytesPerElement(ElementType T) {
  assert(getInfo(T).Block == 0 && "scales are not counted");
  return getInfo(T).Bits / 8;
}

int TensorType::indexOf(DimKind K) const {
  for (size_t I = 0; I < Dims.size(); ++I)
    if (Dims[I].Kind == K)
      return static_cast<int>(I);
  return -1;
}

bool TensorType::isOfExperts() const {
  return llvm::any_of(Dims, [](const Dim &D) {
    return D.Kind == DimKind::Slots || D.Kind == DimKind::Expert ||
           D.Kind == DimKind::Gathered;
  });
}

llvm::StringRef getSuffix(Derivative D) {
  switch (D) {
  case Derivative::None:
    return "";
  case Derivative::Input:
    return ".dgrad";
  case Derivative::Param:
    return ".wgrad";
  }
  llvm_unreachable("covered switch");
}

llvm::StringRef getName(Phase P) {
  switch (P) {
  case Phase::Forward:
    return "forward";
  case Phase::Recompute:
    return "recompute";
  case Phase::Backward:
    return "backward";
  case Phase::Step:
    return "step";
  }
  llvm_unreachable("covered switch");
}

Level levelOf(FactSet Facts) {
  if (Facts.contains(Fact::Stages))
    return Level::Schedule;
  if (Facts.contains(Fact::Layouts))
    return Level::SPMD;
  return Facts.contains(Fact::Blocks) ? Level::Model : Level::Spec;
}

bool checkLevel(Level L, FactSet Facts, DiagnosticEngine &Diags) {
  constexpr bool Makes = true, From = false;
  constexpr struct {
    Fact Which;
    bool MakesLevel;
    Level First;
  } Rows[] = {
#define FACT(ENUMERATOR, SPELLING, MAKES, LEVEL, DOC)                          \
  {Fact::ENUMERATOR, MAKES, Level::LEVEL},
#include "ir/model/Facts.def"
  };
  const unsigned Before = Diags.errorCount();
  for (const auto &Row : Rows) {
    const bool Has = Facts.contains(Row.Which);
    if (Has && L < Row.First)
      Diags.report({}, diag::VerifyFact, getName(Row.Which), getName(Row.First),
                   getName(L));
    if (!Has && Row.MakesLevel && L >= Row.First)
      Diags.report({}, diag::VerifyLevel, getName(L), getName(Row.Which));
  }
  return Diags.errorCount() == Before;
}

llvm::StringRef getName(Level L) {
  switch (L) {
  case Level::Spec:
    return "spec";
  case Level::Model:
    return "model";
  case Level::SPMD:
    return "spmd";
  case Level::Schedule:
    return "schedule";
  }
  llvm_unreachable("covered switch");
}

const LayerSequence &Stage::layersOf(int64_t Chunk) const {
  for (const ChunkRun &C : Chunks)
    if ((Chunk -= C.Count) < 0)
      return C.Layers;
  llvm_unreachable("a stage has this chunk");
}

const Stage &stageAt(llvm::ArrayRef<Stage> Stages, int64_t Index) {
  return *llvm::partition_point(
      Stages, [&](const Stage &S) { return S.First + S.Count <= Index; });
}

int64_t layerCount(const LayerSequence &S) {
  int64_t N = 0;
  for (const LayerGroup &G : S)
    for (const BlockRun &R : G.Runs)
      N += G.Periods * R.Count;
  return N;
}

Bytes bytesPerRank(const Program &P, const Value &V) {
  return bytesOf(elementsPerRank(P, V), bytesPerElement(V.Type.Element));
}

} // namespace foretrace::ir
