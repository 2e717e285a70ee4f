import { lstatSync, readlinkSync } from 'node:fs'

/** The path of the workspace in the sandbox. */
export const sandboxWorkspace = '/workspace'

/** The size in bytes of each memory-backed directory in the sandbox. */
const scratchBytes = '268435456'

export interface SandboxProfile {
  /** The real path of the workspace on the host. */
  root: string
  access: 'read' | 'write'
  /** The working directory, relative to the root. Default: the root. */
  directory?: string
  /** Existing paths below the root to mount read-only. Their parent directories stay writable, but cannot be moved. */
  readOnlyPaths?: readonly string[]
  /** More read-only paths, pinned by a descriptor of the new process against concurrent renames. */
  readOnlyDescriptors?: readonly { path: string; descriptor: number }[]
  /** Files outside `/usr` that are visible at the same path. */
  readOnlyFiles?: readonly string[]
}

/**
 * Returns the bubblewrap arguments that build the sandbox. The command follows after `--`.
 *
 * The sandbox has no network, separate process ids, user 65534 without capabilities or further user namespaces, read-only system programs,
 * the workspace at `/workspace`, and 256 MiB of `/tmp`. Other host files are not visible.
 *
 * Source: docs/guides/files-and-bash.md
 */
export function sandboxArguments(profile: SandboxProfile): string[] {
  const { root, access, directory = '.', readOnlyPaths = [], readOnlyDescriptors = [], readOnlyFiles = [] } = profile
  return [
    ...['--die-with-parent', '--new-session', '--unshare-all', '--unshare-user', '--disable-userns', '--hostname', 'sandbox'],
    ...['--uid', '65534', '--gid', '65534', '--cap-drop', 'ALL'],
    ...['--ro-bind', '/usr', '/usr', ...systemDirectories()],
    ...['alternatives', 'ld.so.cache', 'localtime', 'passwd', 'group'].flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
    ...['--proc', '/proc', '--dev', '/dev'],
    // `--size` applies to the next mount only.
    ...['/dev/shm', '/run', '/tmp'].flatMap((path) => ['--size', scratchBytes, '--tmpfs', path]),
    ...readOnlyFiles.flatMap((path) => ['--ro-bind', path, path]),
    ...[access === 'write' ? '--bind' : '--ro-bind', root, sandboxWorkspace, '--chdir', `${sandboxWorkspace}/${directory}`],
    // A mount point cannot be renamed, so the read-only mounts in it keep their paths.
    ...ancestorsOf(readOnlyPaths).flatMap((path) => ['--bind', `${root}/${path}`, `${sandboxWorkspace}/${path}`]),
    ...readOnlyPaths.flatMap((path) => ['--ro-bind', `${root}/${path}`, `${sandboxWorkspace}/${path}`]),
    ...readOnlyDescriptors.flatMap(({ path, descriptor }) => ['--ro-bind-fd', String(descriptor), `${sandboxWorkspace}/${path}`]),
    // If this process is root, the sandbox's user would pass the owner check of kernel settings.
    ...['--remount-ro', '/proc', '--remount-ro', '/dev', '--remount-ro', '/'],
  ]
}

/** Returns the parent directories of `paths`, outermost first. */
function ancestorsOf(paths: readonly string[]): string[] {
  const found = paths.flatMap((path) =>
    path
      .split('/')
      .slice(0, -1)
      .map((_, index, parts) => parts.slice(0, index + 1).join('/')),
  )
  return [...new Set(found)].sort((a, b) => a.length - b.length)
}

/** Returns arguments for `/bin`, `/lib` and similar paths, which are links into `/usr` on most systems and directories on others. */
function systemDirectories(): string[] {
  return ['/bin', '/sbin', '/lib', '/lib32', '/lib64'].flatMap((path) => {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return []
    return stats.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]
  })
}
