//! Tells Zed how the language server is started.

use zed_extension_api::{
    Command, Extension, LanguageServerId, Result, Worktree, register_extension,
};

struct Guard;

impl Extension for Guard {
    fn new() -> Self {
        Guard
    }

    fn language_server_command(
        &mut self,
        _: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Command> {
        let command = worktree.which("guard");
        let command = command.ok_or("the program `guard` was not found on the path")?;
        Ok(Command {
            command,
            args: vec!["lsp".to_owned()],
            env: worktree.shell_env(),
        })
    }
}

register_extension!(Guard);
