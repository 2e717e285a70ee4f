import { type Agent, ConfigError } from '../../../src/index.ts'
import type { RecordedInput } from '../../../src/internal.ts'
import { agentIdOf } from '../../../src/internal.ts'
import type { SessionRecord } from '../../../src/session.ts'
import type { ContextedRun, RunContext } from './run-context.ts'

/** A loop whose end is missing from the log, because its process ended first. */
export interface UnfinishedRun {
  loopId: string
  agentId: string
  /** Whether the log contains a model response. */
  isAnswered: boolean
}

/** Returns the run that was active when the process ended, if any. A session has at most one active run. */
export function unfinishedRun(records: readonly SessionRecord[]): UnfinishedRun | undefined {
  const loopId = records.findLast(({ entry }) => entry.type === 'loopStart')?.loopId
  if (loopId === undefined || hasEnded(records, loopId)) return undefined
  const isAnswered = records.some((record) => record.loopId === loopId && record.entry.type === 'assistant')
  return { loopId, agentId: agentIdOf(records), isAnswered }
}

/** Returns whether a run was interrupted and can be resumed. A sub-agent's run belongs to its parent. */
export function isCutOff(records: readonly SessionRecord[]): boolean {
  const isSpawned = records.some(({ entry }) => entry.type === 'sessionStart' && entry.spawnRef !== undefined)
  return !isSpawned && unfinishedRun(records) !== undefined
}

/**
 * Returns a number that grows with a run's progress: with each ended loop, each result, and each turn after the first. Attempts that fail
 * at the same point make no progress, which prevents endless model or tool calls. During a model call, the log may not contain its turn, so
 * the results before it prove that the previous turn is complete.
 */
export function progressOf(records: readonly SessionRecord[]): number {
  return records.filter(isProgress).length
}

/** Returns how many times the last run was started since it last made progress. The caller's start and each resume count. */
export function attemptsOf(records: readonly SessionRecord[]): number {
  return records.slice(records.findLastIndex(isProgress) + 1).filter(({ entry }) => entry.type === 'loopStart').length
}

function isProgress({ entry, turnIndex = 0 }: SessionRecord): boolean {
  return entry.type === 'loopEnd' || entry.type === 'toolResult' || turnIndex > 0
}

/**
 * Returns the loop that continues `loopId`, directly or over several attempts, or `undefined` if `loopId` ended or no loop continues it.
 * `running` is the active loop, whose start may be missing from the log.
 */
export function continuationOf(records: readonly SessionRecord[], loopId: string, running: string | undefined): string | undefined {
  let last = loopId
  for (const { entry, loopId: next } of records) {
    if (entry.type === 'loopStart' && next !== undefined && entry.parentLoopId === last && !hasEnded(records, last)) last = next
  }
  if (running !== undefined && !hasEnded(records, last)) last = running
  return last === loopId ? undefined : last
}

function hasEnded(records: readonly SessionRecord[], loopId: string): boolean {
  return records.some((record) => record.loopId === loopId && record.entry.type === 'loopEnd')
}

/** Messages that were queued for an interrupted run, and the context of the run that the first of them would start. */
interface QueuedForRun {
  queued: ReadonlyMap<string, RecordedInput>
  ofQueued: () => Promise<RunContext>
}

/**
 * Continues an interrupted run with its context. If the run already has a response, responds to messages queued since then. Returns
 * `undefined` if there is nothing left to do.
 */
export async function goOn(agent: Agent, own: RunContext, { queued, ofQueued }: QueuedForRun): Promise<ContextedRun | undefined> {
  try {
    return { run: agent.continueLoop(own), own }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
  }
  const next = [...queued.values()].find(({ status }) => status === 'queued')
  if (next === undefined) return undefined
  const theirs = await ofQueued()
  // The message becomes the prompt and must not be delivered again.
  next.status = 'delivered'
  return { run: agent.prompt([...next.messages], theirs), own: theirs }
}
