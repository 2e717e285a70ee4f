import type { ToolCallContent } from '../types/content.ts'
import { executeTool, skipTool } from './execute-tool.ts'
import type { LoopRun } from './loop-run.ts'
import type { ToolResultEntry } from './tool-result.ts'

const steeringSkip = 'Skipped due to queued user message.'
const truncatedSkip = 'The call was cut off by the output limit and was not run. Send it again, with shorter arguments.'

/**
 * Runs the calls of one assistant message and puts the results into the history, in the order of the calls.
 *
 * **Contract**
 * - What the tools want taken out of the context is taken out afterwards. Rejects only with `JournalError`, when that could not be stored.
 * - Calls that wait for an approval have no result; `run.pausedCalls` names them.
 * - `parallel` starts all at once; `sequential` one after the other; `batched` in groups. Between steps, a waiting steering message skips
 *   what has not begun.
 * - With `isCut`, the last call is not run: the output limit may have cut its arguments.
 *
 * Source: spec/05 "Execution Strategies", spec/12 "Steering Checkpoints".
 */
export async function executeTools(run: LoopRun, calls: readonly ToolCallContent[], isCut: boolean): Promise<ToolResultEntry[]> {
  const results: ToolResultEntry[] = []
  const size = stepSize(run, calls.length)
  const lastWhole = isCut ? calls.length - 1 : calls.length
  for (let at = 0; at < calls.length; at += size) {
    const skip = at > 0 && run.hasWaiting(run.config.steering)
    const step = calls.slice(at, at + size)
    const answered = await Promise.all(
      step.map((call, index) => {
        if (skip) return skipTool(run, call, steeringSkip)
        return at + index >= lastWhole ? skipTool(run, call, truncatedSkip) : executeTool(run, call)
      }),
    )
    for (const entry of answered) {
      if (entry === undefined) continue
      results.push(entry)
      run.append(entry)
      run.events.message(entry)
    }
  }
  if (run.contextChanges.length > 0) {
    const { applyContextChanges } = await import('./apply-context-changes.ts')
    await applyContextChanges(run)
  }
  return results
}

/** How many calls run at the same time. */
function stepSize(run: LoopRun, calls: number): number {
  const strategy = run.config.toolExecution ?? { type: 'parallel' }
  if (strategy.type === 'sequential') return 1
  if (strategy.type === 'batched') return strategy.size
  return Math.max(1, calls)
}
