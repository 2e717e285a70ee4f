import { lateChunk } from '../../base/late/late-chunk.ts'
import { errorText, ToolError } from '../../contract/errors.ts'

/** Search query: the pattern, the files to search, and limits. */
export interface SearchQuery {
  /** Regular expression. */
  pattern: string
  /** Resolved file or directory path, relative to the workspace root. */
  path: string
  /** Glob for files. */
  include?: string
  caseSensitive: boolean
  /** Maximum matches overall. */
  maxResults: number
  signal: AbortSignal
}

/** A line that matches a query. */
export interface SearchMatch {
  /** Relative to the workspace root. */
  path: string
  /** Line number, from 1. */
  line: number
  /** The line's text, without the line break. */
  text: string
}

/** Matches ordered by path and line. `truncated` is true if there are more than `maxResults`. */
export interface SearchOutcome {
  matches: SearchMatch[]
  truncated: boolean
}

/**
 * Searches the files of a workspace. Default: `workspaceSearcher`. Adapters may use a faster searcher, such as ripgrep.
 *
 * **Contract**
 * - Skips `target`, `.git`, `node_modules` and binary files. Never interprets `pattern`, `path` or `include` as a command-line option.
 * - If `query.signal` aborts, rejects with its reason and stops all work.
 * - Rejects with `ToolError` `invalidArguments` for an unsupported pattern, and with `WorkspaceError` for a path that it is not allowed to
 *   read.
 */
export type Searcher = (query: SearchQuery) => Promise<SearchOutcome>

/** Tests lines against a pattern. */
export interface Matcher {
  /** Maximum characters to test per line, so that one call takes well under 100 ms. */
  readonly maxLineLength: number
  /** Returns whether the pattern occurs in `line`. Takes linear time. */
  matches(line: string): boolean
}

const engine = lateChunk('the engine of regular expressions', () => import('re2js'))

const maxSteps = 3_000_000
const maxPatternLength = 1000

/**
 * Compiles a regular expression in RE2 syntax. The engine is loaded on first use and never backtracks, so no pattern can block the
 * thread.
 *
 * **Contract**
 * - Rejects with `ToolError` `invalidArguments` for a malformed pattern, or a pattern over 1,000 characters or with lookaround or
 *   backreferences.
 * - Rejects with `LoadError` if the engine cannot be loaded.
 */
export async function compileMatcher(pattern: string, caseSensitive: boolean): Promise<Matcher> {
  if (pattern.length > maxPatternLength) {
    throw new ToolError('invalidArguments', `The pattern is longer than ${maxPatternLength} characters. Shorten it.`)
  }
  const { RE2JS } = engine.loaded ?? (await engine.load())
  try {
    const expression = RE2JS.compile(pattern, caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE)
    // In the worst case the engine visits every state of the pattern once per character.
    const maxLineLength = Math.max(1000, Math.floor(maxSteps / Math.max(1, expression.programSize())))
    return {
      maxLineLength,
      // Keep the line break, so that `$` does not match at the cut.
      matches: (line) => expression.test(line.length > maxLineLength ? `${line.slice(0, maxLineLength)}\n` : line),
    }
  } catch (cause) {
    const advice = 'Lookaround and backreferences are not supported; escape characters such as ( [ { . * + ? to match them literally.'
    throw new ToolError('invalidArguments', `Invalid pattern ${JSON.stringify(pattern)}: ${errorText(cause)}. ${advice}`, { cause })
  }
}
