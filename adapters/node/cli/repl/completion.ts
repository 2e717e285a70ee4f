import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { mostOffered } from '../../../../src/mcp/mentions/completion.ts'
import type { McpMentions } from '../../../../src/mcp/mentions/mentions.ts'
import { commandNames } from '../commands/commands.ts'
import type { Completion } from '../terminal/line-editor.ts'

/** Maximum number of files to list, and time limit for listing. */
const mostFiles = 20_000
const longestMs = 3000
/** Folders excluded from completion. */
const leftOut: ReadonlySet<string> = new Set(['node_modules', 'dist', 'target', '__pycache__'])

/** Files below a folder, as relative paths. Listed on first use and refreshed after a while. Does not follow links. */
export class FileIndex {
  readonly #root: string
  readonly #onListed: () => void
  #paths: readonly string[] = []
  #listedAt = Number.NEGATIVE_INFINITY

  /** Calls `onListed` when the list has changed. */
  constructor(root: string, onListed: () => void) {
    this.#root = root
    this.#onListed = onListed
  }

  /** Returns the files that match `query`, best match first. */
  find(query: string, most: number): string[] {
    if (performance.now() - this.#listedAt > 10_000) {
      this.#listedAt = performance.now()
      void this.#list()
    }
    const found = this.#paths.flatMap((path) => {
      const score = likeness(path, query)
      return score === undefined ? [] : [{ path, score }]
    })
    return found
      .sort((a, b) => b.score - a.score || a.path.length - b.path.length || (a.path < b.path ? -1 : 1))
      .slice(0, most)
      .map(({ path }) => path)
  }

  async #list(): Promise<void> {
    const end = performance.now() + longestMs
    const found: string[] = []
    const waiting = ['']
    for (let folder = waiting.shift(); folder !== undefined; folder = waiting.shift()) {
      if (found.length >= mostFiles || performance.now() > end) break
      const entries = await readdir(join(this.#root, folder), { withFileTypes: true }).catch(() => [])
      for (const entry of entries) {
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`
        if (entry.isDirectory()) {
          if (!leftOut.has(entry.name) && !entry.name.startsWith('.')) waiting.push(path)
        } else if (entry.isFile()) found.push(path)
      }
    }
    this.#paths = found.slice(0, mostFiles)
    this.#listedAt = performance.now()
    this.#onListed()
  }
}

/**
 * Scores a path. The path must contain the query's characters in order. Matches in the file name, at word starts and in sequence score
 * higher. Returns `undefined` if there is no match.
 */
function likeness(path: string, query: string): number | undefined {
  const [low, wanted] = [path.toLowerCase(), query.toLowerCase()]
  const whole = low.lastIndexOf(wanted)
  const name = low.lastIndexOf('/') + 1
  if (whole !== -1) return 1000 + (whole >= name ? 200 : 0) + (whole === name ? 100 : 0) - path.length / 100
  let score = 0
  let from = 0
  for (const character of wanted) {
    const at = low.indexOf(character, from)
    if (at === -1) return undefined
    const isBegin = at === 0 || /[/._-]/.test(low[at - 1] ?? '')
    score += (at === from ? 3 : 0) + (isBegin ? 5 : 0) + (at >= name ? 2 : 0)
    from = at + character.length
  }
  return score - path.length / 100
}

/** Returns the completions of the text before the cursor: a command at the start, a file or an MCP resource after `@`. */
export function completionOf(before: string, files: FileIndex, servers: McpMentions): Completion | undefined {
  const commands = commandNames(before)
  const found = servers.complete(before)
  const ofServers = found?.options.map(({ text }) => text) ?? []
  if (commands.length > 0) return { from: 0, options: [...commands.map((name) => `${name} `), ...ofServers] }
  if (found !== undefined && (before.startsWith('/') || before.slice(found.from).includes(':')))
    return { from: found.from, options: ofServers }
  const [mention, query = ''] = /(?:^|\s)@([^\s"]*)$/.exec(before) ?? []
  if (mention === undefined) return undefined
  const paths = files.find(query, mostOffered).map((path) => (/\s/.test(path) ? `@"${path}" ` : `@${path} `))
  // Server names appear only after the first letter, because files are more likely.
  const options = [...(query === '' ? [] : ofServers), ...paths].slice(0, mostOffered)
  return { from: before.length - query.length - 1, options }
}
