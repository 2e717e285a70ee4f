import { aWorkspace } from '../../base/argument-checks.ts'
import { escapeName } from '../../base/text/characters.ts'
import { ToolError, WorkspaceError } from '../../contract/errors.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aPositiveNumber, options as optionsOf, required } from '../../contract/shape/shape.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { AgentTool } from '../../types/tool/tool.ts'
import type { Workspace } from '../../types/tool/workspace.ts'
import { accessError, resolvePath } from '../../workspace/workspace-rules.ts'
import { withDeadline } from '../deadline.ts'
import { defineTool } from '../define-tool.ts'
import { compileGlob } from '../search/glob.ts'
import { relativeTo, walkFiles } from '../search/walk-files.ts'

/** Options for `listFilesTool`. */
export interface ListFilesOptions {
  workspace: Workspace
  /** Maximum files in the result. Default: 200. */
  maxResults?: number
  /** Timeout in milliseconds. Default: 10,000. */
  timeoutMs?: number
}

interface ListFilesArgs {
  path?: string
  pattern?: string
  max_depth?: number
}

const listFilesToolOptions = optionsOf<ListFilesOptions>({
  workspace: required(aWorkspace),
  maxResults: aPositiveNumber,
  timeoutMs: aPositiveNumber,
})

/**
 * Creates `list_files`, which lists files below a directory, optionally filtered by a glob.
 *
 * **Contract**
 * - Lists only files, with paths relative to the workspace root, up to `max_depth` levels deep (default: 3). Skips `target`, `.git` and
 *   `node_modules`. Escapes characters that break or reorder lines.
 * - Ends with `(N files)`, or `... (N files, showing first M)`; N counts all files found.
 * - `details` is `{ total, truncated }`. `total` is N.
 *
 * Source: docs/guides/files-and-bash.md
 */
export function listFilesTool(options: ListFilesOptions): AgentTool {
  checkOptions(options, listFilesToolOptions)
  const { workspace, maxResults = 200, timeoutMs = 10_000 } = options
  return defineTool<ListFilesArgs>({
    name: 'list_files',
    label: 'List Files',
    description: 'List files below a directory, optionally filtered by a glob such as *.ts or src/**/*.test.ts.',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Directory, relative to the workspace root. Default: the root' },
        pattern: {
          type: 'string',
          description: 'Glob pattern. Without "/" it matches file names, with "/" it matches paths relative to the directory',
        },
        max_depth: { type: 'integer', minimum: 1, description: 'Maximum directory depth. Default: 3' },
      },
    },
    idempotent: true,
    async execute({ path = '.', pattern, max_depth: maxDepth = 3 }, ctx) {
      const isWanted = pattern === undefined ? () => true : compileGlob(pattern)
      const collect = async (signal: AbortSignal): Promise<ToolResult> => {
        const directory = resolvePath(path)
        const shown: string[] = []
        let total = 0
        for await (const file of walkFiles({ workspace, path: directory, maxDepth, signal })) {
          if (!isWanted(relativeTo(directory, file))) continue
          total += 1
          if (shown.length < maxResults) shown.push(escapeName(file))
        }
        return { content: [{ type: 'text', text: listing(path, shown, total) }], details: { total, truncated: total > shown.length } }
      }
      try {
        return await withDeadline(ctx.signal, timeoutMs, 'Listing timed out', collect)
      } catch (error) {
        throw directoryError(path, error)
      }
    },
  })
}

function listing(path: string, shown: readonly string[], total: number): string {
  if (total === 0) return `No files found in ${escapeName(path)}`
  const count = total > shown.length ? `... (${total} files, showing first ${shown.length})` : `(${total} files)`
  return `${shown.join('\n')}\n\n${count}`
}

function directoryError(path: string, error: unknown): unknown {
  if (!(error instanceof WorkspaceError)) return error
  if (error.code === 'notFound') {
    return new ToolError('notFound', `Directory not found: ${path}. Check the path and try again.`, { cause: error })
  }
  return accessError(`Cannot list ${path}`, error)
}
