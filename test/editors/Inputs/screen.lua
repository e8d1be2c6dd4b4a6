-- SPDX-License-Identifier: Apache-2.0
--
-- Returns the lines that Neovim shows, with floating windows in their places; without the lines
-- after the end of the text and the command line.
local function line_of(cells)
  return (table.concat(cells):gsub("%s+$", ""))
end

local function screen()
  vim.cmd("redraw")
  local rows = {}
  for y = 1, vim.o.lines - vim.o.cmdheight do
    rows[y] = {}
    for x = 1, vim.o.columns do
      rows[y][x] = vim.fn.screenstring(y, x)
    end
  end
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      local top, left = unpack(vim.api.nvim_win_get_position(window))
      local buffer = vim.api.nvim_win_get_buf(window)
      for i, text in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
        for x = 1, vim.api.nvim_win_get_width(window) do
          if rows[top + i] then rows[top + i][left + x] = text:sub(x, x):gsub("^$", " ") end
        end
      end
    end
  end
  local lines = {}
  for _, cells in ipairs(rows) do
    local line = line_of(cells)
    if line ~= "~" then table.insert(lines, line) end
  end
  return table.concat(lines, "\n")
end

return screen()
