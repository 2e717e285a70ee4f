/** Files at the root of a workspace that other programs on the host execute or obey. */
export const protectedFiles: readonly string[] = [
  '.bash_profile',
  '.bashrc',
  '.gitconfig',
  '.gitmodules',
  '.mcp.json',
  '.profile',
  '.ripgreprc',
  '.zprofile',
  '.zshrc',
]

/** Directories at the root of a workspace that other programs on the host execute or obey. */
export const protectedDirectories: readonly string[] = ['.git', '.idea', '.vscode']

const names = new Set([...protectedFiles, ...protectedDirectories, 'git~1'])

/**
 * The segment of `path` that a file tool must not write, if there is one: a protected name at any depth, or anything that some file
 * system takes for it (another case, full-width letters, invisible characters, a trailing dot, an NTFS stream).
 *
 * Source: reference/reliability.md §5, 7 and 26.
 */
export function protectedSegment(path: string): string | undefined {
  return path.split(/[/\\]/).find((segment) => names.has(canonical(segment)))
}

function canonical(segment: string): string {
  return segment
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '')
}
