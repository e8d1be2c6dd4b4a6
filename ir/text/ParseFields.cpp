// SPDX-License-Identifier: Apache-2.0
//
// Reads keys: they come from the tables of ir/model/Spec.def, so a new one is
// read without a change here.
#include "ir/text/SpecParser.h"

using namespace foretrace;
using namespace foretrace::ir;

bool SpecParser::value(bool &V, llvm::StringRef) {
  V = In.peek().isWord("true");
  return In.takeWord("true") || In.takeWord("false") ||
         In.expected("`true` or `false`");
}

template <typename T>
bool SpecParser::field(const Token &Key, Located<T> &F, llvm::StringRef Type) {
  using Status = typename Located<T>::Status;
  if (F.isPresent())
    return In.twice(Key, "key", F.Range);
  if (!In.expectPunct("="))
    return false;
  F.Range = In.peek().Range;
  if (!value(F.Value, Type))
    return false;
  F.From = In.takeWord("default")   ? Status::Default
           : In.takeWord("derived") ? Status::Derived
                                    : Status::Stated;
  return true;
}

#define FIELD(KEY, MEMBER, TYPE)                                               \
  if (Key.isWord(KEY))                                                         \
    return field(Key, Out.MEMBER, TYPE);
std::optional<bool> SpecParser::field(const Token &Key, ModelSpec &Out) {
#define MODEL_FIELD(TYPE, MEMBER, KEY, ...) FIELD(KEY, MEMBER, #TYPE)
#include "ir/model/Spec.def"
  return std::nullopt;
}

std::optional<bool> SpecParser::field(const Token &Key, AttentionSpec &Out) {
#define ATTENTION_FIELD(TYPE, MEMBER, KEY, ...) FIELD(KEY, MEMBER, #TYPE)
#include "ir/model/Spec.def"
  return std::nullopt;
}

std::optional<bool> SpecParser::field(const Token &Key, FfnSpec &Out) {
#define FFN_FIELD(TYPE, MEMBER, KEY, ...) FIELD(KEY, MEMBER, #TYPE)
#include "ir/model/Spec.def"
  return std::nullopt;
}

std::optional<bool> SpecParser::field(const Token &Key, MoeSpec &Out) {
#define MOE_FIELD(TYPE, MEMBER, KEY, ...) FIELD(KEY, MEMBER, #TYPE)
#include "ir/model/Spec.def"
  return std::nullopt;
}

std::optional<bool> SpecParser::field(const Token &Key, BlockSpec &Out) {
#define BLOCK_FIELD(TYPE, MEMBER, KEY, ...) FIELD(KEY, MEMBER, #TYPE)
#include "ir/model/Spec.def"
  return std::nullopt;
}

std::optional<bool> SpecParser::field(const Token &Key, TrainSpec &Out) {
#define TRAIN_FIELD(TYPE, MEMBER, KEY, ...) FIELD(KEY, MEMBER, #TYPE)
#include "ir/model/Spec.def"
  return std::nullopt;
}

std::optional<bool> SpecParser::field(const Token &Key, ParallelSpec &Out) {
#define PARALLEL_FIELD(TYPE, MEMBER, KEY, ...) FIELD(KEY, MEMBER, #TYPE)
#include "ir/model/Spec.def"
  return std::nullopt;
}

std::optional<bool> SpecParser::field(const Token &Key, CostSpec &Out) {
#define COST_FIELD(TYPE, MEMBER, KEY, ...) FIELD(KEY, MEMBER, #TYPE)
#include "ir/model/Spec.def"
  return std::nullopt;
}

std::optional<bool> SpecParser::field(const Token &Key, DeviceSpec &Out) {
#define DEVICE_FIELD(TYPE, MEMBER, KEY, ...) FIELD(KEY, MEMBER, #TYPE)
#include "ir/model/Spec.def"
  return std::nullopt;
}

std::optional<bool> SpecParser::field(const Token &Key, LinkSpec &Out) {
#define LINK_FIELD(TYPE, MEMBER, KEY, ...) FIELD(KEY, MEMBER, #TYPE)
#include "ir/model/Spec.def"
  return std::nullopt;
}

std::optional<bool> SpecParser::field(const Token &Key, ClusterSpec &Out) {
#define CLUSTER_FIELD(TYPE, MEMBER, KEY, ...) FIELD(KEY, MEMBER, #TYPE)
#include "ir/model/Spec.def"
  return std::nullopt;
}

std::optional<bool> SpecParser::field(const Token &Key, TierSpec &Out) {
#define TIER_FIELD(TYPE, MEMBER, KEY, ...) FIELD(KEY, MEMBER, #TYPE)
#include "ir/model/Spec.def"
  return std::nullopt;
}
#undef FIELD
