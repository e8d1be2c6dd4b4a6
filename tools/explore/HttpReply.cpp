// SPDX-License-Identifier: Apache-2.0
#include "tools/explore/HttpReply.h"

using namespace llvm;

namespace foretrace::explore {

HttpReply reply(function_ref<void(json::OStream &)> Write) {
  std::string Body;
  raw_string_ostream OS(Body);
  json::OStream J(OS);
  J.object([&] { Write(J); });
  J.flush();
  return {200, "application/json", std::move(Body)};
}

HttpReply refuse(int Code, const Twine &Why) {
  HttpReply R = reply([&](json::OStream &J) {
    J.attribute("error", json::fixUTF8(Why.str()));
  });
  R.Code = Code;
  return R;
}

} // namespace foretrace::explore
