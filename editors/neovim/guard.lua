-- For Neovim: copy to ~/.config/nvim/plugin/guard.lua, with the folder editors/vim as a package.
local command = { "guard", "lsp" }

if vim.lsp.config then
  vim.lsp.config("guard", { cmd = command, filetypes = { "guard" }, root_markers = { ".git" } })
  vim.lsp.enable("guard")
else
  -- Before 0.11 each buffer starts the server, or is attached to the one of its root.
  local clients = {}
  vim.api.nvim_create_autocmd("FileType", {
    pattern = "guard",
    callback = function(event)
      local file = vim.fn.fnamemodify(event.file, ":p")
      local git = vim.fn.finddir(".git", vim.fn.fnamemodify(file, ":h") .. ";")
      local root = git ~= "" and vim.fn.fnamemodify(git, ":p:h:h") or vim.fn.fnamemodify(file, ":h")
      if not (clients[root] and vim.lsp.get_client_by_id(clients[root])) then
        clients[root] = vim.lsp.start_client({
          name = "guard",
          cmd = command,
          root_dir = root,
          workspace_folders = { { uri = vim.uri_from_fname(root), name = root } },
        })
      end
      -- Without a client `guard` is not on the path, and Neovim has said so.
      if clients[root] then
        vim.lsp.buf_attach_client(event.buf, clients[root])
      end
    end,
  })
end

-- Colours by the tree, where the parser is installed; otherwise those of editors/vim. From 0.9 on.
if vim.treesitter.start then
  vim.api.nvim_create_autocmd("FileType", {
    pattern = "guard",
    callback = function(event)
      pcall(vim.treesitter.start, event.buf, "guard")
    end,
  })
end
