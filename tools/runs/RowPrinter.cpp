// SPDX-License-Identifier: Apache-2.0
#include "lang/RowWriter.h"
#include "tools/runs/DivergencePrinter.h"
#include "tools/runs/DivergenceText.h"

using namespace llvm;

namespace foretrace::runs {

namespace {

/// Rows beside those of divergences have a kind of their own.
class RowPrinter : public DivergencePrinter {
public:
  RowPrinter(const SourceFiles &Sources, RowFormat As, raw_ostream &OS)
      : Sources(Sources), As(As), OS(OS) {}

  void begin() override {
    Rows.emplace(std::vector<RowColumn>{{"file"},
                                        {"line", true},
                                        {"ranks"},
                                        {"kind"},
                                        {"message"},
                                        {"expected"},
                                        {"seen"},
                                        {"planned_by"}},
                 As, OS);
  }
  void print(const AlikeTraces &F) override {
    const std::string &Path = F.Traces.front().Path;
    const std::string Ranks = ranksOf(F);
    for (const Divergence &D : F.Divergences)
      Rows->write({Path, std::to_string(D.Line), Ranks, getName(D.Kind).str(),
                   printable(D.Text), printable(D.Expected), printable(D.Seen),
                   placeOf(D.Why)});
    if (F.Omitted > 0)
      Rows->write({Path, "", Ranks, "more",
                   std::to_string(F.Omitted) + " more of each trace", "", "",
                   ""});
  }
  void print(const Communicators::First &F) override {
    std::string Ranks;
    for (const int64_t Rank : F.Ranks)
      Ranks += (Ranks.empty() ? "" : ", ") + std::to_string(Rank);
    Rows->write({F.Path, std::to_string(F.What.Line), Ranks, "communicator",
                 (F.Group + ": first at " + printable(F.What.Text)).str(), "",
                 "", ""});
  }
  void omitCommunicators(size_t Count) override {
    other("more", std::to_string(Count) + " more communicators", "");
  }
  void print(const Hint &H) override {
    other("hint", describe(H), placeOf(H.Range));
  }
  void finish(const CheckSummary &S) override {
    if (!S.Missing.empty())
      other("missing", "no trace of " + describeMissing(S), "");
  }

private:
  void other(StringRef Kind, std::string Text, std::string Place) {
    Rows->write(
        {"", "", "", Kind.str(), std::move(Text), "", "", std::move(Place)});
  }
  std::string placeOf(SourceRange Why) const {
    const std::optional<JobPlace> P = findPlace(Sources, Why);
    return P ? describe(*P) : "";
  }

  const SourceFiles &Sources;
  const RowFormat As;
  raw_ostream &OS;
  std::optional<RowWriter> Rows;
};

} // namespace

std::unique_ptr<DivergencePrinter> makeCSVPrinter(const SourceFiles &Sources,
                                                  raw_ostream &OS) {
  return std::make_unique<RowPrinter>(Sources, RowFormat::CSV, OS);
}

std::unique_ptr<DivergencePrinter>
makeMarkdownPrinter(const SourceFiles &Sources, raw_ostream &OS) {
  return std::make_unique<RowPrinter>(Sources, RowFormat::Markdown, OS);
}

} // namespace foretrace::runs
