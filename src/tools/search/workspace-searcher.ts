import { breathe } from '../../base/timer.ts'
import { WorkspaceError } from '../../contract/errors.ts'
import type { Workspace } from '../../types/tool/workspace.ts'
import { isBinary, readLines } from '../files/text-lines.ts'
import { compileGlob } from './glob.ts'
import { compileMatcher, type Matcher, type Searcher, type SearchMatch, type SearchOutcome, type SearchQuery } from './searcher.ts'
import { relativeTo, walkFiles } from './walk-files.ts'

/** Characters searched between yields to timers. A few milliseconds for a common pattern. */
const charactersPerBreath = 256 * 1024

/** State of one search. */
interface Search {
  workspace: Workspace
  query: SearchQuery
  matcher: Matcher
  found: SearchMatch[]
  /** Characters since the last yield. */
  work: number
}

/**
 * Creates a `Searcher` that needs only a workspace. Uses RE2 and reads files in ranges.
 *
 * **Contract**: searches only the start of lines that are too long to match without blocking (at least tens of thousands of characters).
 * Skips files that are deleted during the search or cannot be read.
 */
export function workspaceSearcher(workspace: Workspace): Searcher {
  return async (query) => {
    const matcher = await compileMatcher(query.pattern, query.caseSensitive)
    const search: Search = { workspace, query, matcher, found: [], work: 0 }
    const isWanted = query.include === undefined ? () => true : compileGlob(query.include)
    const { kind } = await workspace.stat(query.path, { signal: query.signal })
    if (kind === 'file') {
      await searchFile(search, query.path)
      return outcome(search)
    }
    for await (const file of walkFiles({ workspace, path: query.path, maxDepth: Number.POSITIVE_INFINITY, signal: query.signal })) {
      if (isWanted(relativeTo(query.path, file))) await searchOrSkip(search, file)
      if (isFull(search)) break
    }
    return outcome(search)
  }
}

/** Collects one match more than the limit, to detect truncation. */
function isFull({ found, query }: Search): boolean {
  return found.length > query.maxResults
}

function outcome(search: Search): SearchOutcome {
  return { matches: search.found.slice(0, search.query.maxResults), truncated: isFull(search) }
}

async function searchOrSkip(search: Search, path: string): Promise<void> {
  try {
    await searchFile(search, path)
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error
  }
}

async function searchFile(search: Search, path: string): Promise<void> {
  const { workspace, matcher } = search
  const { signal } = search.query
  const { size } = await workspace.stat(path, { signal })
  if (await isBinary(workspace, path, signal)) return
  // Keep one extra character, so that the matcher can tell that the line continues.
  for await (const { first, lines } of readLines({ workspace, path, size, signal, maxLineLength: matcher.maxLineLength + 1 })) {
    for (const [index, text] of lines.entries()) {
      search.work += text.length + 1
      if (search.work > charactersPerBreath || search.work > matcher.maxLineLength) {
        search.work = 0
        await breathe(signal)
      }
      if (matcher.matches(text)) search.found.push({ path, line: first + index, text })
      if (isFull(search)) return
    }
  }
}
