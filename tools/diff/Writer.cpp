// SPDX-License-Identifier: Apache-2.0
#include "tools/diff/Writer.h"
#include "analysis/DeviceRates.h"
#include "analysis/FlopCounter.h"
#include "analysis/ModelParameters.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace foretrace;
using namespace foretrace::diff;
using llvm::StringRef;

/// Printed for a value that one side does not have.
static constexpr char Nothing[] = "-";

/// Returns `job.fore:4:17`; empty for no place.
std::string DiffWriter::placeOf(SourceRange Range) const {
  return foretrace::placeOf(Sources, Range);
}

/// Returns where a key is stated, or how it came to have its value.
std::string DiffWriter::originOf(const std::optional<KeyValue> &K) const {
  if (!K)
    return Nothing;
  return K->Range.isValid() ? placeOf(K->Range) : getName(K->Is).str();
}

/// Lists are cut where lines would get too long.
static std::string shorten(const std::optional<KeyValue> &K) {
  constexpr size_t Most = 40;
  if (!K)
    return Nothing;
  return K->Text.size() <= Most ? K->Text : K->Text.substr(0, Most - 3) + "...";
}

static bool isNumber(const std::optional<Figure> &F) {
  return F && F->isNumber();
}

/// Returns a figure as people read it, both sides in the same unit; exactly, if
/// they would otherwise look equal.
static std::string textOf(const std::optional<Figure> &F,
                          const std::optional<Figure> &Other, FigureUnit U,
                          bool IsExact) {
  if (!F)
    return Nothing;
  if (IsExact || U == FigureUnit::Flag || !isNumber(F) || !isNumber(Other))
    return describe(*F, U, IsExact);
  const NumberScale In = scaleOf(U, {F->number(), Other->number()});
  const std::string Text = scaled(F->number(), In);
  if (Text == scaled(Other->number(), In))
    return describe(*F, U, /*IsExact=*/true);
  return Text + In.Suffix.str();
}

/// `-12.5 %`; empty if there is nothing to divide by.
static std::string shareOf(const FigureChange &C) {
  if (!isNumber(C.Before) || !isNumber(C.After) || C.Before->number() == 0 ||
      C.Unit == FigureUnit::Flag)
    return "";
  const auto Was = static_cast<double>(C.Before->number());
  const auto More = static_cast<double>(C.After->number() - C.Before->number());
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::format("%+.1f %%", 100 * More / Was);
  return Text;
}

/// Returns the words of a row, with `1-6` first for a range of stages.
static std::vector<std::string> rowOf(const FigureName &Name) {
  std::vector<std::string> Words = Name.Row.Words;
  if (Name.Row.Stages)
    Words.insert(Words.begin(), printRange(*Name.Row.Stages));
  return Words;
}

/// Returns the first causes; keys that only matter together in parentheses.
static std::string causesOf(const FigureChange &C) {
  constexpr size_t Most = 4;
  const llvm::ArrayRef<std::string> Shown =
      llvm::ArrayRef(C.By).take_front(Most);
  std::string By = llvm::join(Shown, ", ");
  if (C.By.size() > Most)
    By += llvm::formatv(" and {0} more", C.By.size() - Most);
  return C.IsByAll && !By.empty() ? "(" + By + ")" : By;
}

static void cut(FigureTable &T, unsigned Most) {
  if (Most == 0 || T.Rows.size() <= Most)
    return;
  std::vector<Figure> Rest = {
      llvm::formatv("... {0} more", T.Rows.size() - Most).str()};
  Rest.resize(T.Columns.size(), Figure(""));
  T.Rows.resize(Most, Rest);
  T.Rows.push_back(std::move(Rest));
}

FigureTable DiffWriter::tableOfKeys() const {
  FigureTable T{
      "keys",
      "keys",
      columns({{FigureUnit::Text, "key before after before_from after_from"}}),
      {}};
  for (const KeyChange &K : D.Keys)
    T.Rows.push_back({{K.path()},
                      {shorten(K.Before)},
                      {shorten(K.After)},
                      {originOf(K.Before)},
                      {originOf(K.After)}});
  return T;
}

static StringRef wordOf(Severity Level) {
  static constexpr llvm::StringLiteral Words[] = {"error", "warning", "note"};
  return Words[static_cast<size_t>(Level)];
}

FigureTable DiffWriter::tableOfMessages() const {
  FigureTable T{"messages",
                "messages that only one job gives",
                columns({{FigureUnit::Text, "of at severity message"}}),
                {}};
  for (const MessageChange &M : D.Messages) {
    auto Add = [&](const Diagnostic &Of, std::string Text) {
      T.Rows.push_back({{M.IsAfter ? "after" : "before"},
                        {placeOf(Of.Range)},
                        {wordOf(Of.Level).str()},
                        {std::move(Text)}});
    };
    Add(*M.Of,
        M.Of->text() + " [" + getDiagnosticInfo(M.Of->Id).Slug.str() + "]");
    for (const Diagnostic &Note : M.Of->Notes)
      Add(Note, Note.text());
  }
  return T;
}

