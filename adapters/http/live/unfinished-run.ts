import { type Agent, type AgentRun, ConfigError } from '../../../src/index.ts'
import type { RecordedInput } from '../../../src/internal.ts'
import { agentIdOf } from '../../../src/internal.ts'
import type { SessionRecord } from '../../../src/session.ts'

/** A loop without an end in the log: its process ended first. */
export interface UnfinishedRun {
  loopId: string
  agentId: string
  /** Whether the log has a response of the model. */
  isAnswered: boolean
}

/** Returns the run that was active when the process ended, if any: a session has one run at a time. */
export function unfinishedRun(records: readonly SessionRecord[]): UnfinishedRun | undefined {
  const loopId = records.findLast(({ entry }) => entry.type === 'loopStart')?.loopId
  if (loopId === undefined || hasEnded(records, loopId)) return undefined
  const isAnswered = records.some((record) => record.loopId === loopId && record.entry.type === 'assistant')
  return { loopId, agentId: agentIdOf(records), isAnswered }
}

/** Returns whether a run was interrupted and can be resumed. That of a sub-agent belongs to its parent. */
export function isCutOff(records: readonly SessionRecord[]): boolean {
  const isSpawned = records.some(({ entry }) => entry.type === 'sessionStart' && entry.spawnRef !== undefined)
  return !isSpawned && unfinishedRun(records) !== undefined
}

/**
 * Returns a number that grows with the progress of a run: with each ended loop, each result, and each turn after the first.
 * Repeated attempts that fail at the same place do not count, because a model may be called, and a tool started, without end. A
 * turn may be missing from the log while its model is called, so the results before it prove that the previous turn was
 * completed.
 */
export function progressOf(records: readonly SessionRecord[]): number {
  return records.filter(isProgress).length
}

/** Returns how often the last run was started since its last progress: once by its caller, then by those who resumed it. */
export function attemptsOf(records: readonly SessionRecord[]): number {
  return records.slice(records.findLastIndex(isProgress) + 1).filter(({ entry }) => entry.type === 'loopStart').length
}

function isProgress({ entry, turnIndex = 0 }: SessionRecord): boolean {
  return entry.type === 'loopEnd' || entry.type === 'toolResult' || turnIndex > 0
}

/**
 * Returns the loop that continues `loopId`, directly or over several attempts; `undefined` if it ended, or nothing continues it.
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

/**
 * Continues an interrupted run. If it has its response, responds to messages queued since; `undefined` if there is nothing left
 * to do.
 */
export function goOn(agent: Agent, queued: ReadonlyMap<string, RecordedInput>): AgentRun | undefined {
  try {
    return agent.continueLoop()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
  }
  const next = [...queued.values()].find(({ status }) => status === 'queued')
  if (next === undefined) return undefined
  // It becomes the prompt and must not be delivered again.
  next.status = 'delivered'
  return agent.prompt([...next.messages])
}
