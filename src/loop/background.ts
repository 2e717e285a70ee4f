import { type LateChunk, lateChunk } from '../base/late/late-chunk.ts'
import type { RunEnding } from '../types/run/run.ts'
import { openBackground } from '../types/tool/open-calls.ts'
import type { LoopBackground } from './background/loop-background.ts'
import type { AgentContext } from './loop-config.ts'
import type { LoopState } from './loop-state.ts'

type Part = typeof import('./background/background-work.ts')
/** Loads the chunk for runs whose calls start background tasks. */
const chunk: LateChunk<Part> = lateChunk('background work', () => import('./background/background-work.ts'))

/** Loads the loop's background tasks. Rejects with `LoadError`. */
export async function loadBackground(loop: LoopState): Promise<LoopBackground> {
  const { BackgroundWork } = chunk.loaded ?? (await chunk.load())
  // Concurrent calls may load the chunk at the same time. The first instance wins.
  loop.background ??= new BackgroundWork(loop)
  return loop.background
}

/** Returns whether a tool starts background tasks. If so, the loop first reports tasks of earlier runs. */
export function usesBackground({ tools }: AgentContext): boolean {
  return tools.some((tool) => tool.isBackground === true)
}

/** Returns whether the history contains a background task that was not reported to the model. */
export function hasOpenBackground(context: AgentContext): boolean {
  return openBackground(context.messages).length > 0
}

/** Stops the background tasks and stores unreported results. Resolves with the run's ending. Never rejects. */
export async function closeBackground(loop: LoopState, background: LoopBackground, ending: RunEnding): Promise<RunEnding> {
  await background.close()
  return loop.failure === undefined || ending.status === 'error' ? ending : { status: 'error', error: loop.failure }
}

/** Returns whether a background task is running. */
export function hasBackgroundWork({ background }: LoopState): boolean {
  return background?.isRunning === true
}

/** Waits for a report, or until no background task runs. */
export async function waitForBackground(loop: LoopState): Promise<void> {
  const { inputs, background, stop } = loop
  while (background?.isRunning === true && !stop.aborted && !inputs.isSteered && inputs.followUps() === undefined) await background.next()
}
