import { aWorkspace } from '../../base/argument-checks.ts'
import { toBase64 } from '../../base/base64.ts'
import { ToolError } from '../../contract/errors.ts'
import { defaultMaxMediaBytes, isMediaOf, typeByBytes, typeByName } from '../../contract/message/media.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aPositiveNumber, options as optionsOf, required } from '../../contract/shape/shape.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { AgentTool } from '../../types/tool/tool.ts'
import type { Workspace, WorkspaceStat } from '../../types/tool/workspace.ts'
import { accessError, nameOfPath } from '../../workspace/workspace-rules.ts'
import { checkCancelled } from '../deadline.ts'
import { defineTool } from '../define-tool.ts'
import { LinePage } from './line-page.ts'
import { isBinary, readLines } from './text-lines.ts'

/** Options for `readFileTool`. */
export interface ReadFileOptions {
  workspace: Workspace
  /** Maximum bytes of text per call. Default: 1 MiB. */
  maxBytes?: number
}

interface ReadFileArgs {
  path: string
  offset?: number
  limit?: number
}

/** MIME types that are returned as media instead of text. */
const shownTypes = ['image/*', 'application/pdf']

const readFileToolOptions = optionsOf<ReadFileOptions>({ workspace: required(aWorkspace), maxBytes: aPositiveNumber })

/**
 * Creates `read_file`, which returns a text file with line numbers, an image or a PDF.
 *
 * **Contract**
 * - Text: `[N lines]` or `[Lines a-b of N]`, then `   1 | first line`. Files over `maxBytes` need `offset` or `limit`. Such files are read
 *   in ranges, with bounded memory and only up to the last requested line, so the header says `of more than b`.
 * - Images (png, jpg, gif, webp, bmp) and PDFs are recognized by extension, up to 20 MiB. A model that does not support them gets a note
 *   instead. Other binary files fail. Invalid UTF-8 becomes U+FFFD.
 * - `details` is `{ path }`, or `{ path, bytes }` for images and PDFs.
 *
 * Source: docs/guides/files-and-bash.md
 */
export function readFileTool(options: ReadFileOptions): AgentTool {
  checkOptions(options, readFileToolOptions)
  const { workspace, maxBytes = 1024 * 1024 } = options
  return defineTool<ReadFileArgs>({
    name: 'read_file',
    label: 'Read File',
    description: 'Read a text file with line numbers, an image or a PDF. Use offset and limit to read part of a large file.',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'File to read, relative to the workspace root' },
        offset: { type: 'integer', minimum: 1, description: 'First line to read, counted from 1' },
        limit: { type: 'integer', minimum: 1, description: 'Number of lines to read' },
      },
      required: ['path'],
    },
    idempotent: true,
    async execute(args, { signal }) {
      checkCancelled(signal)
      try {
        const stat = await workspace.stat(args.path, { signal })
        checkCancelled(signal)
        if (stat.kind === 'directory') throw new ToolError('failed', `${args.path} is a directory. Use list_files to see what is in it.`)
        const mimeType = typeByName(args.path) ?? ''
        if (isMediaOf(mimeType, shownTypes)) return await readMedia(workspace, args.path, stat, mimeType, signal)
        return await readText(workspace, args, stat, maxBytes, signal)
      } catch (error) {
        checkCancelled(signal)
        throw accessError(`Cannot access ${args.path}`, error)
      }
    },
  })
}

async function readMedia(
  workspace: Workspace,
  path: string,
  stat: WorkspaceStat,
  mimeType: string,
  signal: AbortSignal,
): Promise<ToolResult> {
  const isPdf = mimeType === 'application/pdf'
  if (stat.size > defaultMaxMediaBytes) {
    throw new ToolError('failed', `${isPdf ? 'PDF' : 'Image'} too large (${Math.ceil(stat.size / 1024 / 1024)}MB, max 20MB)`)
  }
  const bytes = await workspace.read(path, { signal })
  const data = toBase64(bytes)
  const details = { path, bytes: bytes.length }
  const byBytes = typeByBytes(data)
  if (!isPdf) return { content: [{ type: 'image', data, mimeType: byBytes?.startsWith('image/') === true ? byBytes : mimeType }], details }
  if (byBytes !== mimeType) throw new ToolError('failed', `${path} is not a PDF: it lacks the PDF signature.`)
  return { content: [{ type: 'file', data, mimeType, name: nameOfPath(path) }], details }
}

async function readText(
  workspace: Workspace,
  { path, offset = 1, limit = Number.POSITIVE_INFINITY }: ReadFileArgs,
  { size }: WorkspaceStat,
  maxBytes: number,
  signal: AbortSignal,
): Promise<ToolResult> {
  const isLarge = size > maxBytes
  if (isLarge && offset === 1 && limit === Number.POSITIVE_INFINITY) {
    throw new ToolError('failed', `File too large (${size} bytes, max ${maxBytes}). Use offset/limit for partial reads.`)
  }
  if (await isBinary(workspace, path, signal)) {
    throw new ToolError('failed', `${path} is a binary file (${size} bytes) and cannot be shown as text.`)
  }
  const page = new LinePage(offset, limit, maxBytes)
  let isComplete = true
  for await (const batch of readLines({ workspace, path, size, signal, maxLineLength: maxBytes })) {
    page.add(batch)
    isComplete = batch.isLast
    // Stop early only in large files. Read small files to the end to count their lines.
    if (page.isFull && isLarge) break
  }
  if (page.isPastEnd) throw new ToolError('invalidArguments', `offset ${offset} is past the end of ${path} (${page.seen} lines).`)
  return { content: [{ type: 'text', text: page.text(isComplete) }], details: { path } }
}
