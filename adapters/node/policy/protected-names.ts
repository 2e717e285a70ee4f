/** Files that other programs on the host, including agents, execute or read as configuration when a person works in a directory. */
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

/** Directories that other programs on the host execute or read as configuration. */
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

/** Git recognizes a directory as a repository only with this file, so a planted repository needs it. */
export const gitHead = 'HEAD'

/** Files that git reads in a repository. Together with `HEAD`, they make any directory a repository. */
export const gitParts: ReadonlySet<string> = new Set([
  ...['branches', 'commondir', 'config', 'config.worktree', 'gitdir', 'hooks', 'info', 'modules', 'objects', 'packed-refs', 'refs'],
  'worktrees',
])

/**
 * Returns the name that a path segment refers to on the most lenient file system: ignores case, width, invisible characters and endings.
 */
export function canonicalName(segment: string): string {
  const name = segment
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '')
  // `git~1` is the short name of `.git` on FAT and NTFS.
  return name === 'git~1' ? '.git' : name
}
