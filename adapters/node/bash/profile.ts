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
  /** Names at the root of the workspace that exist and stay read-only. */
  readOnlyNames?: readonly string[]
  /** Files outside of `/usr` that are visible too, at the same path. */
  readOnlyFiles?: readonly string[]
}

/**
 * The arguments of bubblewrap that build the sandbox; a command follows after `--`.
 *
 * Inside: no network, own process ids, user 65534 without capabilities and without further user namespaces, the system's programs
 * read-only, the workspace at `/workspace`, 256 MiB of `/tmp`, and nothing else of the host.
 *
 * Source: reference/toolchain.md §6, reference/reliability.md §5, 1–16.
 */
export function sandboxArguments(profile: SandboxProfile): string[] {
  const { root, access, directory = '.', readOnlyNames = [], readOnlyFiles = [] } = profile
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
    ...readOnlyNames.flatMap((name) => ['--ro-bind', `${root}/${name}`, `${sandboxWorkspace}/${name}`]),
    // Kernel settings belong to root: when this process is root, so is the sandbox's user in the eyes of their owner check.
    ...['--remount-ro', '/proc', '--remount-ro', '/dev', '--remount-ro', '/'],
  ]
}

/** `/bin` and its like: links into `/usr` on most systems, directories of their own on others. */
function systemDirectories(): string[] {
  return ['/bin', '/sbin', '/lib', '/lib32', '/lib64'].flatMap((path) => {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return []
    return stats.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]
  })
}
