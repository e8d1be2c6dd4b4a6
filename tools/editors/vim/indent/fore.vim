" SPDX-License-Identifier: Apache-2.0
"
" Indents as `foretrace fmt` does: by the brackets that are open, and once more if a line
" continues the one before.
if exists('b:did_indent')
  finish
endif
let b:did_indent = 1

setlocal indentexpr=ForeIndent(v:lnum) indentkeys=0{,0},0),0],0+,!^F,o,O
let b:undo_indent = 'setlocal indentexpr< indentkeys<'

if exists('*ForeIndent')
  finish
endif

" Returns a line without text in quotes, its comment and blanks around it.
function! s:code(line) abort
  let text = substitute(getline(a:line), '"\%([^"\\]\|\\.\)*"', '""', 'g')
  return trim(substitute(text, '//.*', '', ''))
endfunction

" Returns whether what ends with a comma is an element of a list.
function! s:is_in_list(line) abort
  let view = winsaveview()
  call cursor(a:line, 1)
  let [line, column] = searchpairpos('[[({]', '', '[])}]', 'bnW')
  call winrestview(view)
  return line > 0 && strpart(getline(line), 0, column) =~# '[[(]$\|\<in\s*{$'
endfunction

" Returns whether a line continues the one before it: it starts with an operator, or the one
" before ends with `=`, or with a comma outside of a list.
function! s:continues(line) abort
  if s:code(a:line) =~# '^[-+*%]'
    return 1
  endif
  let before = s:code(prevnonblank(a:line - 1))
  return before =~# '=$' || before =~# ',$' && !s:is_in_list(a:line)
endfunction

function! ForeIndent(line) abort
  let before = prevnonblank(a:line - 1)
  if before == 0
    return 0
  endif
  " Brackets that close at the start of a line have moved that line.
  let code = substitute(s:code(before), '^[])}]\+', '', '')
  let levels = s:continues(a:line) - s:continues(before)
        \ + count(code, '{') + count(code, '[') + count(code, '(')
        \ - count(code, '}') - count(code, ']') - count(code, ')')
        \ - len(matchstr(s:code(a:line), '^[])}]*'))
  return indent(before) + levels * shiftwidth()
endfunction
