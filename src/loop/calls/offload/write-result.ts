import { AbortScope } from '../../../base/abort.ts'
import { headOf, tailOf } from '../../../base/text/characters.ts'
import { startTimer } from '../../../base/timer.ts'
import { errorText } from '../../../contract/errors.ts'
import { newId } from '../../../contract/message/identity.ts'
import { text, textOf } from '../../../contract/message/message.ts'
import type { ToolResult } from '../../../contract/tool/tool-result.ts'
import type { OffloadOptions, Workspace } from '../../../types/tool/workspace.ts'
import type { LoopState } from '../../loop-state.ts'

/** Maximum characters to show the model: two thirds from the start, one third from the end. */
const mostShown = 3000

/** Timeout for writing a result, in milliseconds. */
const writeTimeoutMs = 30_000

/**
 * Writes the text of `result` to a file and returns a result with its start and end. Never rejects: if writing fails, returns `result`
 * unchanged.
 */
export async function writeResult(
  loop: LoopState,
  { id, name }: { id: string; name: string },
  result: ToolResult,
  { workspace, over }: OffloadOptions,
): Promise<ToolResult> {
  const whole = textOf(result.content)
  // Add a new id, because providers may repeat call ids.
  const path = `tool-results/${safe(name)}-${newId()}.txt`
  try {
    await write(loop, workspace, path, whole)
  } catch (error) {
    // If writing fails, send the long result instead of losing it.
    if (!loop.stop.aborted) loop.log.warn('offloadFailed', { toolCallId: id, toolName: name, path, message: errorText(error) })
    return result
  }
  const left = `[… ${whole.length} characters in all. The whole result is in the file ${path}; read the part you need. …]`
  const third = Math.floor(Math.min(mostShown, over) / 3)
  const shown = text(`${headOf(whole, 2 * third)}\n${left}\n${tailOf(whole, third)}`)
  return { ...result, content: [shown, ...result.content.filter((block) => block.type !== 'text')] }
}

/** Writes the file. A write that exceeds the timeout fails. */
async function write(loop: LoopState, workspace: Workspace, path: string, whole: string): Promise<void> {
  const late = new AbortScope(loop.stop)
  const stopTimer = startTimer(writeTimeoutMs, () => late.abort(new Error('The workspace took too long.')))
  try {
    await late.race(workspace.write(path, new TextEncoder().encode(whole), { signal: late.signal }))
  } finally {
    stopTimer()
    late.release()
  }
}

/** Returns a tool name that is valid in a file name. Models may call tools by any name. */
function safe(name: string): string {
  return name.replace(/[^\w-]+/g, '_').slice(0, 80) || 'call'
}
