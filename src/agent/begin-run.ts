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
  /** Run kind, unless the options set one. */
  kind: ContinuationKind
  /** Input to insert before steering messages. */
  prompts?: readonly AgentMessage[]
  /** Whether to continue the unfinished prompt with its recorded request settings. */
  goesOn?: true
  /** For a rerun or edit: the original message's request settings, which the caller's options override. */
  asked?: PromptSettings
  /** Alternative start if another process changed the history. Default: this start. */
  afterTakeover?: (context: AgentContext) => LoopStart
}

export function promptStart(messages: AgentMessage[]): RunStart {
  return { start: { type: 'prompt', messages }, kind: { kind: 'initial' } }
}

/** Continues an unfinished history. If another process has finished the run, only processes queued messages. */
export function continuationStart(start: LoopStart): RunStart {
  const afterTakeover = (context: AgentContext): LoopStart => tryContinuation(context) ?? { type: 'prompt', messages: [] }
  return { start, kind: { kind: 'default' }, afterTakeover }
}

/** Continues an unfinished history and appends `messages`; otherwise prompts with them. Requests pending calls first. */
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

/** The agent state that a run uses. */
export interface RunningAgent {
  settings: AgentSettings
  conversation: Conversation
  steering: MessageQueue
  followUps: MessageQueue
  listeners: Iterable<(event: AgentEvent) => void>
  /** Called once, after `agentEnd`. */
  onEnd: (run: RunHandle) => void
}

/** Starts a run with the agent's current settings and history. Throws `ConfigError` for invalid options, before changing anything. */
export function beginRun(agent: RunningAgent, what: RunStart, given: PromptOptions): RunHandle {
  checkPromptOptions(given)
  const { start, kind, prompts } = what
  const { conversation, listeners } = agent
  checkChoice(agent.settings, given)
  let before = what.asked ?? (what.goesOn === true ? (conversation.context.asked ?? {}) : {})
  const settingsWith = (asked: PromptChoice): AgentSettings => chosen(agent.settings, { ...asked, ...definedFields(given) })
  const settings = settingsWith(before)
  checkCostLimit(false, settings.model, given.budget)
  // A continued prompt's choices were validated when the prompt was sent.
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
  const ofLast = conversation.contextOfLast()
  const own = runContextOf(what, given, settings, ofLast)
  const kept = keptContext(loopId, start, { ofLast, own })
  conversation.lastContext = kept
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
        ...(own !== undefined && { context: own }),
        ...(agentName !== undefined && { agentName }),
        ...(shared !== undefined && { sharedState: shared }),
      }
      const request = { start, origin, context, config, options: named }
      const begun: AgentLoopRequest = journal === undefined ? request : await takeOver(request, journal, what)
      if (begun !== request) {
        // Another process may have run the last loop.
        const known = begun.origin.parentLoopId === parentLoopId ? ofLast : undefined
        const context = runContextOf({ ...what, start: begun.start }, given, settings, known)
        begun.options = { ...begun.options, context }
        Object.assign(kept, keptContext(begun.origin.loopId, begun.start, { ofLast: known, own: context }))
      }
      if (what.goesOn === true && begun !== request) {
        before = what.asked ?? context.asked ?? {}
        begun.config = configWith(before)
        context.tools = settingsWith(before).tools ?? []
        keepAsked(context, what, before, given)
      }
      tellMissing(before, given, logger)
      if (begun.sharedState !== undefined) shared?.become(begun.sharedState, true)
      // If this record fails, the loop's record also fails and ends the run.
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

/**
 * Returns the context of a run. A continued run keeps its context, if known in this process, unless the caller replaces it. Pending calls
 * keep the context of the run that made them. All other runs use the caller's context. `undefined` means the agent's default; `null` is a
 * value.
 */
function runContextOf(
  { start, goesOn, asked }: RunStart,
  { context }: PromptOptions,
  defaults: Pick<PromptOptions, 'context'>,
  ofLast: { context: unknown } | undefined,
): unknown {
  const continues = start.type === 'continuation' && asked === undefined
  const keeps = continues && (goesOn ? context === undefined : start.paused !== undefined)
  const own = keeps && ofLast ? ofLast.context : context
  return own === undefined ? defaults.context : own
}

/** Returns the context that a continuation of this loop keeps. A compaction does not change it. */
function keptContext(
  loopId: string,
  start: LoopStart,
  { ofLast, own }: { ofLast: { context: unknown } | undefined; own: unknown },
): NonNullable<Conversation['lastContext']> {
  if (start.type !== 'compaction') return { loopId, context: own }
  return { loopId: ofLast === undefined ? undefined : loopId, context: ofLast?.context }
}

/** Records the unfinished prompt's request settings. A compaction has no request settings. */
function keepAsked(context: AgentContext, { start }: RunStart, before: PromptSettings, given: PromptOptions): void {
  if (start.type === 'compaction') return
  const asked = askedSettings(before, given)
  if (asked === undefined) delete context.asked
  else context.asked = asked
}

/** Settings that apply only to this run. */
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

/** An agent's loop request, which assigns loop ids before the start. */
type AgentLoopRequest = LoopRequest & {
  origin: LoopOrigin & { loopId: string }
  context: Conversation['context']
  /** Shared state, if other processes changed it. */
  sharedState?: SavedState
}

/**
 * Acquires write access, and applies changes from other processes since this history was read. If this fails, the loop's first record also
 * fails and ends the run.
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
