import { lateChunk } from '../../base/late/late-chunk.ts'
import { errorText, ToolError } from '../../contract/errors.ts'

/** What a searcher is asked: what to look for, where, and how much to find. */
export interface SearchQuery {
  /** Regular expression. */
  pattern: string
  /** File or directory in resolved form, relative to the workspace root. */
  path: string
  /** Glob for files. */
  include?: string
  caseSensitive: boolean
  /** Matches overall. */
  maxResults: number
  signal: AbortSignal
}

/** One line of one file in which the pattern occurs. */
export interface SearchMatch {
  /** Relative to the workspace root. */
  path: string
  /** From 1. */
  line: number
  /** The line without its line break. */
  text: string
}

/** What a search found, in order of path and line; `truncated` when there is more than `maxResults`. */
export interface SearchOutcome {
  matches: SearchMatch[]
  truncated: boolean
}

/**
 * Looks through the files of a workspace. The default is `workspaceSearcher`; adapters may use something faster, such as ripgrep.
 *
 * **Contract**
 * - Leaves out `target`, `.git`, `node_modules` and binary files; never takes `pattern`, `path` or `include` for an option.
 * - Rejects with the reason of `query.signal` when that aborts, and leaves nothing running; with `ToolError` `invalidArguments` for a
 *   pattern it cannot use, and with `WorkspaceError` for a path it may not read.
 */
export type Searcher = (query: SearchQuery) => Promise<SearchOutcome>

/** Decides which lines a search finds. */
export interface Matcher {
  /** How many characters of a line are looked at, so that one call stays well under 100 ms. */
  readonly maxLineLength: number
  /** Whether the pattern occurs in `line`; takes time proportional to its length. */
  matches(line: string): boolean
}

const engine = lateChunk('the engine of regular expressions', () => import('re2js'))

const maxSteps = 3_000_000
const maxPatternLength = 1000

/**
 * Compiles a regular expression in RE2 syntax. The engine is loaded on first use and never backtracks, so no pattern can block the thread.
 *
 * **Contract**: rejects with `ToolError` `invalidArguments` for a pattern that is over 1,000 characters, malformed, or uses lookaround or
 * backreferences; with `LoadError` when the engine cannot be had.
 */
export async function compileMatcher(pattern: string, caseSensitive: boolean): Promise<Matcher> {
  if (pattern.length > maxPatternLength) {
    throw new ToolError('invalidArguments', `The pattern is longer than ${maxPatternLength} characters. Shorten it.`)
  }
  const { RE2JS } = engine.loaded ?? (await engine.load())
  try {
    const expression = RE2JS.compile(pattern, caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE)
    // The engine visits every state of the pattern once per character at worst.
    const maxLineLength = Math.max(1000, Math.floor(maxSteps / Math.max(1, expression.programSize())))
    return {
      maxLineLength,
      // The line break keeps `$` from matching where the line was cut.
      matches: (line) => expression.test(line.length > maxLineLength ? `${line.slice(0, maxLineLength)}\n` : line),
    }
  } catch (cause) {
    const advice = 'Lookaround and backreferences are not supported; escape characters such as ( [ { . * + ? to match them literally.'
    throw new ToolError('invalidArguments', `Invalid pattern ${JSON.stringify(pattern)}: ${errorText(cause)}. ${advice}`, { cause })
  }
}
