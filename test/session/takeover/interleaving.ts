import { Agent, type AgentEvent, type AgentMessage, type RunResult, resumeAgent, type SessionStore } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { loopChainTo } from '../../../src/session.ts'
import { tool } from '../../support/play.ts'
import type { Turns } from './turns.ts'

/** How the newcomer goes on. */
const ways = ['prompt', 'send', 'continueLoop'] as const

/** What became of the two agents of one session. */
export interface Outcome {
  older: RunResult
  newer: RunResult
  /** What is wrong; empty is the promise. */
  faults: string[]
}

/** A model that asks for `calls` tools, one after the other, and then answers. */
function working(name: string, calls: number) {
  const steps = Array.from({ length: calls }, (_, at) => ({ toolCalls: [{ id: `${name}${at}`, name: 'work', arguments: {} }] }))
  return scripted([...steps, { text: `${name} has finished.` }, { text: `${name} was asked again.` }])
}

/**
 * One agent works on a session, and somewhere on the way another takes the session over. `stores` are the session as the two have it: two
 * processes, say.
 */
export async function takeOver(turns: Turns, stores: { older: SessionStore; newer: SessionStore }): Promise<Outcome> {
  const begun: string[] = []
  const work = tool('work', (_args, { toolCallId }) => {
    begun.push(toolCallId)
    return turns.take(async () => 'done')
  })
  const logged: string[] = []
  const logger = { warn: (event: string, fields?: object) => void logged.push(`${event} ${JSON.stringify(fields)}`) }
  const older = new Agent({ model: working('old', 5), tools: [work], session: stores.older, sessionId: 's', logger })
  const ends = { older: 0, newer: 0 }
  const count = (who: 'older' | 'newer') => (event: AgentEvent) => {
    if (event.type === 'agentEnd') ends[who] += 1
  }
  older.subscribe(count('older'))
  await older.prompt('First.').result.then(() => undefined)
  const first = older.messages.length
  const working2 = older.configure({ model: working('busy', 5) })
  void working2
  const running = older.prompt('Work.')
  // The other one comes after this many of its messages.
  const after = turns.pick(9)
  let heard = 0
  for await (const event of running) if (event.type === 'messageEnd' && heard++ >= after) break
  const newer = await resumeAgent(stores.newer, 's', { model: working('new', 2), tools: [work] })
  newer.subscribe(count('newer'))
  for (let wait = turns.pick(6); wait > 0; wait -= 1) await turns.take(async () => undefined)
  const newerResult = await goOn(newer, ways[turns.pick(ways.length)] ?? 'prompt')
  const olderResult = await running.result
  await Promise.all([older.close(), newer.close()])

  const faults: string[] = []
  const expect = (holds: boolean, fault: string) => void (holds || faults.push(fault))
  expect(newerResult.status === 'completed', `the newcomer ended ${newerResult.status}: ${newerResult.error?.message}`)
  const isTold =
    olderResult.status === 'completed' || (olderResult.error?.code === 'journal' && olderResult.error.cause?.code === 'conflict')
  expect(isTold, `the old one ended ${olderResult.status} ${JSON.stringify(olderResult.error)}`)
  expect(ends.older === 2 && ends.newer === 1, `${ends.older} and ${ends.newer} agentEnd`)
  expect(new Set(begun).size === begun.length, `a tool was begun twice: ${begun}`)
  const { records, damage } = await stores.newer.tail('s')
  expect(damage === undefined, `damage: ${damage?.reason}`)
  const isEnded = records.some(({ loopId, entry }) => loopId === olderResult.loopId && entry.type === 'loopEnd')
  const isWarned = logged.some((line) => line.startsWith('loopEndNotRecorded') && line.includes('"conflict"'))
  expect(olderResult.status !== 'completed' || isEnded || isWarned, 'the old one was not told that its end is not recorded')
  const session = await stores.newer.load('s')
  const ids = session.loops.map(({ loopId }) => loopId)
  expect(new Set(ids).size === ids.length, `a loop id was used twice: ${ids}`)
  expect(ids.includes(newerResult.loopId), 'the loop of the newcomer is not in the session')
  const recorded = loopChainTo(session, newerResult.loopId).flatMap((id) => session.loops.filter((loop) => loop.loopId === id))
  expect(
    recorded.every(({ base }) => base === undefined),
    'a whole history was recorded again',
  )
  expect(
    same(
      recorded.flatMap(({ messages }) => messages),
      newer.messages,
    ),
    'the log and the newcomer differ',
  )
  // What the old one was promised stands in the history of the one that goes on.
  const kept = new Set(newer.messages.map(({ id }) => id))
  const acknowledged = records.flatMap(({ entry }) => ('message' in entry ? [entry.message.id] : []))
  expect(
    acknowledged.every((id) => kept.has(id)),
    'the newcomer does not know what was acknowledged',
  )
  expect(
    older.messages.slice(0, first).every(({ id }) => kept.has(id)),
    'the beginning is gone',
  )
  const again = await resumeAgent(stores.older, 's', { model: working('third', 0), tools: [work] })
  expect(same(again.messages, newer.messages), 'who resumes next goes on from something else')
  return { older: olderResult, newer: newerResult, faults }
}

function goOn(agent: Agent, way: (typeof ways)[number]): Promise<RunResult> {
  try {
    return (way === 'continueLoop' ? agent.continueLoop() : agent[way]('Go on.')).result
  } catch {
    // There was nothing to continue.
    return agent.prompt('Go on.').result
  }
}

function same(one: readonly AgentMessage[], other: readonly AgentMessage[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
