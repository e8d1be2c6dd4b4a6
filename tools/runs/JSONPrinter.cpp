// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/DivergencePrinter.h"
#include "tools/runs/DivergenceText.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace foretrace::runs {

namespace {

class JSONPrinter : public DivergencePrinter {
public:
  JSONPrinter(const SourceFiles &Sources, raw_ostream &OS)
      : Sources(Sources), OS(OS) {}

  void print(const AlikeTraces &F) override {
    const TraceFile &Of = F.Traces.front();
    for (const Divergence &D : F.Divergences)
      line([&](json::OStream &J) {
        attributes(J, Of.Path, Of.Rank, D);
        attributeTraces(J, F);
      });
    if (F.Omitted > 0)
      line([&](json::OStream &J) {
        J.attribute("file", json::fixUTF8(Of.Path));
        J.attribute("more", static_cast<int64_t>(F.Omitted));
        attributeTraces(J, F);
      });
  }
  void print(const Communicators::First &F) override {
    line([&](json::OStream &J) {
      J.attribute("communicator", F.Group);
      J.attributeArray("ranks", [&] {
        for (int64_t Rank : F.Ranks)
          J.value(Rank);
      });
      attributes(J, F.Path, F.Rank, F.What);
    });
  }
  void print(const Hint &H) override {
    line([&](json::OStream &J) {
      J.attribute("hint", H.Key);
      J.attribute("planned", H.Planned);
      J.attribute("fits", H.Fits);
      J.attribute("divergences", static_cast<int64_t>(H.Divergences));
      attributePlace(J, H.Range);
    });
  }
  void finish(const CheckSummary &S) override {
    line([&](json::OStream &J) {
      J.attribute("ranks", S.Ranks);
      J.attribute("rows", S.Rows);
      J.attribute("iterations", S.Iterations);
      if (!S.IsLog) {
        J.attribute("dialect", dialectOf(S));
        J.attribute("scaling", S.How.Scaling);
      }
      J.attribute("divergences", S.Divergences);
      J.attribute("tolerated", S.Tolerated);
      if (!S.Missing.empty())
        J.attributeArray("no_trace_of", [&] {
          for (const auto &Row : S.Missing)
            J.array([&] {
              J.value(Row.first);
              J.value(Row.second);
            });
        });
    });
  }

private:
  void line(function_ref<void(json::OStream &)> Fields) {
    json::OStream J(OS);
    J.object([&] { Fields(J); });
    J.flush();
    OS << '\n';
  }

  void attributes(json::OStream &J, StringRef Path, int64_t Rank,
                  const Divergence &D) {
    J.attribute("file", json::fixUTF8(Path));
    J.attribute("line", D.Line);
    if (Rank >= 0)
      J.attribute("rank", Rank);
    J.attribute("kind", getName(D.Kind));
    J.attribute("message", json::fixUTF8(D.Text));
    if (!D.Expected.empty() || !D.Seen.empty()) {
      J.attribute("expected", D.Expected);
      J.attribute("seen", json::fixUTF8(D.Seen));
    }
    attributePlace(J, D.Why);
  }
  /// Of which a first one is named already.
  void attributeTraces(json::OStream &J, const AlikeTraces &F) {
    if (F.Traces.size() == 1)
      return;
    J.attributeArray("files", [&] {
      for (const TraceFile &T : F.Traces)
        J.value(json::fixUTF8(T.Path));
    });
    J.attributeArray("ranks", [&] {
      for (const TraceFile &T : F.Traces)
        J.value(T.Rank);
    });
  }
  void attributePlace(json::OStream &J, SourceRange Why) {
    if (std::optional<JobPlace> P = findPlace(Sources, Why))
      J.attribute("planned_by", json::fixUTF8(describe(*P)));
  }

  const SourceFiles &Sources;
  raw_ostream &OS;
};

} // namespace

std::unique_ptr<DivergencePrinter> makeJSONPrinter(const SourceFiles &Sources,
                                                   raw_ostream &OS) {
  return std::make_unique<JSONPrinter>(Sources, OS);
}

} // namespace foretrace::runs
