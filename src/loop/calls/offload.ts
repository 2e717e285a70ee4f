import { lateChunk } from '../../base/late/late-chunk.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { LoopState } from '../loop-state.ts'

const chunk = lateChunk('the offloading of results', () => import('./offload/write-result.ts'))

/** Loads what writes results, before the first of them: a tool whose result is not known has run in vain. */
export function loadOffload({ config }: LoopState): Promise<unknown> | undefined {
  return config.offload === undefined || chunk.loaded !== undefined ? undefined : chunk.load()
}

/** A result with its text in a file and the two ends of it in its place; `undefined` where it is short enough. */
export function offload(loop: LoopState, call: { id: string; name: string }, result: ToolResult): Promise<ToolResult> | undefined {
  const { offload: options } = loop.config
  if (options === undefined) return undefined
  const { over, except = ['read_file', 'search'] } = options
  const length = result.content.reduce((sum, block) => (block.type === 'text' ? sum + block.text.length : sum), 0)
  if (length <= over || except.includes(call.name)) return undefined
  return chunk.load().then(({ writeResult }) => writeResult(loop, call, result, options))
}
