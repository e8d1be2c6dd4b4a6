-- SPDX-License-Identifier: Apache-2.0
--
-- A session of Neovim's client with the configuration in tools/editors/vim: writes what it shows
-- to $OUT.
local shown = {}

local function show(label, value)
  table.insert(shown, label .. ": " .. (type(value) == "string" and value or vim.inspect(value)))
end

-- Waits until the client has an answer that is as it should be.
local function wait(is)
  assert(vim.wait(20000, is, 20), "no answer")
end

local function ask(method, line, character, more)
  local params = vim.tbl_extend("force", {
    textDocument = vim.lsp.util.make_text_document_params(),
    position = { line = line, character = character },
  }, more or {})
  for _, answer in pairs(assert(vim.lsp.buf_request_sync(0, "textDocument/" .. method, params, 20000))) do
    return answer.result
  end
end

local function replace(from, to)
  vim.cmd("%s/" .. from .. "/" .. to .. "/")
end

-- Waits for a number of diagnostics; their texts.
local function diagnostics(count)
  wait(function() return #vim.diagnostic.get(0) == count end)
  return table.concat(vim.tbl_map(function(each)
    return ("%d:%d %s"):format(each.lnum + 1, each.col + 1, each.message:match("[^\n]*"))
  end, vim.diagnostic.get(0)), "; ")
end

local function main()
  require("foretrace").setup()
  vim.cmd("edit job.fore")
  show("type", vim.bo.filetype)
  wait(function() return #vim.lsp.buf_get_clients(0) == 1 and vim.lsp.buf_get_clients(0)[1].initialized end)

  replace("tp = 4", "tp = 5")
  show("diagnostics", diagnostics(1))
  replace("tp = 5", "tp = 4")
  show("mended", diagnostics(0))
  show("hover", ask("hover", 2, 26).contents.value:gsub("\n+", " "))

  local labels = vim.tbl_map(function(item) return item.label end,
    vim.lsp.util.extract_completion_items(ask("completion", 2, 11)))
  show("completes", tostring(vim.tbl_contains(labels, "sequence_parallel")))

  replace("micro_batch", "micro_bach")
  show("misspelt", diagnostics(1))
  local line = vim.fn.search("micro_bach") - 1
  local actions = ask("codeAction", 0, 0, {
    range = { start = { line = line, character = 0 }, ["end"] = { line = line, character = 60 } },
    context = { diagnostics = {} },
  })
  show("action", actions[1].title)
  vim.lsp.util.apply_workspace_edit(actions[1].edit, "utf-16")
  show("applied", diagnostics(0) .. vim.fn.getline(line + 1))

  vim.fn.setline(line + 1, "train {sequence=1Ki micro_batch=1 global_batch=64}")
  if vim.lsp.buf.format then vim.lsp.buf.format() else vim.lsp.buf.formatting_sync(nil, 20000) end
  show("formatted", vim.fn.getline(line + 1))

  replace("tp = 4", "tp = width")
  vim.fn.append(1, "let width = 4")
  vim.lsp.util.apply_workspace_edit(ask("rename", 1, 4, { newName = "shards" }), "utf-16")
  show("renamed", diagnostics(0) .. vim.fn.getline(2) .. "; " .. vim.fn.getline(4))
end

local passed, problem = xpcall(main, debug.traceback)
if not passed then show("failed", problem) end
vim.fn.writefile(vim.split(table.concat(shown, "\n"), "\n"), vim.env.OUT)
vim.cmd("qall!")
