" SPDX-License-Identifier: Apache-2.0
"
" The places that :make finds, and what gq makes of a line.
silent make!
let s:out = map(filter(getqflist(), 'v:val.valid'), {_, found -> bufname(found.bufnr) . ':'
      \ . found.lnum . ':' . found.col . ': ' . found.type . ' ' . trim(found.text)})
silent %delete _
call setline(1, 'train {sequence=1Ki}')
silent normal! gqG
call writefile(s:out + ['formatted: ' . join(getline(1, '$'))], $OUT)
qall!
