// SPDX-License-Identifier: Apache-2.0
//
// The job's text, with what follows from each line: what its keys amount to,
// and the time and the bytes that other backends attribute to it.
#include "backends/report/Parts.h"
#include "ir/model/Measure.h"
#include "ir/model/SpecFields.h"
#include "lang/Library.h"
#include "lang/SourceFiles.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <set>

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::report;

namespace {

/// A number beside a line.
struct Remark {
  std::string Title;
  Figure Of;
  FigureUnit Unit;
  const ExprTable *Sizes;
};

class SourceWriter {
public:
  SourceWriter(const EmitRequest &Request, Explanations &Of,
               llvm::json::OStream &J)
      : Request(Request), Sources(*Request.Sources), Of(Of), J(J) {}

  void write(llvm::ArrayRef<Answer> All);

private:
  using Line = std::pair<FileId, unsigned>;

  template <typename SpecT> void section(const SpecT &S);
  void add(SourceRange At, Remark R);
  void add(const Answer &From, llvm::StringRef Table, llvm::StringRef Place,
           llvm::StringRef Before, llvm::StringRef Title,
           llvm::StringRef Value);
  void file(FileId File);
  void line(const SourceLocation &At, unsigned Number);
  bool isShown(SourceRange At) const;

  const EmitRequest &Request;
  const SourceFiles &Sources;
  Explanations &Of;
  llvm::json::OStream &J;
  std::set<FileId> Files;
  std::map<Line, std::vector<Remark>> Remarks;
  std::map<std::string, SourceRange> Places; ///< by the name from Where
};

} // namespace

/// Returns whether it is in a file of the job.
bool SourceWriter::isShown(SourceRange At) const {
  return At.isValid() && !Sources.isCommandLine(At.File) &&
         !Sources.name(At.File).starts_with(LibraryFolder);
}

void SourceWriter::add(SourceRange At, Remark R) {
  if (!isShown(At))
    return;
  Files.insert(At.File);
  Remarks[{At.File, Sources.locate(At.start()).Line}].push_back(std::move(R));
}

/// Adds the numbers of a section: stated ones beside their lines, unless they
/// are plain digits, and derived ones beside the first stated key.
template <typename SpecT> void SourceWriter::section(const SpecT &S) {
  SourceRange First;
  auto Each = [&](const FieldRow &, const auto &F) {
    if (F.isStated() && isShown(F.Range) && !First.isValid())
      First = F.Range;
  };
  visitFields(S, Each);
  if (!First.isValid())
    return;
  Files.insert(First.File);
  const ExprScope P = Request.Figures.scope();
  visitFields(S, [&](const FieldRow &Row, const auto &F) {
    if constexpr (std::is_same_v<decltype(F), const Located<int64_t> &>) {
      const bool IsPlain =
          F.isStated() &&
          (!isShown(F.Range) || Sources.slice(F.Range).find_first_not_of(
                                    "0123456789") == llvm::StringRef::npos);
      if (!F.isPresent() || IsPlain ||
          F.From == Located<int64_t>::Status::Default ||
          Row.Type == "DataRate" || Row.Type == "NetworkRate" ||
          Row.Type == "PerSecond") // which no figure is
        return;
      // Numbers of a cluster are no keys of expressions.
      Figure Number = *F;
      if constexpr (!std::is_same_v<SpecT, ClusterSpec>)
        Number = {P.Sizes, exprOf(P, F)};
      add(F.isStated() ? F.Range : First,
          {Row.Name.str(), std::move(Number),
           Row.Type == "ByteSize"   ? FigureUnit::Bytes
           : Row.Type == "Fraction" ? FigureUnit::Millionths
                                    : FigureUnit::Count,
           &P.Sizes});
    }
  });
}

/// Adds the rows of a table of another backend that name a line of the job. \p
/// Before precedes their titles.
void SourceWriter::add(const Answer &From, llvm::StringRef Table,
                       llvm::StringRef Place, llvm::StringRef Before,
                       llvm::StringRef Title, llvm::StringRef Value) {
  const FigureTable *T = From.Of ? From.Of->findTable(Table) : nullptr;
  if (!T)
    return;
  const size_t Number = T->columnOf(Value);
  for (const std::vector<Figure> &Row : T->Rows) {
    const std::string At = exact(Row[T->columnOf(Place)]);
    for (const llvm::StringRef Each : llvm::split(At, ", "))
      if (const auto It = Places.find(Each.str()); It != Places.end())
        add(It->second,
            {Before.str() + exact(Row[T->columnOf(Title)]), Row[Number],
             T->Columns[Number].Unit, &From.Of->Sizes});
  }
}

void SourceWriter::line(const SourceLocation &At, unsigned Number) {
  J.attribute("text", Sources.line(At));
  const auto It = Remarks.find({At.File, Number});
  if (It == Remarks.end())
    return;
  J.attributeArray("remarks", [&] {
    for (const Remark &R : It->second)
      J.object([&] {
        J.attribute("title", R.Title);
        J.attributeBegin("value");
        Of.writeNumber(J, R.Of.number(), *R.Sizes,
                       R.Of.From.value_or(ExprId()));
        J.attributeEnd();
        J.attribute("unit", getName(R.Unit));
      });
  });
}

void SourceWriter::file(FileId File) {
  J.attribute("name", Sources.name(File));
  J.attributeArray("lines", [&] {
    uint32_t Offset = 0;
    unsigned Number = 1;
    for (llvm::StringRef Rest = Sources.text(File).str(); !Rest.empty();
         ++Number) {
      const SourceLocation At{File, Offset};
      J.object([&] { line(At, Number); });
      const auto [Line, After] = Rest.split('\n');
      Offset += static_cast<uint32_t>(Line.size()) + 1;
      Rest = After;
    }
  });
}

void SourceWriter::write(llvm::ArrayRef<Answer> All) {
  const Spec &S = Request.Program.Spec;
  section(S.Model);
  section(S.Train);
  section(S.Parallel);
  auto SectionIf = [&](const auto &Of) {
    if (Of)
      section(*Of);
  };
  SectionIf(S.Requests);
  SectionIf(S.Serve);
  SectionIf(S.Draft);
  SectionIf(S.Lora);
  SectionIf(S.Cluster);
  for (const FileId File : Files) {
    uint32_t Offset = 0;
    for (llvm::StringRef Rest = Sources.text(File).str(); !Rest.empty();) {
      const SourceRange At{File, Offset, Offset};
      Places.try_emplace(lineOf(Sources, At), At);
      const auto [Line, After] = Rest.split('\n');
      Offset += static_cast<uint32_t>(Line.size()) + 1;
      Rest = After;
    }
  }
  for (const Answer &A : All) {
    if (A.From->Name == "time")
      add(A, "lines", "line", "", "part", "time");
    if (A.From->Name == "volume")
      add(A, "causes", "at", "sent over ", "keys", "sent");
  }
  J.attributeArray("sources", [&] {
    for (const FileId File : Files)
      J.object([&] { file(File); });
  });
}

void report::writeSources(const EmitRequest &Request,
                          llvm::ArrayRef<Answer> All, Explanations &Of,
                          llvm::json::OStream &J) {
  if (Request.Sources)
    SourceWriter(Request, Of, J).write(All);
}
