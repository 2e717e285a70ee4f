import { withSkills } from '../base/with-skills.ts'
import { newId } from '../contract/message/ids.ts'
import { now } from '../contract/message/message.ts'
import type { AgentEvent } from '../contract/run/event.ts'
import { startLoop } from '../loop/agent-loop.ts'
import type { LoopConfig } from '../loop/loop-config.ts'
import { nextLoopId } from '../loop/loop-id.ts'
import { type AgentSettings, checkPromptOptions, type PromptOptions, toLoopConfig } from './agent-options.ts'
import type { Conversation } from './conversation.ts'
import { type MessageQueue, RunQueue } from './message-queue.ts'
import { RunHandle } from './run-handle.ts'
import type { RunStart } from './run-start.ts'
import { takeOver } from './take-over.ts'

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

/** Begins a run with the settings and the history an agent has now. Throws `ConfigError` for options that cannot work; nothing has changed then. */
export function beginRun(agent: RunningAgent, what: RunStart, given: PromptOptions): RunHandle {
  checkPromptOptions(given)
  const { start, kind, said } = what
  const { settings, conversation, listeners } = agent
  const { systemPrompt = '', skills, tools = [], replayBytes, logger, agentName } = settings
  const { kind: givenKind = kind, responseFormat, ...options } = given
  const queues = { steering: new RunQueue(agent.steering), followUps: new RunQueue(agent.followUps) }
  const journal = settings.session && conversation.journalIn(settings.session)
  const recorded = journal === undefined ? {} : { journal }
  const config: LoopConfig = { ...toLoopConfig(settings), ...recorded, ...queues, ...(responseFormat !== undefined && { responseFormat }) }
  const { sessionId, lastLoopId: parentLoopId } = conversation.context
  const context = Object.assign(conversation.context, { systemPrompt: withSkills(systemPrompt, skills), tools })
  const loopId = nextLoopId(context, sessionId, config)
  const origin = { kind: givenKind, loopId, ...(parentLoopId !== undefined && { parentLoopId }) }
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
    start: async (loopOptions) => {
      const named = agentName === undefined ? loopOptions : { ...loopOptions, agentName }
      const request = { start, origin, context, config, options: named }
      if (journal === undefined) return startLoop(request)
      const begun = await takeOver(request, journal, what)
      run.loopId = begun.origin.loopId
      if (conversation.lastLoopId === loopId) conversation.lastLoopId = run.loopId
      return startLoop(begun)
    },
    onEnd: () => agent.onEnd(run),
    replayBytes,
    logger,
  })
  return run
}