/// `summary`, of the schema `foretrace.summary/1`.
StringRef DiffWriter::answerOf(const FigureChange &C) const {
  const StringRef Schema = D.Before[C.Name.Answer].Schema;
  return Schema.split('.').second.split('/').first;
}

/// Returns the title of a table of numbers that have names of their own.
static std::string titleOf(const FigureChange &C, StringRef Answer) {
  if (!C.Name.Table.empty())
    return C.Title;
  return C.Name.Answer == 0 ? "metrics" : Answer.str();
}

/// A table for each of the answers; numbers with a name of their own first.
void DiffWriter::addTablesOfChanges(std::vector<FigureTable> &To) const {
  const FigureChange *Last = nullptr;
  for (const FigureChange &C : D.Changes) {
    if (!Last || C.Name.Table != Last->Name.Table ||
        C.Name.Answer != Last->Name.Answer)
      To.push_back({"changes",
                    titleOf(C, answerOf(C)),
                    columns({{FigureUnit::Text, "of before after change by"}}),
                    {}});
    Last = &C;
    std::vector<std::string> Words = rowOf(C.Name);
    if (const auto &Stages = C.Name.Row.Stages)
      Words.front().insert(0, Stages->Count == 1 ? "stage " : "stages ");
    if (!C.IsOnly)
      Words.push_back(C.Name.Column.str());
    To.back().Rows.push_back({{llvm::join(Words, " ")},
                              {textOf(C.Before, C.After, C.Unit, IsExact)},
                              {textOf(C.After, C.Before, C.Unit, IsExact)},
                              {shareOf(C)},
                              {causesOf(C)}});
  }
}

/// Returns why two times or shares of a peak rate can't be compared; empty if
/// they can.
std::vector<std::string> DiffWriter::notes() const {
  std::vector<std::string> Notes;
  if (!Before.Program || !After.Program ||
      llvm::none_of(D.Changes, [&](const FigureChange &C) {
        return answerOf(C) == "time";
      }))
    return Notes;
  ir::ExprOverlay First(*Before.Program), Second(*After.Program);
  if (const auto [Was, Is] = std::pair(tokensOfIteration(First).Value,
                                       tokensOfIteration(Second).Value);
      Was != Is)
    Notes.push_back("Iterations process " + toString(Was) +
                    " tokens before and " + toString(Is) +
                    " after: compare tokens_per_second, not time.");
  if (const auto [Was, Is] = std::pair(activeParameters(*Before.Program),
                                       activeParameters(*After.Program));
      Was != Is)
    Notes.push_back(llvm::formatv("Models have {0} active parameters before "
                                  "and {1} after: compare mfu, not "
                                  "time or tokens_per_second.",
                                  Was, Is));
  const DeviceRates Old(*Before.Program, /*Time=*/1),
      New(*After.Program, /*Time=*/1);
  if (Old.isPeakKnown() && New.isPeakKnown() && Old.key() != New.key())
    Notes.push_back("MFU is a share of `" + Old.key().str() +
                    "` before and of `" + New.key().str() +
                    "` after: compare tokens_per_second.");
  return Notes;
}

Figures DiffWriter::tables() const {
  Figures F{"foretrace.diff/2", {}, {}, {}, {}};
  auto NameOf = [](const Side &S) {
    return S.Name + (S.Program ? "" : ", which is refused");
  };
  F.Named = {{"before", "before", FigureUnit::Text, NameOf(Before)},
             {"after", "after", FigureUnit::Text, NameOf(After)}};
  F.Tables = {tableOfMessages(), tableOfKeys()};
  F.Notes = notes();
  addTablesOfChanges(F.Tables);
  llvm::erase_if(F.Tables, [](const FigureTable &T) { return T.Rows.empty(); });
  for (FigureTable &T : F.Tables)
    cut(T, MostRows);
  return F;
}

void DiffWriter::write(RowFormat As, llvm::raw_ostream &OS) const {
  switch (As) {
  case RowFormat::Table:
  case RowFormat::Markdown:
    if (!D.isNone())
      foretrace::write(tables(), As, IsExact, OS);
    return;
  case RowFormat::JSON:
    return writeJSON(OS);
  case RowFormat::CSV:
    return writeCSV(OS);
  }
  llvm_unreachable("every format is handled");
}

