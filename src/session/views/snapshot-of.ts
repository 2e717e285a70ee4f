import type { ContextState } from '../../contract/context/context-change.ts'
import { SessionError } from '../../contract/errors.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import { endOf, isPromptOver, type LoopRecord, type Session } from '../../contract/session/session.ts'
import type { SessionRecord } from '../../contract/session/session-record.ts'
import type { AgentSnapshot } from '../../contract/session/snapshot.ts'
import { callOrder, insertResult } from './loop-builder.ts'
import { loopChainTo } from './navigation.ts'
import { sessionOf } from './session-tree.ts'
import { askedClientCalls, CallLog, findOpenCalls, interruptedMark, outcomeUnknown } from './unfinished-calls.ts'

/** State of calls that the process did not finish. */
export interface UnfinishedCalls {
  /**
   * Messages appended to the history: an error result for each call with an unknown outcome, and a marker for calls to run on resume. The
   * resuming agent first records these messages as `recovered` of the last loop.
   */
  recovered: AgentMessage[]
  /** Ids of calls to run or to request approval for, because they never started or their tools are idempotent. */
  rerun: string[]
}

/** A stored conversation, ready to resume. */
export type ResumableSnapshot = AgentSnapshot & { unfinished: UnfinishedCalls }

/**
 * Returns the conversation at the end of a loop, with the history of its ancestors.
 *
 * **Contract**
 * - Pure: equal records produce equal snapshots, which share the records' messages. `createdAt` is the time of the last record.
 * - `loopId` defaults to the latest loop, or a parallel group's selected branch. Throws `SessionError` `notFound` for an unknown loop.
 * - A started call without a result does not run again, unless its tool is idempotent. It gets an error result with an unknown outcome.
 *   Only calls of the last response are considered, and only if no message followed. Use it for a log without an active writer.
 * - `settings` contains the recorded settings of the last loop: `systemPrompt` is empty, and `maxTokens` is absent.
 *
 * Source: docs/concepts/sessions.md
 */
export function snapshotOf(
  records: readonly SessionRecord[],
  { sessionId, loopId }: { sessionId: string; loopId?: string },
): ResumableSnapshot {
  const session = sessionOf(records, sessionId)
  const loops = new Map(session.loops.map((loop) => [loop.loopId, loop]))
  const lastLoopId = loopId ?? latestLoop(session)
  if (loopId !== undefined && !loops.has(loopId)) {
    throw new SessionError('notFound', `Session ${JSON.stringify(sessionId)} has no loop ${JSON.stringify(loopId.slice(0, 200))}.`)
  }
  const chain = lastLoopId === undefined ? [] : loopChainTo(session, lastLoopId).flatMap((id) => loops.get(id) ?? [])
  const history = historyOf(chain)
  const { messages, state } = history
  const createdAt = records.at(-1)?.at ?? 0
  const clientCalls = askedClientCalls(records, new Set(chain.map((loop) => loop.loopId)))
  const unfinished = recover(history, chain, new CallLog(records), createdAt)
  return {
    version: 1,
    createdAt,
    agentId: session.agentId,
    sessionId,
    ...(lastLoopId !== undefined && { lastLoopId }),
    loopCounts: loopCountsOf(sessionId, idsIn(records, session)),
    messages,
    state,
    ...askedOf(chain),
    ...askedByLoop(chain),
    ...(clientCalls.length > 0 && { clientCalls }),
    ...(session.sharedState !== undefined && { sharedState: session.sharedState }),
    settings: settingsOf(chain),
    unfinished,
  }
}

function latestLoop({ loops }: Session): string | undefined {
  const last = loops.findLast((loop) => loop.status !== 'pending')
  return last?.parallelGroup?.selectedLoopId ?? last?.loopId
}

/** A history and the index of the last loop's first message. */
interface History {
  messages: AgentMessage[]
  state: ContextState
  lastLoopStart: number
}

function historyOf(chain: readonly LoopRecord[]): History {
  let messages: AgentMessage[] = []
  let state: ContextState = {}
  let lastLoopStart = 0
  for (const loop of chain) {
    if (loop.base !== undefined) {
      messages = [...loop.base.messages]
      state = loop.base.state
    }
    lastLoopStart = messages.length
    for (const message of loop.messages) messages.push(message)
    state = changedBy(loop, state)
  }
  return { messages, state, lastLoopStart }
}

