" SPDX-License-Identifier: Apache-2.0
"
" Settings of a buffer with a job or models.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

setlocal comments=:// commentstring=//\ %s
setlocal formatoptions-=t formatoptions+=croql
setlocal expandtab shiftwidth=2 softtabstop=2
setlocal suffixesadd=.fore include=^\\s*import
setlocal formatprg=foretrace\ fmt\ -
compiler foretrace

let b:undo_ftplugin = 'setlocal comments< commentstring< formatoptions< expandtab< shiftwidth<'
      \ . ' softtabstop< suffixesadd< include< formatprg< makeprg< errorformat<'
