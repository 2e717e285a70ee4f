import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { commandNames } from '../commands/commands.ts'
import type { Completion } from '../terminal/line-editor.ts'

/** Files that are listed at most, and how long listing may take. */
const mostFiles = 20_000
const longestMs = 3000
/** Folders that are never completed. */
const leftOut: ReadonlySet<string> = new Set(['node_modules', 'dist', 'target', '__pycache__'])

/** Files below a folder as relative paths: listed on first use, and again after a while. Does not follow links. */
export class FileIndex {
  readonly #root: string
  readonly #onListed: () => void
  #paths: readonly string[] = []
  #listedAt = Number.NEGATIVE_INFINITY

  /** `onListed` is called when there is more to find than before. */
  constructor(root: string, onListed: () => void) {
    this.#root = root
    this.#onListed = onListed
  }

  /** Those that `query` may mean, the likeliest first. */
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

/** How well a path fits: all characters of the query in their order, best in its name, at the beginning of words, and side by side. `undefined`: not at all. */
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

/** Files that are offered at a time. */
const mostOffered = 8

/** Returns the completions of the text before the cursor: a command at the start, a file after `@`. */
export function completionOf(before: string, files: FileIndex): Completion | undefined {
  const commands = commandNames(before)
  if (commands.length > 0) return { from: 0, options: commands.map((name) => `${name} `) }
  const [mention, query = ''] = /(?:^|\s)@([^\s"]*)$/.exec(before) ?? []
  if (mention === undefined) return undefined
  const options = files.find(query, mostOffered).map((path) => (/\s/.test(path) ? `@"${path}" ` : `@${path} `))
  return { from: before.length - query.length - 1, options }
}
