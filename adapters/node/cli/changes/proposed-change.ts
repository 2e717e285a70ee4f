import { utf8In } from '../../../../src/base/text/characters.ts'
import { type JsonObject, ToolError } from '../../../../src/index.ts'
import { plannedEdit } from '../../../../src/internal.ts'
import { type Workspace, WorkspaceError } from '../../../../src/tools.ts'

/** The change that a call would make to a file. */
export interface ProposedChange {
  path: string
  /** The current content. Absent if there is no file. */
  before?: string
  after: string
  /** Whether the current content is not text. If so, `before` is empty. */
  isBinary?: boolean
}

/** A change, or the reason why there is none. Also contains the file version that it is based on, or `null` if the file does not exist. */
export interface Proposal {
  path: string
  version: string | null
  change?: ProposedChange
  fault?: string
}

/** Tools that change one file, by name. */
const editingTools: ReadonlySet<string> = new Set(['write_file', 'edit_file'])

/** Returns whether a tool edits a single file, whose path is one of its arguments. */
export function isEditing(toolName: string): boolean {
  return editingTools.has(toolName)
}

/** Returns the change that an editing tool would make in `workspace`, without writing it. Rejects with the reason when `signal` aborts. */
export async function proposalOf(
  toolName: string,
  { path, content, old_text: oldText, new_text: newText }: JsonObject,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<Proposal | undefined> {
  if (typeof path !== 'string') return undefined
  try {
    if (toolName === 'write_file' && typeof content === 'string') return await written(path, content, workspace, signal)
    if (toolName !== 'edit_file' || typeof oldText !== 'string' || typeof newText !== 'string') return undefined
    const planned = await plannedEdit(workspace, { path, old_text: oldText, new_text: newText }, signal)
    return { path, version: planned.version, change: { path, before: planned.content, after: planned.edited } }
  } catch (error) {
    signal.throwIfAborted()
    if (!ToolError.isInstance(error) && !WorkspaceError.isInstance(error)) throw error
    return { path, version: await versionOf(path, workspace, signal), fault: error.message }
  }
}

async function written(path: string, after: string, workspace: Workspace, signal: AbortSignal): Promise<Proposal> {
  const version = await versionOf(path, workspace, signal)
  if (version === null) return { path, version, change: { path, after } }
  const before = utf8In(await workspace.read(path, { signal }), { withMark: true })
  return { path, version, change: before === undefined ? { path, before: '', after, isBinary: true } : { path, before, after } }
}

/** `null` if the file does not exist or must not be read. */
export async function versionOf(path: string, workspace: Workspace, signal: AbortSignal): Promise<string | null> {
  try {
    return (await workspace.stat(path, { signal })).version
  } catch (error) {
    signal.throwIfAborted()
    if (WorkspaceError.isInstance(error)) return null
    throw error
  }
}