void DiffWriter::writeCSV(llvm::raw_ostream &OS) const {
  writeFields(
      {"answer", "table", "row", "figure", "unit", "before", "after", "by"},
      OS);
  for (const MessageChange &M : D.Messages) {
    const std::string Text = M.Of->text();
    writeFields({"diagnostics", "", placeOf(M.Of->Range),
                 getDiagnosticInfo(M.Of->Id).Slug.str(), "text",
                 M.IsAfter ? "" : Text, M.IsAfter ? Text : "", ""},
                OS);
  }
  for (const KeyChange &K : D.Keys)
    writeFields({"keys", "", K.path(), "", "text",
                 K.Before ? K.Before->Text : "", K.After ? K.After->Text : "",
                 ""},
                OS);
  for (const FigureChange &C : D.Changes)
    writeFields({answerOf(C).str(), C.Name.Table.str(),
                 llvm::join(rowOf(C.Name), " "), C.Name.Column.str(),
                 foretrace::getName(C.Unit).str(),
                 C.Before ? exact(*C.Before) : "",
                 C.After ? exact(*C.After) : "", llvm::join(C.By, " ")},
                OS);
}

namespace {

/// Parts of the JSON of a difference.
class JSONWriter {
public:
  JSONWriter(const SourceFiles &Sources, llvm::json::OStream &J)
      : Sources(Sources), J(J) {}

  void write(StringRef Name, const Side &S);
  void write(StringRef Name, const std::optional<KeyValue> &K);
  void write(const MessageChange &M);
  void write(StringRef Answer, const FigureChange &C);

private:
  void place(SourceRange Range);
  void figure(StringRef Name, const std::optional<Figure> &F, FigureUnit U);

  const SourceFiles &Sources;
  llvm::json::OStream &J;
};

} // namespace

void JSONWriter::place(SourceRange Range) {
  if (!Range.isValid())
    return;
  const auto [Line, Column] = Sources.locate(Range.start());
  J.attribute("file", llvm::json::fixUTF8(Sources.name(Range.File)));
  J.attribute("line", Line);
  J.attribute("column", Column);
}

void JSONWriter::write(StringRef Name, const Side &S) {
  J.attributeObject(Name, [&] {
    J.attribute("job", llvm::json::fixUTF8(S.Name));
    J.attribute("refused", S.Program == nullptr);
  });
}

void JSONWriter::write(StringRef Name, const std::optional<KeyValue> &K) {
  if (!K)
    return J.attribute(Name, nullptr);
  J.attributeObject(Name, [&] {
    J.attribute("value", llvm::json::fixUTF8(K->Text));
    J.attribute("how", diff::getName(K->Is));
    place(K->Range);
  });
}

void JSONWriter::write(const MessageChange &M) {
  J.object([&] {
    J.attribute("of", M.IsAfter ? "after" : "before");
    J.attribute("slug", getDiagnosticInfo(M.Of->Id).Slug);
    J.attribute("severity", wordOf(M.Of->Level));
    J.attribute("message", llvm::json::fixUTF8(M.Of->text()));
    J.attributeArray("notes", [&] {
      for (const Diagnostic &Note : M.Of->Notes)
        J.value(llvm::json::fixUTF8(Note.text()));
    });
    place(M.Of->Range);
  });
}

void JSONWriter::figure(StringRef Name, const std::optional<Figure> &F,
                        FigureUnit U) {
  J.attributeBegin(Name);
  if (F)
    writeValue(*F, U, J);
  else
    J.value(nullptr);
  J.attributeEnd();
}

void JSONWriter::write(StringRef Answer, const FigureChange &C) {
  J.object([&] {
    J.attribute("answer", Answer);
    J.attribute("table", C.Name.Table);
    if (const auto &Stages = C.Name.Row.Stages) {
      J.attributeBegin("stages");
      writeValue(*Stages, FigureUnit::Text, J);
      J.attributeEnd();
    }
    J.attribute("row", llvm::json::Array(C.Name.Row.Words));
    J.attribute("figure", C.Name.Column);
    J.attribute("unit", foretrace::getName(C.Unit));
    figure("before", C.Before, C.Unit);
    figure("after", C.After, C.Unit);
    J.attribute("by", llvm::json::Array(C.By));
    J.attribute("together", C.IsByAll);
  });
}

void DiffWriter::writeJSON(llvm::raw_ostream &OS) const {
  llvm::json::OStream J(OS, 2);
  JSONWriter Parts(Sources, J);
  J.object([&] {
    J.attribute("schema", "foretrace.diff/2");
    J.attribute("same", D.isNone());
    Parts.write("before", Before);
    Parts.write("after", After);
    J.attributeArray("diagnostics", [&] {
      for (const MessageChange &M : D.Messages)
        Parts.write(M);
    });
    J.attributeArray("keys", [&] {
      for (const KeyChange &K : D.Keys)
        J.object([&] {
          J.attribute("key", K.path());
          Parts.write("before", K.Before);
          Parts.write("after", K.After);
        });
    });
    J.attribute("notes", llvm::json::Array(notes()));
    J.attributeArray("figures", [&] {
      for (const FigureChange &C : D.Changes)
        Parts.write(answerOf(C), C);
    });
  });
  J.flush();
  OS << '\n';
}
