// SPDX-License-Identifier: Apache-2.0
//
// protozero throws where bytes are no
// protocol buffer; that ends here.
#include "tools/validate/ChakraReader.h"
#include "llvm/Support/JSON.h"
#include <protozero/pbf_reader.hpp>

using namespace llvm;

namespace foretrace::validate {

namespace metadata_field = chakra::metadata_field;
namespace node_field = chakra::node_field;
namespace value_field = chakra::value_field;
using protozero::pbf_reader;
using protozero::pbf_wire_type;

/// Thrown at a string that is none; protocol buffers refuse the message.
struct NotUtf8 {};

static StringRef bytesOf(pbf_reader &R) {
  const protozero::data_view View = R.get_view();
  return {View.data(), View.size()};
}

static StringRef textOf(pbf_reader &R) {
  const StringRef Text = bytesOf(R);
  if (!json::isUTF8(Text))
    throw NotUtf8();
  return Text;
}

static bool is(const pbf_reader &R, pbf_wire_type Type) {
  return R.wire_type() == Type;
}

static void setSigned(ChakraAttribute &A, int64_t Value) {
  A.Is = ChakraAttribute::Form::Integer;
  A.IsNegative = Value < 0;
  A.Integer = static_cast<uint64_t>(Value);
}

static void setUnsigned(ChakraAttribute &A, uint64_t Value) {
  A.Is = ChakraAttribute::Form::Integer;
  A.IsNegative = false;
  A.Integer = Value;
}

/// Sets a boolean from a varint of any length.
static void setTruth(ChakraAttribute &A, uint64_t Value) {
  setUnsigned(A, Value != 0);
}

static void setReal(ChakraAttribute &A, double Value) {
  A.Is = ChakraAttribute::Form::Real;
  A.Real = Value;
}

/// Fields of AttributeProto that are numbers. False if \p R is at another one.
static bool readNumber(pbf_reader &R, ChakraAttribute &A) {
  switch (R.tag_and_type()) {
#define NUMBER(FIELD, WIRE, SET, GET)                                          \
  case protozero::tag_and_type(value_field::FIELD, pbf_wire_type::WIRE):       \
    SET(A, R.GET());                                                           \
    return true;
    NUMBER(Int32, varint, setSigned, get_int32)
    NUMBER(Int64, varint, setSigned, get_int64)
    NUMBER(Uint32, varint, setUnsigned, get_uint32)
    NUMBER(Uint64, varint, setUnsigned, get_uint64)
    NUMBER(Sint32, varint, setSigned, get_sint32)
    NUMBER(Sint64, varint, setSigned, get_sint64)
    NUMBER(Bool, varint, setTruth, get_uint64)
    NUMBER(Double, fixed64, setReal, get_double)
    NUMBER(Float, fixed32, setReal, get_float)
    NUMBER(Fixed32, fixed32, setUnsigned, get_fixed32)
    NUMBER(Fixed64, fixed64, setUnsigned, get_fixed64)
    NUMBER(Sfixed32, fixed32, setSigned, get_sfixed32)
    NUMBER(Sfixed64, fixed64, setSigned, get_sfixed64)
#undef NUMBER
  }
  return false;
}

/// Reads a value that has a length.
static bool readBytes(pbf_reader &R, ChakraAttribute &A) {
  switch (R.tag()) {
  case value_field::Name:
    A.Name = textOf(R);
    return true;
  case value_field::DocString:
    (void)textOf(R);
    return true;
  case value_field::String:
    A.Text = textOf(R);
    A.Is = ChakraAttribute::Form::Text;
    return true;
  case value_field::Bytes:
    A.Text = bytesOf(R);
    A.Is = ChakraAttribute::Form::Text;
    return true;
  }
  constexpr uint32_t FirstList = 4, LastList = 32; // the even numbers
  if (R.tag() < FirstList || R.tag() > LastList || R.tag() % 2 != 0)
    return false;
  R.skip();
  A.Is = ChakraAttribute::Form::List;
  return true;
}

static ChakraAttribute readAttribute(pbf_reader R) {
  ChakraAttribute A;
  while (R.next()) {
    const bool IsRead = is(R, pbf_wire_type::length_delimited)
                            ? readBytes(R, A)
                            : readNumber(R, A);
    // Fields that the schema does not know are skipped, as in protocol buffers.
    if (!IsRead)
      R.skip();
  }
  return A;
}

/// Reads ids, packed or one by one.
static void readIds(pbf_reader &R, SmallVectorImpl<uint64_t> &Ids) {
  if (is(R, pbf_wire_type::varint))
    Ids.push_back(R.get_uint64());
  else if (is(R, pbf_wire_type::length_delimited))
    for (uint64_t Id : R.get_packed_uint64())
      Ids.push_back(Id);
  else
    R.skip();
}

/// A varint; 0 if \p R is at anything else.
static uint64_t readUnsigned(pbf_reader &R) {
  if (is(R, pbf_wire_type::varint))
    return R.get_uint64();
  R.skip();
  return 0;
}

static void readNode(pbf_reader R, ChakraNode &N) {
  N = {};
  while (R.next()) {
    const bool HasLength = is(R, pbf_wire_type::length_delimited);
    const auto Tag = R.tag();
    if (Tag == node_field::Id)
      N.Id = readUnsigned(R);
    else if (Tag == node_field::Name && HasLength)
      N.Name = textOf(R);
    else if (Tag == node_field::Type)
      // Protocol buffers, too, reduce an enumeration to 32 bits.
      N.Type = static_cast<NodeType>(static_cast<uint32_t>(readUnsigned(R)));
    else if (Tag == node_field::CtrlDeps)
      readIds(R, N.CtrlDeps);
    else if (Tag == node_field::DataDeps)
      readIds(R, N.DataDeps);
    else if (Tag == node_field::DurationMicros)
      N.DurationMicros = readUnsigned(R);
    else if (Tag == node_field::Attribute && HasLength)
      N.Attributes.push_back(readAttribute(R.get_message()));
    else
      R.skip();
  }
}

/// A node has fields that metadata do not have: a type, and mostly an id.
static bool readMetadata(pbf_reader R, std::optional<StringRef> &Version) {
  while (R.next()) {
    if (!is(R, pbf_wire_type::length_delimited))
      return false;
    if (R.tag() == metadata_field::Version)
      Version = textOf(R);
    else if (R.tag() == metadata_field::Attribute)
      (void)readAttribute(R.get_message());
    else
      return false;
  }
  return true;
}

/// Calls \p Read; why it failed, or nothing.
template <typename Fn> static const char *guarded(Fn Read) {
  try {
    Read();
    return nullptr;
  } catch (const NotUtf8 &) {
    return "a string is not UTF-8";
  } catch (const protozero::exception &E) {
    return E.what();
  }
}

bool ChakraReader::takeMessage(StringRef &Body) {
  const char *At = Rest.begin();
  uint64_t Length = 0;
  if (guarded([&] { Length = protozero::decode_varint(&At, Rest.end()); }))
    return false;
  const StringRef After = Rest.drop_front(At - Rest.begin());
  if (Length > After.size())
    return false;
  ++Message;
  Body = After.take_front(Length);
  Rest = After.drop_front(Length);
  return true;
}

ChakraReader::ChakraReader(StringRef Bytes) : Rest(Bytes) {
  StringRef Body;
  if (!takeMessage(Body))
    return;
  const char *Failure = guarded([&] {
    HasMetadata = readMetadata(pbf_reader(Body.data(), Body.size()), Version);
  });
  if (!HasMetadata || Failure) {
    HasMetadata = false;
    Rest = Bytes;
    Message = 0;
  }
}

ChakraReader::Status ChakraReader::next() {
  if (Rest.empty())
    return Status::End;
  StringRef Body;
  if (!takeMessage(Body)) {
    ++Message;
    return Status::Truncated;
  }
  if (const char *Failure = guarded(
          [&] { readNode(pbf_reader(Body.data(), Body.size()), Node); })) {
    Why = Failure;
    return Status::Malformed;
  }
  return Status::Node;
}

} // namespace foretrace::validate
