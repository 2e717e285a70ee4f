import { headOf, tailOf } from '../../base/text/whole-characters.ts'
import { errorText } from '../../contract/errors.ts'
import { newId } from '../../contract/message/ids.ts'
import { text, textOf } from '../../contract/message/message.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { Workspace } from '../../types/tool/workspace.ts'
import type { LoopState } from '../loop-state.ts'

/** Characters of the beginning and of the end that the model is shown. */
const shownHead = 2000
const shownTail = 1000

/** A result with its text in a file and the two ends of it in its place; `undefined` where it is short enough. */
export function offload(loop: LoopState, call: { id: string; name: string }, result: ToolResult): Promise<ToolResult> | undefined {
  const { offload: options } = loop.config
  if (options === undefined) return undefined
  const { over, workspace, except = ['read_file', 'search'] } = options
  const length = result.content.reduce((sum, block) => (block.type === 'text' ? sum + block.text.length : sum), 0)
  return length <= over || except.includes(call.name) ? undefined : written(loop, call, result, workspace)
}

async function written(
  loop: LoopState,
  { id, name }: { id: string; name: string },
  result: ToolResult,
  workspace: Workspace,
): Promise<ToolResult> {
  const whole = textOf(result.content)
  // Services give the same ids again and again.
  const path = `tool-results/${safe(name)}-${newId()}.txt`
  try {
    await loop.stop.race(workspace.write(path, new TextEncoder().encode(whole), { signal: loop.stop.signal }))
  } catch (error) {
    // Too long is better than lost.
    if (!loop.stop.aborted) loop.warn('offloadFailed', { toolCallId: id, toolName: name, path, message: errorText(error) })
    return result
  }
  const left = `[… ${whole.length} characters in all. The whole result is in the file ${path}; read the part you need. …]`
  const shown = text(`${headOf(whole, shownHead)}\n${left}\n${tailOf(whole, shownTail)}`)
  return { ...result, content: [shown, ...result.content.filter((block) => block.type !== 'text')] }
}

/** Models may write any name. */
function safe(name: string): string {
  return name.replace(/[^\w-]+/g, '_').slice(0, 80) || 'call'
}
