// SPDX-License-Identifier: Apache-2.0
//
// The cluster file of LLMServingSim: its nodes, and the instances on them.
#include "backends/CommandLine.h"
#include "backends/llmservingsim/TraceRows.h"
#include "ir/model/Spellings.h"
#include "llvm/Support/JSON.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::llmservingsim;

llvm::StringRef llmservingsim::typeOfWeights(const Spec &S) {
  const llvm::StringRef Type = getSpelling(*S.Serve->WeightPrecision);
  static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> Types[] =
      {{"bf16", "bfloat16"}, {"fp16", "float16"},  {"fp32", "float32"},
       {"fp8", "fp8"},       {"fp8_block", "fp8"}, {"int8", "int8"}};
  for (const auto &[Ours, Theirs] : Types)
    if (Type == Ours)
      return Theirs;
  return "";
}

/// The innermost tier that joins as many devices, or all of them.
static const TierSpec &tierOf(const ClusterSpec &C, int64_t Ranks) {
  for (const TierSpec &T : C.Tiers)
    if (*T.Devices >= Ranks)
      return T;
  return C.Tiers.back();
}

/// Writes a number for each dimension of the network, or one if there is but
/// one.
template <typename FnT>
static void writeLinks(llvm::json::OStream &J, llvm::StringRef Key,
                       const Spec &S, FnT Text) {
  const Dimensions Network = Dimensions::of(S);
  J.attributeBegin(Key);
  const bool IsList = Network.Sizes.size() > 1;
  if (IsList)
    J.arrayBegin();
  int64_t Ranks = 1;
  for (const int64_t Size : Network.Sizes)
    J.rawValue(Text(tierOf(*S.Cluster, Ranks *= Size)));
  if (IsList)
    J.arrayEnd();
  J.attributeEnd();
}

static void writeMemory(llvm::json::OStream &J, llvm::StringRef Key,
                        llvm::StringRef Size, llvm::StringRef Rate,
                        llvm::StringRef Part) {
  J.attributeObject(Key, [&] {
    auto Raw = [&](llvm::StringRef Name, llvm::StringRef Number) {
      J.attributeBegin(Name);
      J.rawValue(Number);
      J.attributeEnd();
    };
    Raw("mem_size", Size);
    Raw("mem_bw", Rate);
    Raw("mem_latency", "0");
    if (!Part.empty())
      Raw("mem_util", Part);
  });
}

static void writeInstance(llvm::json::OStream &J, const Spec &S,
                          llvm::StringRef Model, llvm::StringRef Hardware) {
  constexpr unsigned Giga = 9, Millionth = 6;
  const ParallelSpec &Par = S.Parallel;
  const ServeSpec &V = *S.Serve;
  const DeviceSpec &D = S.Cluster->Device;
  J.object([&] {
    J.attribute("model_name",
                Model.empty() ? llvm::StringRef(S.Model.Name) : Model);
    J.attribute("hardware", !Hardware.empty() ? Hardware
                            : D.Name.isPresent()
                                ? llvm::StringRef(*D.Name).split(' ').first
                                : llvm::StringRef("GPU"));
    // Its GB are GiB where it counts bytes, and 10^9 where it counts time.
    writeMemory(J, "npu_mem", gibibytes(static_cast<double>(*D.Memory)),
                decimalFraction(*D.MemoryBandwidth, Giga),
                decimalFraction(*V.MemoryFraction, Millionth));
    J.attribute("num_npus", *Par.Tp * *Par.Pp);
    J.attribute("tp_size", *Par.Tp);
    J.attribute("pp_size", *Par.Pp);
    J.attribute("ep_size", *Par.Ep);
    J.attribute("dp_group", *Par.Dp > 1 ? llvm::json::Value("A") : nullptr);
    const llvm::StringRef Pool = poolOf(S);
    J.attribute("pd_type", Pool.empty() ? llvm::json::Value(nullptr)
                                        : llvm::json::Value(Pool));
    J.attribute("max_num_seqs", *V.MaxSequences);
    J.attribute("max_num_batched_tokens", *V.MaxBatchTokens);
    J.attribute("block_size", *V.Block);
    J.attribute("dtype", typeOfWeights(S));
    J.attribute("kv_cache_dtype", getSpelling(*V.KvPrecision).starts_with("fp8")
                                      ? "fp8"
                                      : "auto");
    J.attribute("enable_prefix_caching", *V.PrefixCaching);
  });
}

/// Instances are on the node of their first rank.
void llmservingsim::writeCluster(const Spec &S, llvm::StringRef Model,
                                 llvm::StringRef Hardware,
                                 llvm::raw_ostream &OS) {
  const int64_t Ranks = *S.Parallel.Tp * *S.Parallel.Pp;
  const int64_t Instances =
      *S.Parallel.Dp > 1 ? *S.Parallel.Dp : *S.Serve->Replicas;
  const int64_t OnNode =
      std::max<int64_t>(*S.Cluster->DevicesPerNode / Ranks, 1);
  llvm::json::OStream J(OS, /*IndentSize=*/2);
  J.object([&] {
    J.attribute("num_nodes", (Instances + OnNode - 1) / OnNode);
    writeLinks(J, "link_bw", S, [](const TierSpec &T) {
      return gibibytes(static_cast<double>(*T.Bandwidth));
    });
    writeLinks(J, "link_latency", S,
               [](const TierSpec &T) { return std::to_string(*T.Latency); });
    J.attributeArray("nodes", [&] {
      for (int64_t First = 0; First < Instances; First += OnNode)
        J.object([&] {
          const int64_t Count = std::min(OnNode, Instances - First);
          J.attribute("num_instances", Count);
          // Of hosts a cluster says nothing; these are its own examples'.
          writeMemory(J, "cpu_mem", "512", "256", "");
          J.attributeArray("instances", [&] {
            for (int64_t I = 0; I < Count; ++I)
              writeInstance(J, S, Model, Hardware);
          });
        });
    });
  });
  OS << '\n';
}
