import type { AgentMessage } from '../contract/message/message.ts'
import type { ContinuationKind } from '../contract/run/run-facts.ts'
import { type LoopStart, tryContinuation } from '../loop/agent-loop.ts'
import type { AgentContext } from '../loop/loop-config.ts'

/** What is run. */
export interface RunStart {
  start: LoopStart
  /** Unless the options say otherwise. */
  kind: ContinuationKind
  /** Comes first of what steers the run. */
  said?: readonly AgentMessage[]
  /** What is run where the history has become another, because others have written to the session. Default: the same. */
  afterTakeover?: (context: AgentContext) => LoopStart
}

export function promptStart(messages: AgentMessage[]): RunStart {
  return { start: { type: 'prompt', messages }, kind: { kind: 'initial' } }
}

/** Goes on from a history that was not answered; where others have answered it by then, what was queued is all there is to do. */
export function continuationStart(start: LoopStart): RunStart {
  const afterTakeover = (context: AgentContext): LoopStart => tryContinuation(context) ?? { type: 'prompt', messages: [] }
  return { start, kind: { kind: 'default' }, afterTakeover }
}

/** Goes on where the history was not answered, with `messages` right after; else a prompt, before which calls that wait by then are asked for. */
export function sendStart(messages: AgentMessage[], context: AgentContext): RunStart {
  const continuation = tryContinuation(context)
  if (continuation !== undefined) return { ...continuationStart(continuation), said: messages }
  const prompt = { type: 'prompt' as const, messages }
  const afterTakeover = (now: AgentContext): LoopStart => {
    const { paused } = tryContinuation(now) ?? {}
    return paused === undefined ? prompt : { ...prompt, paused }
  }
  return { start: prompt, kind: { kind: 'initial' }, afterTakeover }
}
