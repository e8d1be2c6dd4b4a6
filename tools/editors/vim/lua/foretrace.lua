-- SPDX-License-Identifier: Apache-2.0
--
-- Runs `foretrace lsp` for the buffers of Neovim before 0.11; later ones have lsp/foretrace.lua.
--
--   require("foretrace").setup({ on_attach = ... })
local M = {}

-- Clients by root.
local clients = {}

local function root_of(path)
  return vim.fn.fnamemodify(path, ":p:h")
end

-- Starts a client for the folder of a buffer, unless there is one, and attaches it.
local function attach(config, buffer)
  local root = root_of(vim.api.nvim_buf_get_name(buffer))
  if not (clients[root] and vim.lsp.get_client_by_id(clients[root])) then
    clients[root] = vim.lsp.start_client(vim.tbl_extend("force", {
      name = "foretrace",
      cmd = { "foretrace", "lsp" },
      root_dir = root,
    }, config))
  end
  if clients[root] then
    vim.lsp.buf_attach_client(buffer, clients[root])
  end
end

function M.setup(config)
  vim.api.nvim_create_autocmd("FileType", {
    pattern = "fore",
    callback = function(event)
      attach(config or {}, event.buf)
    end,
  })
end

return M
