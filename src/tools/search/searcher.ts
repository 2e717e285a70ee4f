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
