import { aWorkspace } from '../../base/argument-checks.ts'
import { escapeName, shortened } from '../../base/text/characters.ts'
import { WorkspaceError } from '../../contract/errors.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aFunction, aPositiveNumber, options as optionsOf, required } from '../../contract/shape/shape.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { AgentTool } from '../../types/tool/tool.ts'
import type { Workspace } from '../../types/tool/workspace.ts'
import { accessError, resolvePath } from '../../workspace/workspace-rules.ts'
import { withDeadline } from '../deadline.ts'
import { defineTool } from '../define-tool.ts'
import type { Searcher, SearchOutcome } from './searcher.ts'
import { workspaceSearcher } from './workspace-searcher.ts'

/** Options for `searchTool`. */
export interface SearchToolOptions {
  workspace: Workspace
  /** Maximum matches over all files. Default: 50. */
  maxResults?: number
  /** Timeout in milliseconds. Default: 30,000. */
  timeoutMs?: number
  /** The search implementation. Default: `workspaceSearcher(workspace)`. */
  searcher?: Searcher
}

interface SearchArgs {
  pattern: string
  path?: string
  include?: string
  case_sensitive?: boolean
}

const maxLineShown = 500

const searchToolOptions = optionsOf<SearchToolOptions>({
  workspace: required(aWorkspace),
  maxResults: aPositiveNumber,
  timeoutMs: aPositiveNumber,
  searcher: aFunction,
})

/**
 * Creates `search`, which returns lines that match a regular expression.
 *
 * **Contract**
 * - One line per match, `{file}:{line}:{text}`, ordered by path and line. Long lines are cut. Ignores case unless `case_sensitive` is set.
 * - Ends with `(N matches)`, or `... (showing first M matches)`. Without matches, returns `No matches found for 'p'`.
 * - `details` is `{ matches, truncated }`. `matches` is the number shown.
 *
 * Source: docs/guides/files-and-bash.md
 */
export function searchTool(options: SearchToolOptions): AgentTool {
  checkOptions(options, searchToolOptions)
  const { workspace, maxResults = 50, timeoutMs = 30_000, searcher = workspaceSearcher(workspace) } = options
  return defineTool<SearchArgs>({
    name: 'search',
    label: 'Search',
    description: 'Search file contents with a regular expression. Returns file:line:text for each matching line.',
    parameters: {
      type: 'object',
      properties: {
        pattern: { type: 'string', minLength: 1, description: 'Regular expression (RE2 syntax: no lookaround, no backreferences)' },
        path: { type: 'string', description: 'Directory or file, relative to the workspace root. Default: the root' },
        include: { type: 'string', description: 'Glob pattern that filters files, for example *.ts' },
        case_sensitive: { type: 'boolean', description: 'Default: false' },
      },
      required: ['pattern'],
    },
    idempotent: true,
    async execute({ pattern, path = '.', include, case_sensitive: caseSensitive = false }, ctx) {
      const run = async (signal: AbortSignal) => {
        const query = { pattern, path: resolvePath(path), caseSensitive, maxResults, signal }
        return searcher(include === undefined ? query : { ...query, include })
      }
      try {
        return report(pattern, await withDeadline(ctx.signal, timeoutMs, 'Search timed out', run))
      } catch (error) {
        throw error instanceof WorkspaceError ? accessError(`Cannot search ${path}`, error) : error
      }
    },
  })
}

function report(pattern: string, { matches, truncated }: SearchOutcome): ToolResult {
  const details = { matches: matches.length, truncated }
  if (matches.length === 0) return { content: [{ type: 'text', text: `No matches found for '${pattern}'` }], details }
  const lines = matches.map((match) => `${escapeName(match.path)}:${match.line}:${cut(match.text)}`)
  const count = truncated ? `... (showing first ${matches.length} matches)` : `(${matches.length} matches)`
  return { content: [{ type: 'text', text: `${lines.join('\n')}\n\n${count}` }], details }
}

function cut(text: string): string {
  return shortened(text, maxLineShown)
}
