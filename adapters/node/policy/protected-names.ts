/** Files that other programs on the host, agents among them, execute or obey when a person works in a directory. */
export const protectedFiles: readonly string[] = [
  '.aider.conf.yml',
  '.bash_aliases',
  '.bash_login',
  '.bash_logout',
  '.bash_profile',
  '.bashrc',
  '.clinerules',
  '.cursorrules',
  '.envrc',
  '.exrc',
  '.gitconfig',
  '.gitmodules',
  '.lefthook.yml',
  '.mcp.json',
  '.mise.toml',
  '.npmrc',
  '.nvim.lua',
  '.nvimrc',
  '.pnpmfile.cjs',
  '.pre-commit-config.yaml',
  '.profile',
  '.ripgreprc',
  '.tool-versions',
  '.vimrc',
  '.windsurfrules',
  '.yarnrc',
  '.yarnrc.yml',
  '.zlogin',
  '.zlogout',
  '.zprofile',
  '.zshenv',
  '.zshrc',
  'AGENTS.md',
  'AGENTS.override.md',
  'CLAUDE.local.md',
  'CLAUDE.md',
  'GEMINI.md',
  'mise.toml',
]

/** Directories that other programs on the host execute or obey. */
export const protectedDirectories: readonly string[] = [
  '.agents',
  '.cargo',
  '.claude',
  '.codex',
  '.cursor',
  '.devcontainer',
  '.gemini',
  '.git',
  '.githooks',
  '.husky',
  '.idea',
  '.mise',
  '.vscode',
  '.windsurf',
  '.zed',
]

/** Without this file, git does not recognize a directory as a repository, so a planted one needs it. */
export const gitHead = 'HEAD'

/** Files that git reads in a repository; with `HEAD` they make any directory a repository. */
export const gitParts: ReadonlySet<string> = new Set([
  ...['branches', 'commondir', 'config', 'config.worktree', 'gitdir', 'hooks', 'info', 'modules', 'objects', 'packed-refs', 'refs'],
  'worktrees',
])

/** The name that `segment` of a path stands for on the most generous file system: case, width, invisible characters and endings aside. */
export function canonicalName(segment: string): string {
  const name = segment
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '')
  // The short name that FAT and NTFS give to it.
  return name === 'git~1' ? '.git' : name
}
