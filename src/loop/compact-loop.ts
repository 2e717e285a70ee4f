import type { RunResult } from '../types/run.ts'
import { runLoop } from './agent-loop.ts'
import { checkConfig } from './check-config.ts'
import type { AgentContext, LoopConfig } from './loop-config.ts'
import type { LoopOptions } from './loop-run.ts'

/**
 * Compacts what is sent of a history, as a loop of its own: `agentStart` with kind `compaction`, the compaction's events, `agentEnd`. The model
 * is not prompted, unless by the strategy.
 *
 * **Contract**: summarises also where the context limit is far away. Status `completed`, also when there was nothing to compact, or where
 * `contextConfig` is off; `error` when compacting failed: what is sent has not changed then.
 *
 * Source: spec/14 "compact_context".
 */
export async function compactLoop(
  context: AgentContext,
  config: LoopConfig,
  options: LoopOptions & { focusMessage?: string },
): Promise<RunResult> {
  checkConfig(config)
  const origin = { kind: { kind: 'compaction' as const }, parentLoopId: context.parentLoopId ?? context.lastLoopId }
  return runLoop(origin, context, config, options, async (run, end) => {
    const { compactNow } = await import('./compact-context.ts')
    return end(await compactNow(run, options.focusMessage))
  })
}
