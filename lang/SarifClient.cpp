// SPDX-License-Identifier: Apache-2.0
#include "lang/DiagnosticClient.h"
#include "lang/DiagnosticDocs.h"
#include "lang/PropertyJSON.h"
#include "lang/Version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace {

/// \p Path as a reference to a file: relative ones stay so.
static std::string toURI(StringRef Path) {
  std::string Out = Path.starts_with("/") ? "file://" : "";
  for (const char C : Path)
    if (isAlnum(C) || StringRef("-._~/").contains(C))
      Out += C;
    else
      Out += "%" + toHex(StringRef(&C, 1));
  return Out;
}

static StringRef toLevel(Severity Level) {
  return Level == Severity::Hint ? "note" : getName(Level);
}

namespace {

/// Writes results as they are reported, followed by their rules.
class SarifClient : public DiagnosticClient {
public:
  explicit SarifClient(raw_ostream &OS) : J(OS, /*IndentSize=*/2), OS(OS) {}

  void show(const Diagnostic &D, const SourceFiles &Sources) override;
  void finish() override;

private:
  void begin();
  int64_t indexOf(diag::Id Rule);
  void writeRule(diag::Id Id);
  void writeText(StringRef Key, const std::string &Text);
  void writePlace(const Diagnostic &D, const SourceFiles &Sources);
  void writeSource(SourceRange Range, const SourceFiles &Sources);
  void writeRegion(SourceRange Range, const SourceFiles &Sources);
  void writeArtifact(const ArtifactPlace &At);
  void writeNotes(const Diagnostic &D, const SourceFiles &Sources);
  void writeFixes(const Diagnostic &D, const SourceFiles &Sources);
  void writeURI(StringRef Path);
  void writePart(StringRef Name);

  json::OStream J;
  raw_ostream &OS;
  std::vector<diag::Id> Rules; ///< that have results, the first one first
  bool HasBegun = false;
};

} // namespace

