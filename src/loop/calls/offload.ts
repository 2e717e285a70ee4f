import { lateChunk } from '../../base/late/late-chunk.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { LoopState } from '../loop-state.ts'

const chunk = lateChunk('the offloading of results', () => import('./offload/write-result.ts'))

/** Loads the offloading chunk before the first result, because a failed load afterwards would lose the result. */
export function loadOffload({ config }: LoopState): Promise<unknown> | undefined {
  return config.offload === undefined || chunk.loaded !== undefined ? undefined : chunk.load()
}

/** Writes a long result to a file and returns its start and end as the result. Returns `undefined` if the result is short enough. */
export function offload(loop: LoopState, call: { id: string; name: string }, result: ToolResult): Promise<ToolResult> | undefined {
  const { offload: options } = loop.config
  if (options === undefined) return undefined
  const { over, except = ['read_file', 'search'] } = options
  const length = result.content.reduce((sum, block) => (block.type === 'text' ? sum + block.text.length : sum), 0)
  if (length <= over || except.includes(call.name)) return undefined
  return chunk.load().then(({ writeResult }) => writeResult(loop, call, result, options))
}
