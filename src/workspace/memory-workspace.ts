import { checkOptions } from '../contract/shape/read.ts'
import { aText, either, kind, recordOf } from '../contract/shape/shape.ts'
import type { Workspace, WorkspaceStat } from '../types/tool/workspace.ts'
import { changed, joinPath, notFound, resolvePath, rootStays, wrongKind } from './workspace-rules.ts'

interface FileNode {
  kind: 'file'
  data: Uint8Array
  version: string
}

interface DirectoryNode {
  kind: 'directory'
  children: Map<string, Node>
  version: string
}

type Node = FileNode | DirectoryNode

const someFiles = recordOf(
  either(
    aText,
    kind('bytes (Uint8Array)', (value) => value instanceof Uint8Array),
  ),
)

/**
 * Creates a workspace in memory, for tests, browsers and Workers.
 *
 * **Contract**
 * - Follows the contract of `Workspace`. Copies everything that goes in or out: later changes to a byte array have no effect.
 * - `files` maps paths to text (stored as UTF-8) or bytes. Throws `WorkspaceError` for a path that is not allowed, and `ConfigError` for
 *   other content.
 *
 * Source: docs/guides/files-and-bash.md
 */
export function memoryWorkspace(files: Record<string, string | Uint8Array> = {}): Workspace {
  checkOptions(files, someFiles, 'files')
  const tree = new MemoryTree()
  for (const [path, content] of Object.entries(files)) {
    tree.write(path, typeof content === 'string' ? new TextEncoder().encode(content) : content, undefined)
  }
  // Async, so that every refusal is a rejection.
  return {
    root: 'memory',
    async read(path, { start = 0, end, signal } = {}) {
      signal?.throwIfAborted()
      return tree.file(path).data.slice(Math.max(0, start), end === undefined ? undefined : Math.max(0, end))
    },
    async write(path, data, { ifMatch, signal } = {}) {
      signal?.throwIfAborted()
      return tree.write(path, data, ifMatch)
    },
    async stat(path, { signal } = {}) {
      signal?.throwIfAborted()
      return statOf(tree.find(path))
    },
    async list(path, { signal } = {}) {
      signal?.throwIfAborted()
      return tree.list(path)
    },
    async remove(path, { signal } = {}) {
      signal?.throwIfAborted()
      tree.remove(path)
    },
  }
}

class MemoryTree {
  readonly #root: DirectoryNode = { kind: 'directory', children: new Map(), version: '0' }
  #writes = 0

  find(path: string): Node {
    let node: Node = this.#root
    for (const segment of segmentsOf(path)) {
      if (node.kind === 'file') throw wrongKind(path, 'leads through a file')
      const child: Node | undefined = node.children.get(segment)
      if (child === undefined) throw notFound(path)
      node = child
    }
    return node
  }

  file(path: string): FileNode {
    const node = this.find(path)
    if (node.kind === 'directory') throw wrongKind(path, 'is a directory')
    return node
  }

  list(path: string) {
    const node = this.find(path)
    if (node.kind === 'file') throw wrongKind(path, 'is a file')
    const directory = resolvePath(path)
    const names = [...node.children].sort(([a], [b]) => (a < b ? -1 : 1))
    return names.map(([name, child]) => ({ path: joinPath(directory, name), kind: child.kind }))
  }

  write(path: string, data: Uint8Array, ifMatch: string | null | undefined): WorkspaceStat {
    const segments = segmentsOf(path)
    const name = segments.pop()
    if (name === undefined) throw wrongKind(path, 'is a directory')
    // Create nothing before all checks have passed.
    const { directory, missing } = this.#deepest(path, segments)
    const old = missing.length === 0 ? directory.children.get(name) : undefined
    if (old?.kind === 'directory') throw wrongKind(path, 'is a directory')
    if (ifMatch !== undefined && ifMatch !== (old?.version ?? null))
      throw changed(path, old === undefined ? 'does not exist' : 'has another version than expected')
    const parent = missing.reduce((at, segment) => this.#addDirectory(at, segment), directory)
    const node: FileNode = { kind: 'file', data: data.slice(), version: this.#nextVersion() }
    parent.children.set(name, node)
    return statOf(node)
  }

  remove(path: string): void {
    const segments = segmentsOf(path)
    const name = segments.pop()
    if (name === undefined) throw rootStays()
    const parent = this.find(segments.join('/'))
    if (parent.kind === 'file') throw wrongKind(path, 'leads through a file')
    if (!parent.children.delete(name)) throw notFound(path)
  }

  #deepest(path: string, segments: readonly string[]): { directory: DirectoryNode; missing: readonly string[] } {
    let directory = this.#root
    for (const [index, segment] of segments.entries()) {
      const child = directory.children.get(segment)
      if (child === undefined) return { directory, missing: segments.slice(index) }
      if (child.kind === 'file') throw wrongKind(path, 'leads through a file')
      directory = child
    }
    return { directory, missing: [] }
  }

  #addDirectory(parent: DirectoryNode, name: string): DirectoryNode {
    const node: DirectoryNode = { kind: 'directory', children: new Map(), version: this.#nextVersion() }
    parent.children.set(name, node)
    return node
  }

  /** Counts over the whole workspace, so that a file that is removed and written again gets a new version. */
  #nextVersion(): string {
    this.#writes += 1
    return String(this.#writes)
  }
}

function segmentsOf(path: string): string[] {
  const resolved = resolvePath(path)
  return resolved === '.' ? [] : resolved.split('/')
}

function statOf(node: Node): WorkspaceStat {
  return { kind: node.kind, size: node.kind === 'file' ? node.data.length : 0, version: node.version }
}
