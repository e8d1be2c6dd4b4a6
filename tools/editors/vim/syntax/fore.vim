" SPDX-License-Identifier: Apache-2.0
"
" Colours of jobs, models and layers. The lists of words are those of the compiler:
" test/support/grammars.py writes them.
if exists('b:current_syntax')
  finish
endif

let s:keywords = split('
      \ import as param in let require if then else and or not where minimize maximize keep layer
      \ key input tied shared from op like at dim over part module until')
let s:units = split('
      \ GFLOP/s PFLOP/s TFLOP/s FLOP/s Gbit/s Kbit/s Mbit/s Tbit/s GiB/s bit/s GB/s KB/s MB/s TB/s
      \ B/s GiB KiB MiB TiB GB Gi KB Ki MB Mi TB Ti ms ns us B G K M T s')
let s:values = split('
      \ a2a adam adam_8bit after_sum all all_gather allgather alltoall any aux_loss balanced bf16
      \ block_tp calibrated channel decode deepep_low_latency deepep_normal deepspeed dualpipe
      \ dualpipe_v estimate experts file flex flops forward fp16 fp32 fp8 fp8_block fp8_ds_mla full
      \ fully_connected fused geglu gelu generic global_aux_loss gpipe head int4 int8 interleaved
      \ interleaved_1f1b interleaved_zb l2 largest layernorm layernorm_no_bias learned linear local
      \ looped_bfs megatron megatron_fsdp memory module_count mtp muon mxfp4 mxfp8 native ngram none
      \ nvfp4 offline one_f_one_b op p2p parameters post pre precision_aware prefill profile relu
      \ ring rmsnorm roofline rope same_vendor sandwich selective seq_aux_loss server sgd sglang
      \ squared_relu swiglu switch te torch torch_fsdp1 tp_cp_ep_dp_pp tp_cp_ep_pp_dp
      \ transformer_engine trtllm uncosted unfused uniform vllm xielu zb_h1 zbv')

" Returns a pattern of any of some words.
function! s:any(words) abort
  return '\%(' . escape(join(a:words, '|'), '|/') . '\)'
endfunction

" Where several match at a place, the last one counts.
execute 'syntax match foreValue /\<' . s:any(s:values) . '\>/'
syntax match foreFunction /\<\h\w*\>(\@=/
syntax match foreSection /\%(\%(in\|else\)\>\)\@!\<\h\w*\>\%(\%(\s\+\%(in\>\)\@!\h[[:alnum:]_-]*\)\?\%(\s*:\s*\h\w*\)\?\s*{\)\@=/
      \ nextgroup=foreSectionName,foreSectionBase skipwhite
syntax match foreSectionName /\h[[:alnum:]_-]*/ contained nextgroup=foreSectionBase skipwhite
syntax match foreSectionBase /:\s*\h\w*/ contained
execute 'syntax match foreKeyword /\<' . s:any(s:keywords) . '\>/'
syntax keyword foreBoolean true false
syntax match foreKey /\<\h\w*\>\%(\s*==\@!\)\@=/
syntax match foreNumber /\<\d[0-9_]*\%(\.\d[0-9_]*\)\?\%([eE][-+]\?\d\+\)\?/
      \ nextgroup=foreUnit skipwhite
execute 'syntax match foreUnit /' . s:any(s:units) . '\%(\w\|\/\|\s*==\@!\)\@!/ contained'
" What stands before the brace of a condition or a layer is not a section.
syntax region foreHead matchgroup=foreKeyword start=/\<\%(if\|layer\|module\|shared\)\>\%(\s*==\@!\)\@!/
      \ end=/\<then\>\|{\@=\|$/ oneline
      \ contains=foreValue,foreFunction,foreKeyword,foreBoolean,foreNumber,foreString,foreComment
syntax match foreError /#.*\|\/\*.\{-}\%(\*\/\|$\)\|\*\*\|\^\|'[^']*'/
syntax match foreEscape /\\./ contained
syntax match forePlaceholder /{\h[[:alnum:]_.]*}/ contained
syntax region foreString start=/"/ skip=/\\./ end=/"\|$/ oneline contains=foreEscape,forePlaceholder
syntax keyword foreTodo TODO FIXME contained
syntax match foreComment +//.*+ contains=foreTodo,@Spell

highlight default link foreBoolean Boolean
highlight default link foreComment Comment
highlight default link foreError Error
highlight default link foreEscape SpecialChar
highlight default link foreFunction Function
highlight default link foreKey Identifier
highlight default link foreKeyword Keyword
highlight default link foreNumber Number
highlight default link forePlaceholder Special
highlight default link foreSection Structure
highlight default link foreSectionBase Type
highlight default link foreSectionName Type
highlight default link foreString String
highlight default link foreTodo Todo
highlight default link foreUnit Type
highlight default link foreValue Constant

let b:current_syntax = 'fore'
