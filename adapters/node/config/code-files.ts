import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { dirname, extname, join, resolve } from 'node:path'
import { parsedJson } from '../../../src/base/json/json-value.ts'
import { fieldIn } from '../../../src/contract/json.ts'
import { loadsOfModule, loadsOfShell } from './script-loads.ts'

/** Maximum bytes to hash per file. For a larger file, also uses the size and modification time. */
const maxBytes = 16 * 1024 * 1024
/** Maximum files to follow per command. */
const maxFiles = 500

const modules: ReadonlySet<string> = new Set(['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts'])
const shells: ReadonlySet<string> = new Set(['.sh', '.bash'])
const code: ReadonlySet<string> = new Set([...modules, ...shells, '.py', '.rb', '.pl', '.php', '.lua', '.jar', '.wasm', '.node', '.exe'])
/** Files that run, or determine what runs, when a folder is executed. */
const ofFolder: readonly string[] = ['package.json', 'index.js', 'index.mjs', 'index.cjs', '__main__.py', '__init__.py']

type Found = { kind: 'none' | 'folder' } | { kind: 'file'; digest: string; bytes: Uint8Array; isProgram: boolean }

/** Returns the digest of bytes, as {@link CodeFiles} stores it. */
export function digestOf(bytes: Uint8Array): string {
  return `${bytes.length} ${createHash('sha256').update(bytes).digest('hex')}`
}

/** Marks a path without a file, because a file may be created there later. */
export const noFile = 'no file'

/**
 * A command's code files with their digests: the files that it runs, and the files that those import by a literal relative path. Excludes
 * data.
 */
export class CodeFiles {
  readonly digests = new Map<string, string>()
  /** Why the list may be incomplete, or `undefined` if it is complete. */
  unknown: string | undefined

  /** Adds the file that a word of the command refers to, if it is code. */
  async addWord(path: string): Promise<void> {
    const found = await look(path)
    if (found.kind === 'none') this.digests.set(path, noFile)
    else if (found.kind === 'file' && (found.isProgram || code.has(extname(path)))) await this.#take(path, found)
  }

  /** Adds a file or folder that is executed, regardless of its name. */
  async addRun(path: string): Promise<void> {
    const found = await look(path)
    if (found.kind === 'file') return this.#take(path, found)
    this.unknown ??= `${path} is not a file`
    if (found.kind === 'none') this.digests.set(path, noFile)
    else for (const name of [...ofFolder, ...(await mainOf(path))]) await this.addRun(join(path, name))
  }

  /** Adds the `package.json` that determines the module format of a `.js` file. */
  async addTypeOf(path: string): Promise<void> {
    for (let at = dirname(path); ; at = dirname(at)) {
      const manifest = join(at, 'package.json')
      const type = await fieldOf(manifest, 'type')
      this.digests.set(`${manifest}#type`, type ?? noFile)
      if (type !== undefined || at === dirname(at)) return
    }
  }

  async #take(path: string, { digest, bytes }: Extract<Found, { kind: 'file' }>): Promise<void> {
    if (this.digests.has(path)) return
    if (this.digests.size >= maxFiles) {
      this.unknown ??= `it loads more than ${maxFiles} files`
      return
    }
    this.digests.set(path, digest)
    const extension = extname(path)
    const text = modules.has(extension) || shells.has(extension) ? new TextDecoder().decode(bytes) : ''
    const { paths, unknown } = shells.has(extension) ? loadsOfShell(text) : loadsOfModule(text)
    this.unknown ??= unknown
    // Node resolves imports from the target of a link.
    const home = dirname(await realpath(path).catch(() => path))
    for (const each of paths) {
      const target = resolve(home, each)
      const candidates = extname(each) === '' ? [target, `${target}.js`, `${target}.json`, join(target, 'index.js')] : [target]
      for (const candidate of candidates) await this.addRun(candidate)
    }
  }
}

async function look(path: string): Promise<Found> {
  try {
    // Reading a FIFO or device would never end.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const stats = await file.stat()
      if (stats.isDirectory()) return { kind: 'folder' }
      if (!stats.isFile()) return { kind: 'none' }
      const buffer = new Uint8Array(Math.min(stats.size, maxBytes))
      const { bytesRead } = await file.read(buffer, 0, buffer.length, 0)
      const bytes = buffer.subarray(0, bytesRead)
      const digest = stats.size > maxBytes ? `${stats.size} ${stats.mtimeMs} ${digestOf(bytes)}` : digestOf(bytes)
      const isProgram = (stats.mode & 0o111) !== 0 || (bytes[0] === 0x23 && bytes[1] === 0x21)
      return { kind: 'file', digest, bytes, isProgram }
    } finally {
      await file.close()
    }
  } catch {
    return { kind: 'none' }
  }
}

async function mainOf(folder: string): Promise<string[]> {
  const main = await fieldOf(join(folder, 'package.json'), 'main')
  return main === undefined || main === '' ? [] : [main]
}

/** Returns a text field from a `package.json`. The text is empty if the field is not a text, or `undefined` if there is no such file. */
async function fieldOf(manifest: string, name: 'main' | 'type'): Promise<string | undefined> {
  const found = await look(manifest)
  if (found.kind !== 'file') return undefined
  const field = fieldIn(parsedJson(new TextDecoder().decode(found.bytes)), name)
  return typeof field === 'string' ? field : ''
}
