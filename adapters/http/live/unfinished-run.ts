import { type Agent, type AgentRun, ConfigError } from '../../../src/index.ts'
import type { RecordedInput } from '../../../src/internal.ts'
import { agentIdOf } from '../../../src/internal.ts'
import type { SessionRecord } from '../../../src/session.ts'

/** A loop that began and whose end is not in the log: its process ended first. */
export interface UnfinishedRun {
  loopId: string
  agentId: string
  /** Whether the log has an answer of the model. */
  isAnswered: boolean
}

/** The run that was on when the process ended, if any: one object has one run at a time. */
export function unfinishedRun(records: readonly SessionRecord[]): UnfinishedRun | undefined {
  const loopId = records.findLast(({ entry }) => entry.type === 'loopStart')?.loopId
  if (loopId === undefined || hasEnded(records, loopId)) return undefined
  const isAnswered = records.some((record) => record.loopId === loopId && record.entry.type === 'assistant')
  return { loopId, agentId: agentIdOf(records), isAnswered }
}

/** Whether a run was left that is to be taken up. That of a sub-agent is its parent's. */
export function isCutOff(records: readonly SessionRecord[]): boolean {
  const isSpawned = records.some(({ entry }) => entry.type === 'sessionStart' && entry.spawnRef !== undefined)
  return !isSpawned && unfinishedRun(records) !== undefined
}

/**
 * A number that grows when a run gets on: with each loop that ends, each result, and each turn after the first. What an attempt writes before
 * it fails at the same place again does not count; a model may be asked, and a tool begun, without end. The start of a turn may not be in the
 * log yet when its model is asked, so the results before it say that the turn before was completed.
 */
export function progressOf(records: readonly SessionRecord[]): number {
  return records.filter(isProgress).length
}

/** How often the run that the log ends with was begun since it last got on: once by its caller, then by those who took it up again. */
export function attemptsOf(records: readonly SessionRecord[]): number {
  return records.slice(records.findLastIndex(isProgress) + 1).filter(({ entry }) => entry.type === 'loopStart').length
}

function isProgress({ entry, turnIndex = 0 }: SessionRecord): boolean {
  return entry.type === 'loopEnd' || entry.type === 'toolResult' || turnIndex > 0
}

/**
 * Which loop goes on with `loopId`, directly or in more than one attempt; undefined when it ended, or nobody has gone on. `running` is the loop
 * that is on: its beginning may not be in the log yet.
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
 * Goes on with the run that was on. Where it was answered, and somebody has said something to it since, that is answered; `undefined` where there is nothing left
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
  // It is heard as a prompt, and not once more.
  next.status = 'delivered'
  return agent.prompt([...next.messages])
}
