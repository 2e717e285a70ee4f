import { lstatSync, readlinkSync } from 'node:fs'

/** Where the sandbox has the workspace. */
export const sandboxWorkspace = '/workspace'

/** Bytes of each of the sandbox's memory-backed directories. */
const scratchBytes = '268435456'

export interface SandboxProfile {
  /** Real path of the workspace on the host. */
  root: string
  access: 'read' | 'write'
  /** Where the command starts, relative to the root. Default: the root. */
  directory?: string
  /** Paths below the root that exist and stay read-only; what they lie in can be written, but not moved. */
  readOnlyPaths?: readonly string[]
  /** What stays read-only as well, held by a descriptor of the new process: whatever becomes of its path meanwhile. */
  readOnlyDescriptors?: readonly { path: string; descriptor: number }[]
  /** Files outside of `/usr` that are visible too, at the same path. */
  readOnlyFiles?: readonly string[]
}

/**
 * The arguments of bubblewrap that build the sandbox; a command follows after `--`.
 *
 * Inside: no network, own process ids, user 65534 without capabilities and without further user namespaces, the system's programs
 * read-only, the workspace at `/workspace`, 256 MiB of `/tmp`, and nothing else of the host.
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
    // The size counts for the next mount only.
    ...['/dev/shm', '/run', '/tmp'].flatMap((path) => ['--size', scratchBytes, '--tmpfs', path]),
    ...readOnlyFiles.flatMap((path) => ['--ro-bind', path, path]),
    ...[access === 'write' ? '--bind' : '--ro-bind', root, sandboxWorkspace, '--chdir', `${sandboxWorkspace}/${directory}`],
    // A directory that is a mount itself cannot be renamed, and what is mounted in it keeps its place.
    ...ancestorsOf(readOnlyPaths).flatMap((path) => ['--bind', `${root}/${path}`, `${sandboxWorkspace}/${path}`]),
    ...readOnlyPaths.flatMap((path) => ['--ro-bind', `${root}/${path}`, `${sandboxWorkspace}/${path}`]),
    ...readOnlyDescriptors.flatMap(({ path, descriptor }) => ['--ro-bind-fd', String(descriptor), `${sandboxWorkspace}/${path}`]),
    // Kernel settings belong to root: when this process is root, so is the sandbox's user in the eyes of their owner check.
    ...['--remount-ro', '/proc', '--remount-ro', '/dev', '--remount-ro', '/'],
  ]
}

/** The directories on the way to `paths`, outermost first. */
function ancestorsOf(paths: readonly string[]): string[] {
  const found = paths.flatMap((path) =>
    path
      .split('/')
      .slice(0, -1)
      .map((_, index, parts) => parts.slice(0, index + 1).join('/')),
  )
  return [...new Set(found)].sort((a, b) => a.length - b.length)
}

/** `/bin` and its like: links into `/usr` on most systems, directories of their own on others. */
function systemDirectories(): string[] {
  return ['/bin', '/sbin', '/lib', '/lib32', '/lib64'].flatMap((path) => {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return []
    return stats.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]
  })
}
