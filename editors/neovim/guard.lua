-- For Neovim: copy to ~/.config/nvim/plugin/guard.lua, with the folder editors/vim as a package.
-- Neovim 0.11 and newer have vim.lsp.config; older ones start the server for each buffer.
local settings = { name = "guard", cmd = { "guard", "lsp" } }

if vim.lsp.config then
  vim.lsp.config("guard", { cmd = settings.cmd, filetypes = { "guard" }, root_markers = { ".git" } })
  vim.lsp.enable("guard")
else
  vim.api.nvim_create_autocmd("FileType", {
    pattern = "guard",
    callback = function(event)
      local found = vim.fs.find(".git", { path = vim.fs.dirname(event.file), upward = true })[1]
      local root = found and vim.fs.dirname(found) or vim.fs.dirname(vim.fn.fnamemodify(event.file, ":p"))
      vim.lsp.start({ name = settings.name, cmd = settings.cmd, root_dir = root })
    end,
  })
end