void SarifClient::begin() {
  if (std::exchange(HasBegun, true))
    return;
  J.objectBegin();
  J.attribute("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  J.attribute("version", "2.1.0");
  J.attributeBegin("runs");
  J.arrayBegin();
  J.objectBegin();
  J.attribute("columnKind", "unicodeCodePoints");
  J.attributeBegin("results");
  J.arrayBegin();
}

int64_t SarifClient::indexOf(diag::Id Rule) {
  auto Known = find(Rules, Rule);
  if (Known == Rules.end())
    Known = Rules.insert(Known, Rule);
  return Known - Rules.begin();
}

void SarifClient::writeText(StringRef Key, const std::string &Text) {
  J.attributeObject(Key, [&] { J.attribute("text", json::fixUTF8(Text)); });
}

void SarifClient::writeURI(StringRef Path) {
  J.attributeObject("artifactLocation",
                    [&] { J.attribute("uri", toURI(Path)); });
}

void SarifClient::writePart(StringRef Name) {
  J.attributeArray("logicalLocations", [&] {
    J.object([&] { J.attribute("fullyQualifiedName", json::fixUTF8(Name)); });
  });
}

/// Returns the column in characters from 1; in bytes if it is not UTF-8.
static int64_t columnOf(SourceLocation At, const SourceFiles &Sources) {
  const StringRef Before =
      Sources.line(At).take_front(Sources.locate(At).Column - 1);
  if (!json::isUTF8(Before))
    return static_cast<int64_t>(Before.size()) + 1;
  return count_if(Before, [](unsigned char C) { return (C & 0xC0) != 0x80; }) +
         1;
}

void SarifClient::writeRegion(SourceRange Range, const SourceFiles &Sources) {
  const SourceLocation Start = Range.start(), End{Range.File, Range.End};
  J.attribute("startLine", Sources.locate(Start).Line);
  J.attribute("startColumn", columnOf(Start, Sources));
  J.attribute("endLine", Sources.locate(End).Line);
  J.attribute("endColumn", columnOf(End, Sources));
}

/// Writes a source position; a `-D` option is not in a file.
void SarifClient::writeSource(SourceRange Range, const SourceFiles &Sources) {
  if (Sources.isCommandLine(Range.File))
    return writePart(Sources.line(Range.start()));
  J.attributeObject("physicalLocation", [&] {
    writeURI(Sources.name(Range.File));
    J.attributeObject("region", [&] { writeRegion(Range, Sources); });
  });
}

void SarifClient::writeArtifact(const ArtifactPlace &At) {
  J.attributeObject("physicalLocation", [&] {
    writeURI(At.Path);
    if (At.Line.value_or(0) > 0)
      J.attributeObject("region", [&] { J.attribute("startLine", *At.Line); });
  });
  if (!At.Part.empty())
    writePart(At.Part);
}

void SarifClient::writePlace(const Diagnostic &D, const SourceFiles &Sources) {
  if (D.Range.isValid())
    J.attributeArray("locations",
                     [&] { J.object([&] { writeSource(D.Range, Sources); }); });
  else if (D.At && !D.At->Path.empty())
    J.attributeArray("locations",
                     [&] { J.object([&] { writeArtifact(*D.At); }); });
}

/// Writes the notes with a position. The others are part of the message.
void SarifClient::writeNotes(const Diagnostic &D, const SourceFiles &Sources) {
  const auto IsPlaced = [](const Diagnostic &N) { return N.Range.isValid(); };
  if (none_of(D.Notes, IsPlaced))
    return;
  J.attributeArray("relatedLocations", [&] {
    for (const Diagnostic &Note : make_filter_range(D.Notes, IsPlaced))
      J.object([&] {
        writeSource(Note.Range, Sources);
        writeText("message", Note.text());
      });
  });
}

/// All fix-its of a diagnostic are one fix, a change for each file.
void SarifClient::writeFixes(const Diagnostic &D, const SourceFiles &Sources) {
  const auto IsOfFile = [&](const FixIt &F) {
    return !Sources.isCommandLine(F.Range.File);
  };
  if (none_of(D.FixIts, IsOfFile))
    return;
  const auto WriteChange = [&](const FixIt &F) {
    writeURI(Sources.name(F.Range.File));
    J.attributeArray("replacements", [&] {
      J.object([&] {
        J.attributeObject("deletedRegion",
                          [&] { writeRegion(F.Range, Sources); });
        writeText("insertedContent", F.Replacement);
      });
    });
  };
  J.attributeArray("fixes", [&] {
    J.object([&] {
      J.attributeArray("artifactChanges", [&] {
        for (const FixIt &F : make_filter_range(D.FixIts, IsOfFile))
          J.object([&] { WriteChange(F); });
      });
    });
  });
}

/// The message, after the rank or node that it is of, and notes without a place
/// on lines of their own.
static std::string messageOf(const Diagnostic &D) {
  std::string Text = D.At && !D.At->Part.empty() ? D.At->Part + ": " : "";
  Text += D.text();
  for (const Diagnostic &Note : D.Notes)
    if (!Note.Range.isValid())
      Text += "\n" + Note.text();
  return Text;
}

void SarifClient::show(const Diagnostic &D, const SourceFiles &Sources) {
  begin();
  J.object([&] {
    J.attribute("ruleId", getDiagnosticInfo(D.Id).Slug);
    J.attribute("ruleIndex", indexOf(D.Id));
    J.attribute("level", toLevel(D.Level));
    writeText("message", messageOf(D));
    writePlace(D, Sources);
    writeNotes(D, Sources);
    writeFixes(D, Sources);
    if (D.Properties.empty())
      return;
    J.attributeObject("properties", [&] {
      for (const DiagnosticProperty &P : D.Properties)
        J.attribute(P.Name, toJSON(P));
    });
  });
}

/// Writes a diagnostic's text from the page of diagnostics, if it has one.
void SarifClient::writeRule(diag::Id Id) {
  const DiagnosticInfo &Info = getDiagnosticInfo(Id);
  J.object([&] {
    J.attribute("id", Info.Slug);
    J.attributeObject("defaultConfiguration",
                      [&] { J.attribute("level", toLevel(Info.Level)); });
    const StringRef Section = findSection(Info.Slug);
    if (Section.empty())
      return;
    writeText("shortDescription", firstSentence(Section));
    J.attributeObject("help", [&] {
      J.attribute("text", Section);
      J.attribute("markdown", Section);
    });
  });
}

void SarifClient::finish() {
  begin();
  J.arrayEnd(); // results
  J.attributeEnd();
  J.attributeObject("tool", [&] {
    J.attributeObject("driver", [&] {
      J.attribute("name", "foretrace");
      J.attribute("version", FORETRACE_VERSION);
      J.attributeArray("rules", [&] {
        for (const diag::Id Id : Rules)
          writeRule(Id);
      });
    });
  });
  J.objectEnd(); // run
  J.arrayEnd();
  J.attributeEnd();
  J.objectEnd();
  J.flush();
  OS << '\n';
}

std::unique_ptr<DiagnosticClient> makeSarifClient(raw_ostream &OS) {
  return std::make_unique<SarifClient>(OS);
}

} // namespace foretrace
