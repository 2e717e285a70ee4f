import { join } from 'node:path'
import { ToolError } from '../../../src/index.ts'
import { resolvePath } from '../../../src/workspace/path.ts'
import { type Launch, sandboxed } from '../bash/launch.ts'
import { requireBubblewrap, SandboxUnavailable } from '../bash/sandbox.ts'
import { findExecutable } from '../find-executable.ts'
import { runProcess } from '../process/run-process.ts'
import { translated } from '../workspace/fs-errors.ts'
import { realDirectory } from '../workspace/node-workspace.ts'
import { holding, relativeTo } from '../workspace/pin.ts'
import { LineSplitter } from './line-splitter.ts'
import { type RipgrepMatch, readMatch } from './read-match.ts'

export interface RipgrepQuery {
  pattern: string
  path: string
  include?: string
  caseSensitive: boolean
  maxResults: number
  signal: AbortSignal
}

export interface RipgrepResult {
  matches: RipgrepMatch[]
  truncated: boolean
}

// Milliseconds; the search tool's own limit is the same.
const timeoutMs = 30_000
const longestError = 2000

/**
 * Search with the `rg` of this machine, for the port of the portable `search` tool; undefined where there is none.
 *
 * **Contract**
 * - Searches under `path` inside `root`, in path order, links not followed, no configuration file read. What is searched for is never taken
 *   for an option. Where bubblewrap works, `rg` runs in its sandbox and sees nothing but `root`.
 * - Keeps `maxResults` matches of at most 1 MiB each, then kills `rg`; also on abort, which rejects with the signal's reason.
 * - Rejects with `ToolError` `failed` for what `rg` refuses (a malformed expression), `timeout` after 30 s; `WorkspaceError` for `path`.
 *
 * Source: spec/27 "SearchTool", reference/reliability.md §5, 28–30.
 */
export function ripgrepSearcher(root: string): ((query: RipgrepQuery) => Promise<RipgrepResult>) | undefined {
  const program = findExecutable('rg')
  if (program === undefined) return undefined
  const realRoot = realDirectory(root)
  const launch = launcher(program, realRoot)
  return async (query) => {
    query.signal.throwIfAborted()
    const inside = resolvePath(query.path)
    // What a link on the way leads to; the sandbox knows no links to absolute paths of the host.
    const place = await translated(inside, 'search', query.signal, () =>
      holding(realRoot, join(realRoot, inside), inside, async (held) => relativeTo(realRoot, held)),
    )
    return search(launch(argumentsFor(query, place)), query)
  }
}

function launcher(program: string, root: string): (args: string[]) => Launch {
  const direct = (args: string[]): Launch => ({ file: program, args, env: {}, cwd: root })
  try {
    requireBubblewrap()
  } catch (error) {
    if (error instanceof SandboxUnavailable) return direct
    throw error
  }
  const readOnlyFiles = program.startsWith('/usr/') ? [] : [program]
  return (args) => sandboxed({ root, access: 'read', readOnlyFiles }, {}, [program, ...args])
}

function argumentsFor({ pattern, include, caseSensitive, maxResults }: RipgrepQuery, place: string): string[] {
  return [
    ...['--json', '--no-config', '--no-follow', '--no-ignore-parent', '--no-ignore-global', '--sort=path', '--color=never'],
    // One more than is kept, to know that there are more.
    `--max-count=${maxResults + 1}`,
    caseSensitive ? '--case-sensitive' : '--ignore-case',
    ...(include === undefined ? [] : [`--glob=${include}`]),
    `--regexp=${pattern}`,
    '--',
    place === '.' ? './' : `./${place}`,
  ]
}

async function search(launch: Launch, query: RipgrepQuery): Promise<RipgrepResult> {
  const enough = new AbortController()
  const matches: RipgrepMatch[] = []
  let truncated = false
  let complaint = ''
  const lines = new LineSplitter((line) => {
    const match = line === undefined ? undefined : readMatch(line)
    // A dropped line held a match that is too long to show.
    if (match === undefined) truncated ||= line === undefined
    else if (matches.length < query.maxResults) matches.push(match)
    else {
      truncated = true
      enough.abort()
    }
  })
  const end = await runProcess({
    ...launch,
    timeoutMs,
    signal: AbortSignal.any([query.signal, enough.signal]),
    onStdout: (chunk) => lines.push(chunk),
    onStderr: (chunk) => {
      if (complaint.length < longestError) complaint += new TextDecoder().decode(chunk.subarray(0, longestError))
    },
  })
  query.signal.throwIfAborted()
  if (end.reason === 'timeout') throw new ToolError('timeout', 'Search timed out')
  // 2 with matches: some files could not be read, the rest was searched.
  if (end.reason === 'exit' && end.exitCode !== 0 && end.exitCode !== 1 && matches.length === 0) {
    throw new ToolError('failed', complaint.trim() || `rg ended with exit code ${end.exitCode}`)
  }
  return { matches, truncated }
}
