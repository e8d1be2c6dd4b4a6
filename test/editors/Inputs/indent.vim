" SPDX-License-Identifier: Apache-2.0
"
" Indents each file of the arguments anew: those of `foretrace fmt` must stay as they are. Also
" looks for words that have the colours of an error.
let s:out = []
for s:file in argv()
  execute 'edit' fnameescape(s:file)
  if &filetype !=# 'fore'
    let s:out += [s:file . ': not of the type fore']
  endif
  let s:before = getline(1, '$')
  " From no indentation at all.
  silent %left
  silent normal! gg=G
  for s:line in range(1, line('$'))
    if getline(s:line) !=# s:before[s:line - 1]
      let s:out += [s:file . ':' . s:line . ': ' . getline(s:line)]
    endif
    if synIDattr(synID(s:line, match(getline(s:line), '\S') + 1, 0), 'name') ==# 'foreError'
      let s:out += [s:file . ':' . s:line . ': in the colours of an error']
    endif
  endfor
  bwipeout!
endfor
call writefile(s:out + [argc() . ' files, ' . len(s:out) . ' wrong lines'], $OUT)
qall!
