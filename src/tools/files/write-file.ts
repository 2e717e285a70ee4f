import { aWorkspace } from '../../base/argument-checks.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { options as optionsOf, required } from '../../contract/shape/shape.ts'
import type { AgentTool } from '../../types/tool/tool.ts'
import type { Workspace } from '../../types/tool/workspace.ts'
import { accessError } from '../../workspace/workspace-rules.ts'
import { checkCancelled } from '../deadline.ts'
import { defineTool } from '../define-tool.ts'

/** Options for `writeFileTool`. */
export interface WriteFileOptions {
  workspace: Workspace
}

const writeFileToolOptions = optionsOf<WriteFileOptions>({ workspace: required(aWorkspace) })

/**
 * Creates `write_file`, which writes a whole text file as UTF-8 and creates parent directories.
 *
 * **Contract**: returns `Wrote N bytes to P`. `details` is `{ path, bytes }`. Replaces an existing file.
 *
 * Source: docs/guides/files-and-bash.md
 */
export function writeFileTool(options: WriteFileOptions): AgentTool {
  checkOptions(options, writeFileToolOptions)
  const { workspace } = options
  return defineTool<{ path: string; content: string }>({
    name: 'write_file',
    label: 'Write File',
    description:
      'Write a whole file and create its parent directories. Replaces an existing file. To change part of a file, use edit_file.',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'File to write, relative to the workspace root' },
        content: { type: 'string', description: 'The complete new content' },
      },
      required: ['path', 'content'],
    },
    async execute({ path, content }, { signal }) {
      checkCancelled(signal)
      try {
        const bytes = new TextEncoder().encode(content)
        await workspace.write(path, bytes, { signal })
        return {
          content: [{ type: 'text', text: `Wrote ${bytes.length} bytes to ${path}` }],
          details: { path, bytes: bytes.length },
        }
      } catch (error) {
        checkCancelled(signal)
        throw accessError(`Cannot write ${path}`, error)
      }
    },
  })
}
