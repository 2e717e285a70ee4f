import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isWithin, trialMs } from '../policy/programs.ts'

/** Limits for all processes of one command. */
export interface GroupLimits {
  /** Maximum memory in bytes, including memory-backed files. */
  memory: number
  /** Maximum processes and threads. */
  tasks: number
}

/** A kernel control group for one command. */
export interface ControlGroup {
  /** Files that a process writes 0 to in order to limit itself and its children. */
  readonly entrances: readonly string[]
  /** Removes the group. Call it after its processes have exited. */
  remove(): Promise<void>
}

type Controller = 'memory' | 'pids'

// Groups in use by this process. A command may not have entered its group yet.
const open = new Set<string>()

/**
 * Creates a control group (version 1 or 2). Returns `undefined` if this process is not permitted to, or if the kernel supports only one of
 * the limits.
 */
export function openControlGroup(limits: GroupLimits): ControlGroup | undefined {
  if (process.platform !== 'linux') return undefined
  const name = `phi-core-${process.pid}-${crypto.randomUUID().slice(0, 8)}`
  for (const places of candidates()) {
    const groups = places.map((place) => join(place, name))
    try {
      for (const place of places) removeLeftovers(place)
      for (const group of groups) make(group, limits)
      return { entrances: groups.map((group) => join(group, 'cgroup.procs')), remove: () => removeAll(groups) }
    } catch {
      for (const group of groups) removeNow(group)
    }
  }
  return undefined
}

/** Returns whether control groups work on this machine. Tests it once, with a process that enters a group. */
export function canOpenControlGroup(shell: string): boolean {
  const group = openControlGroup({ memory: 2 ** 30, tasks: 64 })
  if (group === undefined) return false
  const result = spawnSync(shell, [...enteringArguments(group.entrances), '/bin/sh', '-c', 'exit 0'], { env: {}, timeout: trialMs })
  void group.remove()
  return result.status === 0
}

/** Returns arguments for a shell that enters the groups and then becomes the given program. */
export function enteringArguments(entrances: readonly string[]): string[] {
  const script = 'while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift; unset PWD OLDPWD; exec "$@"'
  return ['-c', script, 'sh', ...entrances, '--']
}

/**
 * Returns candidate directories for a group. For version 1, these are one per controller, used together. For version 2, these are our
 * group's parents, nearest first.
 */
function candidates(): string[][] {
  const own = new Map<string, string>()
  for (const line of read('/proc/self/cgroup').split('\n')) {
    const [, controllers = '', path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    for (const controller of controllers.split(',')) own.set(controller, path)
  }
  const mounts = read('/proc/self/mountinfo').split('\n').flatMap(groupMount)
  const first = (['memory', 'pids'] as const).flatMap((controller) => {
    const mount = mounts.find((entry) => entry.controllers.includes(controller))
    return mount === undefined ? [] : [below(mount, own.get(controller) ?? '/')]
  })
  const unified = mounts.find((entry) => entry.controllers.length === 0)
  const parents: string[][] = []
  if (unified !== undefined) {
    const start = below(unified, own.get('') ?? '/')
    for (let at = start; isWithin(unified.at, at) && parents.length < 8; at = dirname(at)) parents.push([at])
  }
  return [...(first.length === 2 ? [first] : []), ...parents]
}

interface GroupMount {
  at: string
  /** Returns the mounted parts of the hierarchy. */
  root: string
  /** Empty for version 2. */
  controllers: string[]
}

function groupMount(line: string): GroupMount[] {
  const [, root = '', at = '', type, options = ''] = /^\S+ \S+ \S+ (\S+) (\S+) .*? - (cgroup2?) \S+ (\S+)$/.exec(line) ?? []
  if (type === undefined) return []
  return [{ at, root, controllers: type === 'cgroup' ? options.split(',') : [] }]
}

function below({ at, root }: GroupMount, path: string): string {
  return join(at, root !== '/' && isWithin(root, path) ? path.slice(root.length) : path)
}

function make(group: string, { memory, tasks }: GroupLimits): void {
  mkdirSync(group)
  open.add(group)
  const set = (file: string, value: number) => {
    // Opened without creating, because a missing controller has no file.
    if (!existsSync(join(group, file))) return false
    writeFileSync(join(group, file), String(value), { flag: 'r+' })
    return true
  }
  const done: Controller[] = []
  if (set('pids.max', tasks)) done.push('pids')
  if (set('memory.max', memory) || set('memory.limit_in_bytes', memory)) done.push('memory')
  // Also limits swap. If swap is not counted, these files do not exist.
  if (!set('memory.swap.max', 0)) set('memory.memsw.limit_in_bytes', memory)
  const isUnified = existsSync(join(group, 'cgroup.controllers'))
  if (done.length < (isUnified ? 2 : 1)) throw new Error(`${group} bounds nothing`)
}

async function removeAll(groups: readonly string[]): Promise<void> {
  // The kernel counts a process until it is completely removed.
  for (let attempt = 0; attempt < 50; attempt++) {
    if (groups.filter((group) => !removeNow(group)).length === 0) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  for (const group of groups) open.delete(group)
}

function removeNow(group: string): boolean {
  try {
    if (existsSync(group)) rmdirSync(group)
    open.delete(group)
    return true
  } catch {
    return false
  }
}

/** Removes groups left by killed processes. The kernel removes only groups without processes. */
function removeLeftovers(place: string): void {
  for (const name of readdirSync(place)) {
    const owner = /^phi-core-(\d+)-/.exec(name)?.[1]
    const isOurs = owner === String(process.pid)
    if (owner === undefined || open.has(join(place, name)) || (!isOurs && existsSync(`/proc/${owner}`))) continue
    removeNow(join(place, name))
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
