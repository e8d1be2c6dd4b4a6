// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/DivergencePrinter.h"
#include "tools/runs/DivergenceText.h"

using namespace llvm;

namespace foretrace::runs {

namespace {

class TextPrinter : public DivergencePrinter {
public:
  TextPrinter(const SourceFiles &Sources, raw_ostream &OS)
      : Sources(Sources), OS(OS) {}

  void print(const AlikeTraces &F) override {
    const std::string &Path = F.Traces.front().Path;
    for (const Divergence &D : F.Divergences) {
      OS << Path << ':' << D.Line << ": " << rankPrefix(F) << printable(D.Text)
         << " [" << getName(D.Kind) << "]\n";
      printPlace(D.Why);
    }
    if (F.Omitted > 0)
      OS << Path << ": " << rankPrefix(F) << F.Omitted << " more"
         << (F.Traces.size() > 1 ? " each" : "") << '\n';
  }
  void print(const Communicators::First &F) override {
    OS << F.Group << " of ranks";
    for (int64_t Rank : F.Ranks)
      OS << ' ' << Rank;
    OS << ": first at " << F.Path << ':' << F.What.Line << ", "
       << printable(F.What.Text) << '\n';
  }
  void omitCommunicators(size_t Count) override {
    OS << Count << " more communicators\n";
  }
  void print(const Hint &H) override {
    OS << "hint: " << describe(H) << '\n';
    printPlace(H.Range);
  }
  void finish(const CheckSummary &S) override {
    if (!S.Missing.empty())
      OS << "no trace of " << describeMissing(S) << '\n';
    if (S.IsLog)
      OS << S.Rows << " statements of a log, " << S.Ranks << " ranks, "
         << S.Iterations << " steps";
    else
      OS << S.Ranks << " ranks, " << S.Rows << " rows, " << S.Iterations
         << " iterations of dialect " << dialectOf(S)
         << (S.How.Scaling ? " (scaling)" : "");
    OS << ": " << S.Divergences << " divergences";
    if (S.Tolerated > 0)
      OS << ", " << S.Tolerated << " tolerated";
    OS << '\n';
  }

private:
  void printPlace(SourceRange Why) {
    if (std::optional<JobPlace> P = findPlace(Sources, Why))
      OS << "  planned by " << describe(*P) << '\n';
  }

  const SourceFiles &Sources;
  raw_ostream &OS;
};

} // namespace

std::unique_ptr<DivergencePrinter> makeTextPrinter(const SourceFiles &Sources,
                                                   raw_ostream &OS) {
  return std::make_unique<TextPrinter>(Sources, OS);
}

} // namespace foretrace::runs
