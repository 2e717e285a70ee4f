import { type LateChunk, lateChunk } from '../base/late/late-chunk.ts'
import type { RunEnding } from '../types/run/run.ts'
import { openBackground } from '../types/tool/open-calls.ts'
import type { LoopBackground } from './background/loop-background.ts'
import type { AgentContext } from './loop-config.ts'
import type { LoopState } from './loop-state.ts'

type Part = typeof import('./background/background-work.ts')
/** What only runs need whose calls leave work behind that goes on beside them. */
const chunk: LateChunk<Part> = lateChunk('background work', () => import('./background/background-work.ts'))

/** What goes on beside the run. From then on the loop has it. Rejects with `LoadError`. */
export async function loadBackground(loop: LoopState): Promise<LoopBackground> {
  const { BackgroundWork } = chunk.loaded ?? (await chunk.load())
  // Calls of one turn may ask at the same time.
  loop.background ??= new BackgroundWork(loop)
  return loop.background
}

/** Whether a loop has a tool that leaves work behind: then it begins with what earlier runs left. */
export function usesBackground({ tools }: AgentContext): boolean {
  return tools.some((tool) => tool.isBackground === true)
}

/** Whether the history ends before its model was told what became of work beside it. */
export function hasOpenBackground(context: AgentContext): boolean {
  return openBackground(context.messages).length > 0
}

/** Stops what goes on beside the run, and keeps what its model was not told. Resolves with how the run ends. Never rejects. */
export async function closeBackground(loop: LoopState, background: LoopBackground, ending: RunEnding): Promise<RunEnding> {
  await background.close()
  return loop.failure === undefined || ending.status === 'error' ? ending : { status: 'error', error: loop.failure }
}

/** Whether something goes on beside the run. */
export function goesOnBeside({ background }: LoopState): boolean {
  return background?.isRunning === true
}

/** Waits until there is something to tell the model, or nothing goes on beside the run any more. */
export async function waitBeside(loop: LoopState): Promise<void> {
  const { inputs, background, stop } = loop
  while (background?.isRunning === true && !stop.aborted && !inputs.isSteered && inputs.followUps() === undefined) await background.next()
}
