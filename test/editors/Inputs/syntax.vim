" SPDX-License-Identifier: Apache-2.0
"
" Compares the colours of the buffer with what the lines after each line expect, which are
" those of vscode-tmgrammar-test: `// ^^^^ scope`.
let s:groups = {
      \ 'comment.line.double-slash': 'foreComment',
      \ 'constant.character.escape': 'foreEscape',
      \ 'constant.language.boolean': 'foreBoolean',
      \ 'constant.numeric': 'foreNumber',
      \ 'entity.name.function': 'foreFunction',
      \ 'entity.name.type': 'foreSectionName',
      \ 'entity.other.inherited-class': 'foreSectionBase',
      \ 'invalid.illegal': 'foreError',
      \ 'keyword.control': 'foreKeyword',
      \ 'keyword.other.unit': 'foreUnit',
      \ 'storage.type.section': 'foreSection',
      \ 'string.quoted.double': 'foreString',
      \ 'support.constant': 'foreValue',
      \ 'variable.other.placeholder': 'forePlaceholder',
      \ 'variable.other.property': 'foreKey'}

" Returns the group of a character.
function! s:group(line, column) abort
  return synIDattr(synID(a:line, a:column, 0), 'name')
endfunction

let s:out = []
let s:count = 0
let s:shown = 0
for s:line in range(1, line('$'))
  let s:parts = matchlist(getline(s:line), '^//\s*\(\^\+\) \(\S\+\)\.fore\( - \S\+\)\?$')
  if empty(s:parts)
    let s:shown = s:line
    continue
  endif
  let s:begin = match(getline(s:line), '\^') + 1
  for s:column in range(s:begin, s:begin + len(s:parts[1]) - 1)
    let s:found = s:group(s:shown, s:column)
    let s:wanted = get(s:groups, s:parts[2], '')
    let s:is = empty(s:parts[3]) ? s:found ==# s:wanted : s:found !=# 'foreSection'
    if !s:is
      let s:out += [s:shown . ':' . s:column . ': ' . s:found . ', expected ' . s:wanted . ': ' . getline(s:shown)]
    endif
  endfor
  let s:count += 1
endfor
call writefile(s:out + [s:count . ' expectations, ' . len(s:out) . ' wrong characters'], $OUT)
qall!
