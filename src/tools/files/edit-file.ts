import { aWorkspace } from '../../base/argument-checks.ts'
import { utf8In } from '../../base/text/characters.ts'
import { ToolError, WorkspaceError } from '../../contract/errors.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { options as optionsOf, required } from '../../contract/shape/shape.ts'
import type { AgentTool } from '../../types/tool/tool.ts'
import type { Workspace } from '../../types/tool/workspace.ts'
import { accessError } from '../../workspace/workspace-rules.ts'
import { checkCancelled } from '../deadline.ts'
import { defineTool } from '../define-tool.ts'
import { countLines, similarText } from './edit-text.ts'
import { differsInLineEnds, fitLineEnds, placeOf } from './line-ends.ts'

/** Options for `editFileTool`. */
export interface EditFileOptions {
  workspace: Workspace
}

/** Arguments of `edit_file`. */
export interface EditFileArgs {
  path: string
  old_text: string
  new_text: string
}

const maxBytes = 20 * 1024 * 1024

const editFileToolOptions = optionsOf<EditFileOptions>({ workspace: required(aWorkspace) })

/**
 * Creates `edit_file`, which replaces the only occurrence of `old_text` with `new_text`.
 *
 * **Contract**
 * - Fails without writing if `old_text` is missing (with a hint at similar text) or occurs more than once. Also fails if the file changed
 *   since it was read.
 * - Preserves line endings: LF in `old_text` also matches CRLF. `new_text` gets the line endings of the replaced text, or else of adjacent
 *   lines.
 * - Edits only UTF-8 text up to 20 MiB. Preserves a byte order mark.
 * - Returns `Replaced a line(s) with b line(s) in P`. `details` is `{ path, old_lines, new_lines }`.
 *
 * Source: docs/guides/files-and-bash.md
 */
export function editFileTool(options: EditFileOptions): AgentTool {
  checkOptions(options, editFileToolOptions)
  const { workspace } = options
  return defineTool<EditFileArgs>({
    name: 'edit_file',
    label: 'Edit File',
    description:
      'Replace text in a file. old_text must occur exactly once and match exactly, whitespace and indentation included; new_text replaces it.',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'File to edit, relative to the workspace root' },
        old_text: { type: 'string', minLength: 1, description: 'Text to find; must be unique in the file' },
        new_text: { type: 'string', description: 'Replacement text' },
      },
      required: ['path', 'old_text', 'new_text'],
    },
    async execute(args, { signal }) {
      const { path, old_text: oldText, new_text: newText } = args
      const { content, edited, version } = await plannedEdit(workspace, args, signal)
      const counts = { path, old_lines: countLines(oldText), new_lines: countLines(newText) }
      if (edited === content) return { content: [{ type: 'text', text: unchangedText(oldText, newText) }], details: counts }
      await save(workspace, path, edited, version, signal)
      const text = `Replaced ${counts.old_lines} line(s) with ${counts.new_lines} line(s) in ${path}`
      return { content: [{ type: 'text', text }], details: counts }
    },
  })
}

/** Returns the file's text and version, and the edited text, without writing. Throws the tool's errors. */
export async function plannedEdit(
  workspace: Workspace,
  { path, old_text: oldText, new_text: newText }: EditFileArgs,
  signal: AbortSignal,
): Promise<{ content: string; edited: string; version: string }> {
  checkCancelled(signal)
  if (oldText === '') throw new ToolError('invalidArguments', 'old_text must not be empty. Use write_file to fill an empty file.')
  const { content, version } = await load(workspace, path, signal)
  checkCancelled(signal)
  return { content, edited: replaceOnce(path, content, oldText, newText), version }
}

function replaceOnce(path: string, content: string, oldText: string, newText: string): string {
  const place = placeOf(content, oldText)
  if (place.count === 0) throw new ToolError('failed', notFoundText(path, content, oldText))
  if (place.count > 1) {
    const advice = 'Include more surrounding context to make the match unique.'
    throw new ToolError('failed', `old_text matches ${place.count} locations in ${path}. ${advice}`)
  }
  return content.slice(0, place.first) + fitLineEnds(content, place, newText) + content.slice(place.first + place.length)
}

function unchangedText(oldText: string, newText: string): string {
  if (oldText === newText) return 'No changes (old_text == new_text)'
  return 'No changes: the texts differ only in line ends, which edit_file keeps. Use write_file to change them.'
}

function notFoundText(path: string, content: string, oldText: string): string {
  if (differsInLineEnds(content, oldText)) {
    const advice = 'Write the line ends of old_text as \\n, which matches both.'
    return `old_text is in ${path}, but with other line ends: it has CRLF where the file has LF. ${advice}`
  }
  const similar = similarText(content, oldText)
  if (similar === undefined) return `old_text not found in ${path}.\n\nTip: Use read_file to see the current contents of the file.`
  return `old_text not found in ${path}.\n\nDid you mean:\n\`\`\`\n${similar}\n\`\`\`\nIt must match exactly, whitespace and indentation included.`
}

async function load(workspace: Workspace, path: string, signal: AbortSignal): Promise<{ content: string; version: string }> {
  try {
    // Read the version before the bytes, so that the write fails if the file changed in between.
    const { size, version } = await workspace.stat(path, { signal })
    if (size > maxBytes) throw new ToolError('failed', `File too large (${size} bytes, max ${maxBytes}). Use write_file or a script.`)
    const content = utf8In(await workspace.read(path, { signal }), { withMark: true })
    if (content === undefined) throw new ToolError('failed', `${path} is not UTF-8 text and cannot be edited.`)
    return { content, version }
  } catch (error) {
    checkCancelled(signal)
    if (!(error instanceof WorkspaceError)) throw error
    const advice = error.code === 'notFound' ? ' Use write_file to create new files.' : ` ${error.message}`
    throw new ToolError(error.code === 'notFound' ? 'notFound' : 'failed', `Cannot read ${path}.${advice}`, { cause: error })
  }
}

async function save(workspace: Workspace, path: string, content: string, version: string, signal: AbortSignal): Promise<void> {
  try {
    await workspace.write(path, new TextEncoder().encode(content), { ifMatch: version, signal })
  } catch (error) {
    checkCancelled(signal)
    if (!(error instanceof WorkspaceError) || error.code !== 'conflict') throw accessError(`Cannot write ${path}`, error)
    throw new ToolError('failed', `${path} changed during the edit, so nothing was written. Read it again and retry.`, {
      cause: error,
    })
  }
}
