// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/DivergencePrinter.h"
#include "tools/foretrace/Commands.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace foretrace {

using runs::Divergence;

enum class CheckFormat { Text, JSON, Sarif };

static cl::opt<CheckFormat> Format(
    "format", cl::desc("How to print divergences:"),
    cl::values(clEnumValN(CheckFormat::Text, "text", "a line each (default)"),
               clEnumValN(CheckFormat::JSON, "json", "an object a line"),
               clEnumValN(CheckFormat::Sarif, "sarif", "SARIF 2.1.0")),
    cl::init(CheckFormat::Text), cl::cat(outputCategory()),
    cl::sub(checkCommand()));

DivergencePrinter::~DivergencePrinter() = default;
void DivergencePrinter::print(const runs::Communicators::First &) {}
void DivergencePrinter::omitCommunicators(size_t) {}

/// `rank 3` or `ranks 0-3, 8`.
static std::string describe(ArrayRef<runs::TraceFile> Traces) {
  std::string Text;
  for (size_t I = 0; I < Traces.size();) {
    const size_t First = I++;
    while (I < Traces.size() && Traces[I].Rank == Traces[I - 1].Rank + 1)
      ++I;
    Text += (First == 0 ? "" : ", ") + std::to_string(Traces[First].Rank);
    if (I - First > 1)
      Text += "-" + std::to_string(Traces[I - 1].Rank);
  }
  return (Traces.size() > 1 ? "ranks " : "rank ") + Text;
}

/// Who logged; a terminal is shared by all.
static std::string prefix(const Finding &F) {
  return F.Traces.front().Rank < 0 ? "" : describe(F.Traces) + ": ";
}

static std::string describeHint(const runs::Hint &H) {
  return ("the traces fit `" + H.Key + " = " + H.Fits + "`; the job says " +
          H.Planned +
          (H.Divergences > 0
               ? " (" + Twine(H.Divergences) + " divergences are left)"
               : ""))
      .str();
}

namespace {

/// A place of the job.
struct Place {
  std::string File;
  unsigned Line, Column;
  StringRef Given = {}; ///< `-D key=value`, if it came from there
};

std::optional<Place> find(const SourceMgr &Sources, SourceRange Range) {
  unsigned Buffer =
      Range.isValid() ? Sources.FindBufferContainingLoc(Range.Start) : 0;
  if (Buffer == 0)
    return std::nullopt;
  auto [Line, Column] = Sources.getLineAndColumn(Range.Start, Buffer);
  const MemoryBuffer &Text = *Sources.getMemoryBuffer(Buffer);
  Place P{Text.getBufferIdentifier().str(), Line, Column};
  if (P.File == CommandLineName) {
    const char *Begin = Range.Start.getPointer() - (Column - 1);
    P.Given = StringRef(Begin, Text.getBufferEnd() - Begin).split('\n').first;
  }
  return P;
}

std::string describe(const Place &P) {
  if (!P.Given.empty())
    return P.Given.str();
  return P.File + ":" + std::to_string(P.Line) + ":" + std::to_string(P.Column);
}

StringRef dialectOf(const CheckSummary &S) {
  static constexpr StringLiteral Spellings[] = {
#define DIALECT(ENUMERATOR, SPELLING, DOC) SPELLING,
#include "backends/megatron/Dialects.def"
  };
  return Spellings[static_cast<unsigned>(S.How.Dialect)];
}

class TextPrinter : public DivergencePrinter {
public:
  explicit TextPrinter(const SourceMgr &Sources) : Sources(Sources) {}

  void print(const Finding &F) override {
    const std::string &Path = F.Traces.front().Path;
    for (const Divergence &D : F.Divergences) {
      outs() << Path << ':' << D.Line << ": " << prefix(F) << D.Text << " ["
             << getName(D.Kind) << "]\n";
      printPlace(D.Why);
    }
    if (F.Omitted > 0)
      outs() << Path << ": " << prefix(F) << F.Omitted << " more"
             << (F.Traces.size() > 1 ? " each" : "") << '\n';
  }
  void print(const runs::Communicators::First &F) override {
    outs() << F.Group << " of ranks";
    for (int64_t Rank : F.Ranks)
      outs() << ' ' << Rank;
    outs() << ": first at " << F.Path << ':' << F.What.Line << ", "
           << F.What.Text << '\n';
  }
  void omitCommunicators(size_t Count) override {
    outs() << Count << " more communicators\n";
  }
  void print(const runs::Hint &H) override {
    outs() << "hint: " << describeHint(H) << '\n';
    printPlace(H.Range);
  }
  void finish(const CheckSummary &S) override {
    if (S.Ranks < S.World)
      outs() << "no trace of " << S.World - S.Ranks << " of " << S.World
             << " ranks\n";
    if (S.IsLog)
      outs() << S.Rows << " statements of a log, " << S.Ranks << " ranks, "
             << S.Iterations << " steps";
    else
      outs() << S.Ranks << " ranks, " << S.Rows << " rows, " << S.Iterations
             << " iterations of dialect " << dialectOf(S)
             << (S.How.Scaling ? " (scaling)" : "");
    outs() << ": " << S.Divergences << " divergences";
    if (S.Tolerated > 0)
      outs() << ", " << S.Tolerated << " tolerated";
    outs() << '\n';
  }

private:
  void printPlace(SourceRange Why) {
    if (std::optional<Place> P = find(Sources, Why))
      outs() << "  planned by " << describe(*P) << '\n';
  }