function changedBy({ overlay, prunes, reverts }: LoopRecord, state: ContextState): ContextState {
  return {
    ...state,
    ...(overlay !== undefined && { overlay }),
    ...(prunes !== undefined && { prunes: [...(state.prunes ?? []), ...prunes] }),
    ...(reverts !== undefined && { reverts: [...(state.reverts ?? []), ...reverts] }),
  }
}

/** Completes the history. Inserts results at the positions where `sessionOf` puts recorded ones. */
function recover(history: History, chain: readonly LoopRecord[], log: CallLog, at: number): UnfinishedCalls {
  const { messages, lastLoopStart } = history
  const open = findOpenCalls(messages)
  if (open === undefined) return { recovered: [], rerun: [] }
  const { answer, calls, marked } = open
  // Ignore loops that ended normally, because they left calls pending on purpose.
  const cut = chain
    .slice(
      Math.max(
        0,
        chain.findIndex((loop) => loop.loopId === answer.turnId?.loopId),
      ),
    )
    .filter(isCut)
  if (cut.length === 0) return { recovered: [], rerun: [] }
  const cutIds = cut.map((loop) => loop.loopId)
  const results: AgentMessage[] = []
  const rerun: string[] = []
  for (const call of calls) {
    const begun = log.begunIn(call.id, cutIds)
    if (log.mayRun(begun, cutIds)) rerun.push(call.id)
    else results.push(outcomeUnknown(answer, call, begun.at(-1)?.edited, at))
  }
  const own = messages.splice(lastLoopStart)
  for (const result of results) insertResult(own, result, callOrder(answer))
  const unmarked = rerun.filter((id) => !marked.has(id))
  const marks = unmarked.length === 0 ? [] : [interruptedMark(answer, unmarked)]
  for (const message of [...own, ...marks]) messages.push(message)
  return { recovered: [...results, ...marks], rerun }
}

/** Returns whether a loop began without an end in the log. */
function isCut(loop: LoopRecord): boolean {
  return loop.status !== 'pending' && endOf(loop) === undefined
}

function* idsIn(records: readonly SessionRecord[], { loops }: Session): Iterable<string> {
  for (const { loopId, entry } of records) {
    if (loopId !== undefined) yield loopId
    if (entry.type === 'parallelGroup') yield* entry.group.allLoopIds
  }
  for (const { parallelGroup } of loops) yield* parallelGroup?.allLoopIds ?? []
}

/** Returns the request settings of the prompt without a response. A compaction does not count as a response. */
function askedOf(chain: readonly LoopRecord[]): Pick<AgentSnapshot, 'asked'> {
  const last = chain.findLast(({ continuationKind: { kind } }) => kind !== 'compaction')
  return last?.asked === undefined || isPromptOver(last.status, last.continuationKind) ? {} : { asked: last.asked }
}

/** Returns the request settings of all prompts, for regeneration. */
function askedByLoop(chain: readonly LoopRecord[]): Pick<AgentSnapshot, 'askedOf'> {
  const asked = chain.flatMap((loop) => (loop.asked === undefined ? [] : [[loop.loopId, loop.asked] as const]))
  return asked.length === 0 ? {} : { askedOf: Object.fromEntries(asked) }
}

function settingsOf(chain: readonly LoopRecord[]): NonNullable<AgentSnapshot['settings']> {
  const { thinkingLevel = 'off', temperature, configId, settings } = chain.findLast((loop) => loop.config !== undefined)?.config ?? {}
  return {
    systemPrompt: '',
    thinking: thinkingLevel,
    ...(temperature !== undefined && { temperature }),
    ...(configId !== undefined && { configId }),
    ...(settings !== undefined && { request: settings }),
  }
}

/**
 * Counts loops per configuration from ids `{session}.{segment}.{N}`, so that no id is used twice. Ignores ids of other forms, which this
 * package never creates.
 */
function loopCountsOf(sessionId: string, loopIds: Iterable<string>): Record<string, number> {
  const counts = new Map<string, number>()
  const prefix = `${sessionId}.`
  let previous: string | undefined
  for (const loopId of loopIds) {
    // A loop's records are mostly adjacent, so checks the previous loop first.
    if (loopId === previous) continue
    previous = loopId
    const end = loopId.lastIndexOf('.')
    if (!loopId.startsWith(prefix) || end < prefix.length || !/^\d{1,15}$/.test(loopId.slice(end + 1))) continue
    const segment = loopId.slice(prefix.length, end)
    counts.set(segment, Math.max(counts.get(segment) ?? 0, Number(loopId.slice(end + 1))))
  }
  return Object.fromEntries(counts)
}
