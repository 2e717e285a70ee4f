import { expect, it } from 'vitest'
import { storeToCome } from '../../playground/src/state/backend/store-to-come.ts'
import { Agent, memorySessionStore, resumeAgent, type SessionStore } from '../../src/index.ts'
import { type ScriptedStep, scripted } from '../../src/providers/scripted/index.ts'
import { logSessionStore, memoryDriver, SessionError, withEvents } from '../../src/session.ts'

const steps: ScriptedStep[] = [{ text: 'The first answer.', chunkSize: 4 }, { text: 'The second answer.' }, { text: 'The third.' }]

/** A store with all events, which comes when it is let go. */
function late(kept: SessionStore = memorySessionStore(), isAhead = true) {
  const store = withEvents(kept, { includeStreamingEvents: true })
  let arrive = (_from: Promise<SessionStore>): void => {}
  let coming = new Promise<SessionStore>((resolve) => {
    arrive = resolve
  })
  return {
    store,
    session: storeToCome(
      () => coming,
      () => isAhead,
    ),
    arrive: () => arrive(Promise.resolve(store)),
    fail: () => arrive(Promise.reject(new Error('no such part'))),
    /** What is asked for next is there. */
    mend() {
      coming = Promise.resolve(store)
    },
  }
}

const agentIn = (session: SessionStore, sessionId: string) =>
  new Agent({ model: scripted(steps), session, sessionId, captureTurnRequests: true })

/** What a log says, without what differs from run to run. */
async function logOf(store: SessionStore, sessionId: string): Promise<unknown[]> {
  const { loops } = await store.load(sessionId)
  return loops.map(({ status, messages, base, events, turns }) => ({
    ...{ status, base: base?.messages.length, turns: turns.length },
    said: messages.map(({ role, ...message }) => [role, 'content' in message ? message.content : undefined]),
    told: events.map(({ event, sequence }) => [sequence, event.type, 'delta' in event ? event.delta : undefined]),
    began: events.flatMap(({ event }) =>
      event.type === 'messageStart' && event.message.role === 'assistant' ? [event.message.content] : [],
    ),
  }))
}

it('streams a response before the store loads, and stores everything afterwards', async () => {
  const { store, session, arrive } = late()
  const agent = agentIn(session, 'late')
  const run = agent.prompt('One?')
  for await (const event of run) if (event.type === 'messageUpdate') break
  await expect(store.load('late')).rejects.toMatchObject({ code: 'notFound' })
  arrive()
  expect(await run.result).toMatchObject({ status: 'completed' })
  await agent.prompt('Two?').result

  const direct = withEvents(memorySessionStore(), { includeStreamingEvents: true })
  const other = agentIn(direct, 'direct')
  await other.prompt('One?').result
  await other.prompt('Two?').result
  expect(await logOf(store, 'late')).toEqual(await logOf(direct, 'direct'))
})

it("delays a response's end until the response is stored", async () => {
  const { session, arrive } = late()
  const agent = agentIn(session, 'unfinished')
  const run = agent.prompt('One?')
  const types: string[] = []
  run.subscribe(({ type }) => types.push(type))
  let said = ''
  for await (const event of run) {
    if (event.type === 'messageUpdate' && event.delta.type === 'text') said += event.delta.delta
    if (said === 'The first answer.') break
  }
  await new Promise((resolve) => setTimeout(resolve))
  expect(types.filter((type) => type === 'messageEnd')).toHaveLength(1) // of the question
  expect(types).not.toContain('agentEnd')
  arrive()
  expect(await run.result).toMatchObject({ status: 'completed' })
})

it('fails the response if the store cannot load, and stores everything later', async () => {
  const { store, session, fail, mend } = late()
  const agent = agentIn(session, 'failed')
  fail()
  const failed = await agent.prompt('One?').result
  expect(failed).toMatchObject({ status: 'error', error: { code: 'journal' } })
  expect(failed.error?.message).toContain('no such part')
  mend()
  expect(await agent.prompt('Two?').result).toMatchObject({ status: 'completed' })
  await agent.close()
  const again = await resumeAgent(store, 'failed', { model: scripted(steps) })
  expect(JSON.stringify(again.messages)).toContain('One?')
  expect(JSON.stringify(again.messages)).toContain('Two?')
})

it('fails the response if the store rejects the prompt', async () => {
  const driver = memoryDriver()
  const full = logSessionStore({
    ...driver,
    claim: (...asked) => driver.claim(...asked),
    append: () => Promise.reject(new SessionError('quota', 'There is no room.')),
  })
  const { session, arrive } = late(full)
  const run = agentIn(session, 'full').prompt('One?')
  for await (const event of run) if (event.type === 'messageUpdate') break
  arrive()
  expect(await run.result).toMatchObject({ status: 'error', error: { code: 'journal' } })
})

it('delays the response until the prompt is stored, without early streaming', async () => {
  const { session, arrive } = late(memorySessionStore(), false)
  const run = agentIn(session, 'behind').prompt('One?')
  const types: string[] = []
  run.subscribe(({ type }) => types.push(type))
  await new Promise((resolve) => setTimeout(resolve))
  expect(types).not.toContain('messageUpdate')
  arrive()
  expect(await run.result).toMatchObject({ status: 'completed' })
})

it('closes an agent whose session was never opened', async () => {
  const { session } = late()
  await agentIn(session, 'silent').close()
})
