// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/DivergencePrinter.h"
#include "tools/runs/DivergenceText.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace foretrace::runs {

namespace {

class SarifPrinter : public DivergencePrinter {
public:
  SarifPrinter(const SourceFiles &Sources, raw_ostream &OS)
      : Sources(Sources), OS(OS) {}

  void begin() override {
    J.emplace(OS, /*IndentSize=*/2);
    J->objectBegin();
    J->attribute("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    J->attribute("version", "2.1.0");
    J->attributeBegin("runs");
    J->arrayBegin();
    J->objectBegin();
    J->attributeObject("tool", [&] {
      J->attributeObject("driver", [&] {
        J->attribute("name", "foretrace check");
        J->attributeArray("rules", [&] { rules(); });
      });
    });
    J->attributeBegin("results");
    J->arrayBegin();
  }

  /// A result has one place: that of the first trace. Its text names all ranks.
  void print(const AlikeTraces &F) override {
    for (const Divergence &D : F.Divergences)
      result(getName(D.Kind), "error", rankPrefix(F) + D.Text,
             JobPlace{F.Traces.front().Path,
                      static_cast<unsigned>(std::max<int64_t>(D.Line, 1)), 1},
             findPlace(Sources, D.Why));
  }
  void print(const Hint &H) override {
    result("hint", "note", describe(H), findPlace(Sources, H.Range),
           std::nullopt);
  }
  void finish(const CheckSummary &) override {
    J->arrayEnd(); // results
    J->attributeEnd();
    J->objectEnd(); // run
    J->arrayEnd();
    J->attributeEnd();
    J->objectEnd();
    J->flush();
    OS << '\n';
  }

private:
  void rules() {
    auto Rule = [&](StringRef Kind, StringRef Doc) {
      J->object([&] {
        J->attribute("id", Kind);
        J->attributeObject("shortDescription",
                           [&] { J->attribute("text", Doc); });
      });
    };
#define DIVERGENCE(ENUMERATOR, KIND, DOC) Rule(KIND, DOC);
#include "tools/runs/Divergences.def"
    Rule("hint", "another value of a key fits the traces");
  }
  void result(StringRef Rule, StringRef Level, const std::string &Text,
              const std::optional<JobPlace> &At,
              const std::optional<JobPlace> &Related) {
    J->object([&] {
      J->attribute("ruleId", Rule);
      J->attribute("level", Level);
      J->attributeObject("message",
                         [&] { J->attribute("text", json::fixUTF8(Text)); });
      if (At)
        J->attributeArray("locations", [&] { location(*At); });
      if (Related)
        J->attributeArray("relatedLocations", [&] { location(*Related); });
    });
  }
  void location(const JobPlace &P) {
    J->object([&] {
      J->attributeObject("physicalLocation", [&] {
        J->attributeObject("artifactLocation",
                           [&] { J->attribute("uri", json::fixUTF8(P.File)); });
        J->attributeObject("region", [&] {
          J->attribute("startLine", P.Line);
          J->attribute("startColumn", P.Column);
        });
      });
    });
  }

  const SourceFiles &Sources;
  raw_ostream &OS;
  std::optional<json::OStream> J;
};

} // namespace

std::unique_ptr<DivergencePrinter> makeSarifPrinter(const SourceFiles &Sources,
                                                    raw_ostream &OS) {
  return std::make_unique<SarifPrinter>(Sources, OS);
}

} // namespace foretrace::runs
