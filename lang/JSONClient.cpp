// SPDX-License-Identifier: Apache-2.0
#include "lang/DiagnosticClient.h"
#include "lang/PropertyJSON.h"

using namespace llvm;

namespace foretrace {

namespace {

class JSONClient : public DiagnosticClient {
public:
  explicit JSONClient(raw_ostream &OS) : OS(OS) {}

  void show(const Diagnostic &D, const SourceFiles &Sources) override;

private:
  raw_ostream &OS;
};

/// Writes one object.
class ObjectWriter {
public:
  ObjectWriter(const SourceFiles &Sources, json::OStream &JSON)
      : Sources(Sources), JSON(JSON) {}

  void write(const Diagnostic &D);

private:
  void writePosition(SourceLocation At);
  void writeRange(SourceRange Range);
  void writeArtifact(const ArtifactPlace &At);

  const SourceFiles &Sources;
  json::OStream &JSON;
};

} // namespace

void ObjectWriter::writePosition(SourceLocation At) {
  auto [Line, Column] = Sources.locate(At);
  JSON.attribute("line", Line);
  JSON.attribute("column", Column);
}

/// Writes file, line, column and end of \p Range, if it is in a file.
void ObjectWriter::writeRange(SourceRange Range) {
  if (!Range.isValid())
    return;
  JSON.attribute("file", Sources.name(Range.File));
  writePosition(Range.start());
  JSON.attributeObject("end", [&] { writePosition({Range.File, Range.End}); });
}

void ObjectWriter::writeArtifact(const ArtifactPlace &At) {
  if (!At.Path.empty())
    JSON.attribute("file", json::fixUTF8(At.Path));
  if (At.Line)
    JSON.attribute("line", *At.Line);
}

void ObjectWriter::write(const Diagnostic &D) {
  JSON.object([&] {
    JSON.attribute("slug", getDiagnosticInfo(D.Id).Slug);
    JSON.attribute("severity", getName(D.Level));
    JSON.attribute("message", json::fixUTF8(D.text()));
    JSON.attributeArray("arguments", [&] {
      for (const DiagnosticArgument &A : D.Arguments)
        JSON.value(toJSON(A));
    });
    if (D.At)
      writeArtifact(*D.At);
    writeRange(D.Range);
    for (const DiagnosticProperty &P : D.Properties)
      JSON.attribute(P.Name, toJSON(P));
    if (D.Level == Severity::Note)
      return;
    JSON.attributeArray("notes", [&] {
      for (const Diagnostic &Note : D.Notes)
        write(Note);
    });
    JSON.attributeArray("fixits", [&] {
      for (const FixIt &F : D.FixIts)
        JSON.object([&] {
          writeRange(F.Range);
          JSON.attribute("replacement", F.Replacement);
        });
    });
  });
}

void JSONClient::show(const Diagnostic &D, const SourceFiles &Sources) {
  json::OStream JSON(OS);
  ObjectWriter(Sources, JSON).write(D);
  JSON.flush();
  OS << '\n';
}

std::unique_ptr<DiagnosticClient> makeJSONClient(raw_ostream &OS) {
  return std::make_unique<JSONClient>(OS);
}

} // namespace foretrace
