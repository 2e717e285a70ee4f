import { settleWithin } from '../base/abort.ts'
import { definedFields } from '../contract/json.ts'
import { newId } from '../contract/message/identity.ts'
import { type AgentMessage, now } from '../contract/message/message.ts'
import { type PromptSettings, settingsIn } from '../contract/model/request-settings.ts'
import type { AgentEvent } from '../contract/run/event.ts'
import type { ContinuationKind } from '../contract/run/run-facts.ts'
import type { SavedState } from '../contract/session/shared-state.ts'
import { type LoopOrigin, type LoopRequest, type LoopStart, startLoop, tryContinuation } from '../loop/agent-loop.ts'
import { checkCostLimit } from '../loop/check-config.ts'
import type { AgentContext, LoopConfig } from '../loop/loop-config.ts'
import { isCounted, nextLoopId, raiseCounts } from '../loop/loop-id.ts'
import type { SessionJournal } from '../types/session/session-store.ts'
import { withSkills } from '../types/tool/skills.ts'
import { type AgentSettings, checkPromptOptions, type PromptOptions, toLoopConfig } from './agent-options.ts'
import { askedSettings, tellMissing } from './agent-settings.ts'
import { checkChoice, checkToolChoice, chosen, type PromptChoice } from './choices.ts'
import type { Conversation } from './conversation.ts'
import { type MessageQueue, RunQueue } from './message-queue.ts'
import { answerCheck, outputReader } from './parse-output.ts'
import { RunHandle } from './run-handle.ts'

/** Describes the run to start. */
export interface RunStart {
  start: LoopStart
  /** Default, unless the options set a kind. */
  kind: ContinuationKind
  /** Input placed before steering messages. */
  prompts?: readonly AgentMessage[]
  /** Continues the unfinished prompt with its request settings. */
  goesOn?: true
  /** Request settings of the original message of a rerun or edit; defaults for those of the caller. */
  asked?: PromptSettings
  /** Start to use if other processes changed the history. Default: the same. */
  afterTakeover?: (context: AgentContext) => LoopStart
}

export function promptStart(messages: AgentMessage[]): RunStart {
  return { start: { type: 'prompt', messages }, kind: { kind: 'initial' } }
}

/** Continues an unfinished history. If another process has finished it, only queued messages are run. */
export function continuationStart(start: LoopStart): RunStart {
  const afterTakeover = (context: AgentContext): LoopStart => tryContinuation(context) ?? { type: 'prompt', messages: [] }
  return { start, kind: { kind: 'default' }, afterTakeover }
}

/** Continues an unfinished history, followed by `messages`; otherwise prompts. Pending calls are requested first. */
export function sendStart(messages: AgentMessage[], context: AgentContext): RunStart {
  const continuation = tryContinuation(context)
  if (continuation !== undefined && continuation.isAnswered !== true) return { ...continuationStart(continuation), prompts: messages }
  const prompt = { type: 'prompt' as const, messages }
  const afterTakeover = (now: AgentContext): LoopStart => {
    const { paused } = tryContinuation(now) ?? {}
    return paused === undefined ? prompt : { ...prompt, paused }
  }
  return { start: prompt, kind: { kind: 'initial' }, afterTakeover }
}

/** Parts of an agent that a run needs. */
export interface RunningAgent {
  settings: AgentSettings
  conversation: Conversation
  steering: MessageQueue
  followUps: MessageQueue
  listeners: Iterable<(event: AgentEvent) => void>
  /** Called once, after `agentEnd`. */
  onEnd: (run: RunHandle) => void
}

