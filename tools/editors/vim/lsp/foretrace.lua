-- SPDX-License-Identifier: Apache-2.0
--
-- What `vim.lsp.enable("foretrace")` runs in Neovim 0.11.
return { cmd = { "foretrace", "lsp" }, filetypes = { "fore" } }
