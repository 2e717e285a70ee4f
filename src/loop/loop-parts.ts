import { Lifecycle } from './lifecycle.ts'
import type { LoopRun } from './loop-run.ts'
import { NodeIds } from './node-ids.ts'

/** Gives a run what only some loops need: hooks and filters, and the numbering of messages by which a model can go back. */
export function addParts(run: LoopRun): void {
  const { config, context } = run
  if (config.hooks !== undefined || config.inputFilters !== undefined) run.lifecycle = new Lifecycle(run)
  if (context.tools.some((tool) => tool.revertPolicy !== undefined)) run.nodeIds = new NodeIds(context)
}