/** Starts a run with the agent's current settings and history. Throws `ConfigError` for invalid options, without any effect. */
export function beginRun(agent: RunningAgent, what: RunStart, given: PromptOptions): RunHandle {
  checkPromptOptions(given)
  const { start, kind, prompts } = what
  const { conversation, listeners } = agent
  checkChoice(agent.settings, given)
  let before = what.asked ?? (what.goesOn === true ? (conversation.context.asked ?? {}) : {})
  const settingsWith = (asked: PromptChoice): AgentSettings => chosen(agent.settings, { ...asked, ...definedFields(given) })
  const settings = settingsWith(before)
  checkCostLimit(false, settings.model, given.budget)
  // The choices of a continued prompt were validated when it was made.
  checkToolChoice(given.toolChoice ?? agent.settings.toolChoice, settings)
  const { systemPrompt: prompt = '', skills, tools = [], replayBytes, logger, agentName } = settings
  const { kind: givenKind = kind, signal, metadata, budget } = given
  const queues = {
    steering: new RunQueue(agent.steering, settings.steeringMode),
    followUps: new RunQueue(agent.followUps, settings.followUpMode),
  }
  conversation.warnIfUnstored(settings)
  const journal = settings.session && conversation.journalIn(settings.session)
  const recorded = journal === undefined ? {} : { journal }
  const configWith = (asked: PromptSettings): LoopConfig => {
    const config: LoopConfig = {
      ...toLoopConfig(settingsWith(asked)),
      ...recorded,
      ...queues,
      ...ofRun({ ...asked, ...definedFields(given) }),
    }
    if (config.responseFormat !== undefined && (config.repair ?? 0) > 0) config.checkAnswer = answerCheck(config.responseFormat, settings)
    return config
  }
  const config = configWith(before)
  const { sessionId, lastLoopId: parentLoopId } = conversation.context
  const context = Object.assign(conversation.context, { systemPrompt: typeof prompt === 'string' ? withSkills(prompt, skills) : '', tools })
  const loopId = nextLoopId(context, sessionId, config)
  const origin = { kind: givenKind, loopId, ...(parentLoopId !== undefined && { parentLoopId }) }
  keepAsked(context, what, before, given)
  conversation.noteAsked(loopId)
  conversation.lastLoopId = loopId
  conversation.lastActiveAt = now()
  if (prompts !== undefined) queues.steering.add(prompts)
  const run: RunHandle = new RunHandle({
    ...(signal !== undefined && { signal }),
    ...(metadata !== undefined && { metadata }),
    ...(budget !== undefined && { budget }),
    ...queues,
    id: newId(),
    loopId,
    sessionId,
    listeners,
    start: async (loopOptions) => {
      const { shared } = conversation
      const named = {
        ...loopOptions,
        ...(agentName !== undefined && { agentName }),
        ...(shared !== undefined && { sharedState: shared }),
      }
      const request = { start, origin, context, config, options: named }
      const begun: AgentLoopRequest = journal === undefined ? request : await takeOver(request, journal, what)
      if (what.goesOn === true && begun !== request) {
        before = what.asked ?? context.asked ?? {}
        begun.config = configWith(before)
        context.tools = settingsWith(before).tools ?? []
        keepAsked(context, what, before, given)
      }
      tellMissing(before, given, logger)
      if (begun.sharedState !== undefined) shared?.become(begun.sharedState, true)
      // If this record fails, that of the loop fails too and ends the run.
      if (shared !== undefined) await shared.recordIfNew().catch(() => undefined)
      if (journal === undefined) return startLoop(begun)
      run.loopId = begun.origin.loopId
      conversation.noteAsked(run.loopId)
      if (conversation.lastLoopId === loopId) conversation.lastLoopId = run.loopId
      return startLoop(begun)
    },
    onEnd: () => agent.onEnd(run),
    read: config.responseFormat && outputReader(config.responseFormat, settings),
    replayBytes,
    logger,
  })
  return run
}

/** Records the request settings of the unfinished prompt. A compaction has none. */
function keepAsked(context: AgentContext, { start }: RunStart, before: PromptSettings, given: PromptOptions): void {
  if (start.type === 'compaction') return
  const asked = askedSettings(before, given)
  if (asked === undefined) delete context.asked
  else context.asked = asked
}

/** Settings of this run alone. */
function ofRun({ thinking, responseFormat, repair, ...given }: PromptOptions): Partial<LoopConfig> {
  return {
    ...settingsIn(given),
    ...(thinking !== undefined && { thinking }),
    ...(responseFormat !== undefined && { responseFormat }),
    ...(repair !== undefined && { repair }),
  }
}

/** Milliseconds that an aborted run still waits for its session. */
const openGraceMs = 1000

/** Loop request of an agent, which assigns loop ids before the start. */
type AgentLoopRequest = LoopRequest & {
  origin: LoopOrigin & { loopId: string }
  context: Conversation['context']
  /** Shared state, if other processes changed it. */
  sharedState?: SavedState
}

/**
 * Acquires write access and applies what other processes wrote since this history was read. If this fails, the first record of the loop
 * fails too and ends the run.
 */
async function takeOver(
  request: AgentLoopRequest,
  journal: SessionJournal,
  { afterTakeover, goesOn }: RunStart,
): Promise<AgentLoopRequest> {
  const { context, config, origin, options } = request
  const { agentId, sessionId } = context
  const { parentLoopId } = origin
  const place = { sessionId, agentId, ...(parentLoopId !== undefined && { parentLoopId }) }
  // An async function turns a synchronous throw of the journal into a rejection.
  const opening = (async () => journal.open(place, context))()
  const caughtUp = await settleWithin(opening, options.signal, openGraceMs).catch(() => undefined)
  if (caughtUp === undefined) return request
  const { messages, state, loopCounts, lastLoopId, asked, clientCalls, sharedState } = caughtUp
  const isTaken = isCounted(origin.loopId, sessionId, loopCounts)
  Object.assign(context, {
    messages,
    state,
    loopCounts: raiseCounts(context.loopCounts, loopCounts),
    lastLoopId,
    ...(goesOn && { asked, clientCalls }),
  })
  const loopId = isTaken ? nextLoopId(context, sessionId, config) : origin.loopId
  const start = afterTakeover?.(context) ?? request.start
  const shared = sharedState === undefined ? {} : { sharedState }
  return {
    ...request,
    ...shared,
    start,
    origin: { kind: origin.kind, loopId, ...(lastLoopId !== undefined && { parentLoopId: lastLoopId }) },
  }
}
