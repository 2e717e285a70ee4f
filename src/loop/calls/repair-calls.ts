import { argumentsFault, cutFault, parseArguments } from '../../base/json/call-arguments.ts'
import { lateChunk } from '../../base/late/late-chunk.ts'
import { errorText } from '../../contract/errors.ts'
import { isObject } from '../../contract/json.ts'
import type { LoopState } from '../loop-state.ts'
import type { AssistantEntry } from '../model/assistant-stream.ts'
import { parsed } from './prepare-call.ts'

const chunk = lateChunk('the repair of tool arguments', () => import('./repair/repair-arguments.ts'))

/**
 * Repairs a message's invalid arguments before it enters the history, so that recorded, approved and executed arguments are the same.
 * Returns `undefined` if all arguments are valid or the response is truncated. Never rejects: if the chunk cannot be loaded, the run fails.
 */
export function repairCalls(loop: LoopState, message: AssistantEntry): Promise<void> | undefined {
  const { stopReason, content } = message
  const isWhole = stopReason === 'toolUse' || stopReason === 'stop'
  if (!isWhole || !content.some((block) => block.type === 'toolCall' && block.invalidArguments !== undefined)) return undefined
  return chunk
    .load()
    .then(({ repairArguments }) =>
      repairArguments(loop, message, { argumentsFault, cutFault, parseArguments, parsed, errorText, isObject }),
    )
    .catch((error) => {
      if (!loop.stop.aborted) loop.fail(error)
    })
}
