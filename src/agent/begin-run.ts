import { type LoopOrigin, type LoopStart, startLoop } from '../loop/agent-loop.ts'
import type { LoopConfig } from '../loop/loop-config.ts'
import { nextLoopId } from '../loop/loop-id.ts'
import type { AgentEvent } from '../types/event.ts'
import { newId } from '../types/ids.ts'
import { type AgentMessage, now } from '../types/message.ts'
import type { ContinuationKind } from '../types/run-facts.ts'
import { type AgentSettings, checkPromptOptions, type PromptOptions, toLoopConfig } from './agent-options.ts'
import type { Conversation } from './conversation.ts'
import { type MessageQueue, RunQueue } from './message-queue.ts'
import { RunHandle } from './run-handle.ts'

/** What a run needs of its agent. */
export interface RunningAgent {
  settings: AgentSettings
  conversation: Conversation
  steering: MessageQueue
  followUps: MessageQueue
  listeners: Iterable<(event: AgentEvent) => void>
  /** Called once, after `agentEnd`. */
  onEnd: (run: RunHandle) => void
}

/** What is run. */
export interface RunStart {
  start: LoopStart
  /** Unless the options say otherwise. */
  kind: ContinuationKind
  /** Comes first of what steers the run. */
  said?: readonly AgentMessage[]
}

/** Begins a run with the settings and the history an agent has now. Throws `ConfigError` for options that cannot work; nothing has changed then. */
export function beginRun(agent: RunningAgent, { start, kind, said }: RunStart, given: PromptOptions): RunHandle {
  checkPromptOptions(given)
  const { settings, conversation, listeners } = agent
  const { systemPrompt = '', tools = [], replayBytes, logger } = settings
  const { kind: givenKind = kind, responseFormat, ...options } = given
  const queues = { steering: new RunQueue(agent.steering), followUps: new RunQueue(agent.followUps) }
  const config: LoopConfig = { ...loopConfig(settings, conversation), ...queues, ...(responseFormat !== undefined && { responseFormat }) }
  const { sessionId, lastLoopId: parentLoopId } = conversation.context
  const context = Object.assign(conversation.context, { systemPrompt, tools })
  const loopId = nextLoopId(context, sessionId, config)
  const origin: LoopOrigin = { kind: givenKind, loopId, ...(parentLoopId !== undefined && { parentLoopId }) }
  conversation.lastLoopId = loopId
  conversation.lastActiveAt = now()
  if (said !== undefined) queues.steering.add(said)
  const run: RunHandle = new RunHandle({
    ...options,
    ...queues,
    id: newId(),
    loopId,
    sessionId,
    listeners,
    start: (loopOptions) => startLoop({ start, origin, context, config, options: loopOptions }),
    onEnd: () => agent.onEnd(run),
    replayBytes,
    logger,
  })
  return run
}

function loopConfig(settings: AgentSettings, conversation: Conversation): LoopConfig {
  const config = toLoopConfig(settings)
  const { session } = settings
  if (session !== undefined) config.journal = conversation.journalIn(session)
  return config
}
