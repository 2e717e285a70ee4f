import { join } from 'node:path'
import { isObject } from '../../../src/contract/json.ts'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import { aFlag, aText, options as optionsOf } from '../../../src/contract/shape/shape.ts'
import { ToolError } from '../../../src/index.ts'
import { joinPath, resolvePath, type Searcher, type SearchMatch, type SearchOutcome, type SearchQuery } from '../../../src/tools.ts'
import { type Launch, sandboxed } from '../bash/launch.ts'
import { requireSandbox, SandboxUnavailable } from '../bash/sandbox.ts'
import { type HostPrograms, hostProgram, hostPrograms } from '../policy/programs.ts'
import { realDirectory } from '../policy/root.ts'
import { runProcess } from '../process/run-process.ts'
import { notRegular, translated } from '../workspace/fs-errors.ts'
import { holding, relativeTo } from '../workspace/pin.ts'

const longestLine = 1024 * 1024

/** Splits bytes into lines in bounded memory. Reports a line above 1 MiB as `undefined`. */
class LineSplitter {
  readonly #onLine: (line: string | undefined) => void
  #parts: Uint8Array[] = []
  #bytes = 0

  constructor(onLine: (line: string | undefined) => void) {
    this.#onLine = onLine
  }

  push(chunk: Uint8Array): void {
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#keep(chunk.subarray(start, end))
      this.#finish()
      start = end + 1
    }
    this.#keep(chunk.slice(start))
  }

  #keep(part: Uint8Array): void {
    this.#bytes += part.byteLength
    if (this.#bytes > longestLine) this.#parts = []
    else this.#parts.push(part)
  }

  #finish(): void {
    const decoder = new TextDecoder()
    const line = this.#parts.map((part) => decoder.decode(part, { stream: true })).join('') + decoder.decode()
    this.#onLine(this.#bytes > longestLine ? undefined : line)
    this.#parts = []
    this.#bytes = 0
  }
}