  const SourceMgr &Sources;
};

class JSONPrinter : public DivergencePrinter {
public:
  explicit JSONPrinter(const SourceMgr &Sources) : Sources(Sources) {}

  void print(const Finding &F) override {
    const runs::TraceFile &Of = F.Traces.front();
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
  void print(const runs::Communicators::First &F) override {
    line([&](json::OStream &J) {
      J.attribute("communicator", F.Group);
      J.attributeArray("ranks", [&] {
        for (int64_t Rank : F.Ranks)
          J.value(Rank);
      });
      attributes(J, F.Path, F.Rank, F.What);
    });
  }
  void print(const runs::Hint &H) override {
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
    });
  }

private:
  void line(function_ref<void(json::OStream &)> Fields) {
    json::OStream J(outs());
    J.object([&] { Fields(J); });
    J.flush();
    outs() << '\n';
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
  void attributeTraces(json::OStream &J, const Finding &F) {
    if (F.Traces.size() == 1)
      return;
    J.attributeArray("files", [&] {
      for (const runs::TraceFile &T : F.Traces)
        J.value(json::fixUTF8(T.Path));
    });
    J.attributeArray("ranks", [&] {
      for (const runs::TraceFile &T : F.Traces)
        J.value(T.Rank);
    });
  }
  void attributePlace(json::OStream &J, SourceRange Why) {
    if (std::optional<Place> P = find(Sources, Why))
      J.attribute("planned_by", json::fixUTF8(describe(*P)));
  }

  const SourceMgr &Sources;
};

/// Static Analysis Results Interchange Format, OASIS, version 2.1.0.
class SarifPrinter : public DivergencePrinter {
public:
  explicit SarifPrinter(const SourceMgr &Sources)
      : Sources(Sources), J(outs(), /*IndentSize=*/2) {
    J.objectBegin();
    J.attribute("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    J.attribute("version", "2.1.0");
    J.attributeBegin("runs");
    J.arrayBegin();
    J.objectBegin();
    J.attributeObject("tool", [&] {
      J.attributeObject("driver", [&] {
        J.attribute("name", "foretrace check");
        J.attributeArray("rules", [&] { rules(); });
      });
    });
    J.attributeBegin("results");
    J.arrayBegin();
  }

  /// A result has one place: that of the first trace. Its text names all ranks.
  void print(const Finding &F) override {
    for (const Divergence &D : F.Divergences)
      result(getName(D.Kind), "error", prefix(F) + D.Text,
             Place{F.Traces.front().Path,
                   static_cast<unsigned>(std::max<int64_t>(D.Line, 1)), 1},
             find(Sources, D.Why));
  }
  void print(const runs::Hint &H) override {
    result("hint", "note", describeHint(H), find(Sources, H.Range),
           std::nullopt);
  }
  void finish(const CheckSummary &) override {
    J.arrayEnd(); // results
    J.attributeEnd();
    J.objectEnd(); // run
    J.arrayEnd();
    J.attributeEnd();
    J.objectEnd();
    J.flush();
    outs() << '\n';
  }

private:
  void rules() {
    auto Rule = [&](StringRef Kind, StringRef Doc) {
      J.object([&] {
        J.attribute("id", Kind);
        J.attributeObject("shortDescription",
                          [&] { J.attribute("text", Doc); });
      });
    };
#define DIVERGENCE(ENUMERATOR, KIND, DOC) Rule(KIND, DOC);
#include "tools/runs/Divergences.def"
    Rule("hint", "another value of a key fits the traces");
  }
  void result(StringRef Rule, StringRef Level, const std::string &Text,
              const std::optional<Place> &At,
              const std::optional<Place> &Related) {
    J.object([&] {
      J.attribute("ruleId", Rule);
      J.attribute("level", Level);
      J.attributeObject("message",
                        [&] { J.attribute("text", json::fixUTF8(Text)); });
      if (At)
        J.attributeArray("locations", [&] { location(*At); });
      if (Related)
        J.attributeArray("relatedLocations", [&] { location(*Related); });
    });
  }
  void location(const Place &P) {
    J.object([&] {
      J.attributeObject("physicalLocation", [&] {
        J.attributeObject("artifactLocation",
                          [&] { J.attribute("uri", json::fixUTF8(P.File)); });
        J.attributeObject("region", [&] {
          J.attribute("startLine", P.Line);
          J.attribute("startColumn", P.Column);
        });
      });
    });
  }

  const SourceMgr &Sources;
  json::OStream J;
};

} // namespace

std::unique_ptr<DivergencePrinter>
DivergencePrinter::create(const SourceMgr &Sources) {
  switch (Format) {
  case CheckFormat::Text:
    return std::make_unique<TextPrinter>(Sources);
  case CheckFormat::JSON:
    return std::make_unique<JSONPrinter>(Sources);
  case CheckFormat::Sarif:
    return std::make_unique<SarifPrinter>(Sources);
  }
  llvm_unreachable("every format is handled");
}

} // namespace foretrace