/** Returns the match in a line of `rg --json`, or `undefined` for other messages. */
function readMatch(json: string): SearchMatch | undefined {
  const message: unknown = JSON.parse(json)
  if (!isObject(message) || message.type !== 'match' || !isObject(message.data)) return undefined
  const { path, lines, line_number: line } = message.data
  return {
    path: textOf(path).replace(/^\.\//, ''),
    line: typeof line === 'number' ? line : 0,
    text: textOf(lines).replace(/\r?\n$/, ''),
  }
}

// rg encodes invalid UTF-8 as base64.
function textOf(value: unknown): string {
  if (!isObject(value)) return ''
  if (typeof value.text === 'string') return value.text
  return typeof value.bytes === 'string' ? Buffer.from(value.bytes, 'base64').toString('utf8') : ''
}

/** The search location, relative to the root with links resolved. `file` is set for a search in one file. */
interface Place {
  directory: string
  file?: string
}

const longestError = 2000

/** Options for `ripgrepSearcher`. */
export interface RipgrepOptions {
  /** Absolute paths of host programs that replace the system defaults. */
  programs?: HostPrograms
  /** Allows `/`, the home directory or a system directory as root. Default: false. */
  allowSystemRoot?: boolean
}

const ripgrepOptions = optionsOf<RipgrepOptions>({ programs: hostPrograms, allowSystemRoot: aFlag })

/**
 * Creates a `Searcher` that runs the machine's `rg`, or returns `undefined` if `rg` is not installed.
 *
 * **Contract** (in addition to `Searcher`)
 * - Does not follow links, and ignores configuration and ignore files. If bubblewrap works, `rg` runs in its sandbox and sees only `root`.
 * - A matching line above 1 MiB is omitted and sets `truncated`. `rg` is killed once there are more than `maxResults` matches.
 * - Has no timeout. Throws `ConfigError` `invalidOption` if `root` or a chosen program is unusable.
 * - `rg` is resolved once, in the system directories outside `root`. `PATH` is ignored.
 *
 * Source: docs/guides/files-and-bash.md
 */
export function ripgrepSearcher(root: string, options: RipgrepOptions = {}): Searcher | undefined {
  checkOptions(root, aText, 'root')
  checkOptions(options, ripgrepOptions)
  const realRoot = realDirectory(root, options.allowSystemRoot)
  const program = hostProgram('rg', realRoot, options.programs?.rg)
  if (program === undefined) return undefined
  const launch = launcher(program, realRoot, options.programs)
  return async (query) => {
    query.signal.throwIfAborted()
    const path = resolvePath(query.path)
    const place = await translated(path, 'search', query.signal, () => placeOf(realRoot, path))
    const { matches, truncated } = await search(launch(place.directory, argumentsFor(query, place)), query)
    const named = (match: SearchMatch) => ({ ...match, path: place.file === undefined ? joinPath(path, match.path) : path })
    return { matches: matches.map(named), truncated }
  }
}

/** Resolves links in the path and rejects a target outside the root. */
function placeOf(realRoot: string, path: string): Promise<Place> {
  return holding(realRoot, join(realRoot, path), path, async (held) => {
    const real = relativeTo(realRoot, held)
    const stats = await held.stat()
    if (stats.isDirectory()) return { directory: real }
    // A FIFO would block `rg`, and a device could be endless.
    if (!stats.isFile()) throw notRegular(path)
    const slash = real.lastIndexOf('/')
    return { directory: slash === -1 ? '.' : real.slice(0, slash), file: real.slice(slash + 1) }
  })
}

function launcher(program: string, root: string, programs: HostPrograms | undefined): (directory: string, args: string[]) => Launch {
  const readOnlyFiles = program.startsWith('/usr/') ? [] : [program]
  try {
    const sandbox = requireSandbox(root, programs)
    return (directory, args) => sandboxed(sandbox, { root, access: 'read', directory, readOnlyFiles }, {}, [program, ...args])
  } catch (error) {
    if (!(error instanceof SandboxUnavailable)) throw error
    return (directory, args) => ({ file: program, args, env: {}, cwd: join(root, directory) })
  }
}

function argumentsFor({ pattern, include, caseSensitive, maxResults }: SearchQuery, { file }: Place): string[] {
  return [
    ...['--json', '--no-config', '--no-messages', '--no-follow', '--no-ignore', '--hidden', '--sort=path'],
    // One match more than the limit, to detect truncation.
    `--max-count=${maxResults + 1}`,
    caseSensitive ? '--case-sensitive' : '--ignore-case',
    // An explicitly named file is searched even if the glob does not match.
    ...(include === undefined || file !== undefined ? [] : [`--glob=${literalStart(include)}`]),
    ...['--glob=!target/', '--glob=!.git/', '--glob=!node_modules/'],
    `--regexp=${pattern}`,
    '--',
    `./${file ?? ''}`,
  ]
}

/** Escapes the first character of a glob: for `rg`, a leading `!` negates and a leading `#` starts a comment. */
function literalStart(glob: string): string {
  return glob.replace(/^(?:\.?\/)+/, '').replace(/^[!#]/, '\\$&')
}

async function search(launch: Launch, query: SearchQuery): Promise<SearchOutcome> {
  const enough = new AbortController()
  const outcome: SearchOutcome = { matches: [], truncated: false }
  let complaint = ''
  const lines = new LineSplitter((line) => {
    const match = line === undefined ? undefined : readMatch(line)
    if (match !== undefined && outcome.matches.length < query.maxResults) {
      outcome.matches.push(match)
    } else if (match !== undefined) {
      outcome.truncated = true
      enough.abort()
    } else if (line === undefined) {
      outcome.truncated = true
    }
  })
  const end = await runProcess({
    ...launch,
    signal: AbortSignal.any([query.signal, enough.signal]),
    onStdout: (chunk) => lines.push(chunk),
    onStderr: (chunk) => {
      if (complaint.length < longestError) complaint += new TextDecoder().decode(chunk.subarray(0, longestError))
    },
  })
  query.signal.throwIfAborted()
  // Unreadable files are skipped silently, so an error concerns the expression or the glob.
  if (end.reason === 'exit' && end.exitCode !== 0 && complaint !== '' && outcome.matches.length === 0) {
    throw new ToolError('invalidArguments', `Cannot search: ${complaint.trim()}`)
  }
  return outcome
}
