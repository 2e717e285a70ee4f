import { describe, expect, it } from 'vitest'
import type { AgentOptions, SessionStore } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { logSessionStore, memoryDriver } from '../../../../src/session.ts'
import { gate, tool } from '../../../support/play.ts'
import { type PageWorld, pageWorld, soon } from './page-world.ts'

const goes = { id: 's', trigger: 'submit-message', messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] }] }
const shared = { threadId: 's', tools: [], context: [], state: {}, forwardedProps: {} }
const routes = {
  '/chat': () => goes,
  '/agui': () => ({ ...shared, runId: crypto.randomUUID(), messages: [{ id: 'm1', role: 'user', content: 'go' }] }),
}
const paths = ['/chat', '/agui'] as const

/** Pays for the first message, then says how often it was asked to speak. */
async function shop(more: Partial<AgentOptions> = {}, store?: SessionStore) {
  const counts = { paid: 0, said: 0 }
  const held = gate()
  let holds = false
  const pay = tool('pay', () => {
    counts.paid += 1
    return 'paid'
  })
  const model = scripted(
    ({ messages }) => {
      if (messages.at(-1)?.role !== 'toolResult' && !messages.some(({ role }) => role === 'toolResult'))
        return { toolCalls: [{ name: 'pay', arguments: {} }] }
      counts.said += 1
      return { text: [`half${counts.said} `, 'whole'] }
    },
    { gate: () => (holds && counts.said === 1 ? held.opened : Promise.resolve()) },
  )
  const world = await pageWorld(() => ({ model, tools: [pay], ...more }), store)
  const hold = (isHeld: boolean): void => {
    holds = isHeld
  }
  return { world, counts, hold }
}

const say = async (world: PageWorld, path: (typeof paths)[number], headers = {}) => (await world.post(path, routes[path](), headers)).text()
const stop = async (world: PageWorld) => (await world.post('/chat/s/stop', {})).text()
const textsIn = async (world: PageWorld) => (await world.stored()).map(({ parts }) => parts.flatMap(({ text }) => text ?? []).join())

/** A store whose process is killed before it can write the end of its first run. */
function killedOnce(): SessionStore {
  const driver = memoryDriver()
  let isKilled = false
  const append: typeof driver.append = async (claim, lines, digest) => {
    if (!isKilled && JSON.stringify(lines).includes('loopEnd')) {
      isKilled = true
      throw new Error('The process was killed.')
    }
    return driver.append(claim, lines, digest)
  }
  return logSessionStore({ ...driver, append })
}

describe.each(paths)('repeated messages to %s after the user stopped the response', (path) => {
  it('regenerates a stopped text without repeating tools', async () => {
    const { world, counts, hold } = await shop()
    hold(true)
    const first = say(world, path)
    await soon(() => expect(counts.said).toBe(1))
    await stop(world)
    await first
    hold(false)
    expect(await say(world, path)).toContain('half2')
    expect([counts, await textsIn(world)]).toEqual([{ paid: 1, said: 2 }, ['go', 'half2 whole']])
  })

  it.each([{}, { 'idempotency-key': 'a-second-key' }])('returns a complete response (%o)', async (headers) => {
    const ended = gate()
    let isAfter = false
    const afterTurn = async (turn: { turnIndex: number }): Promise<void> => {
      if (turn.turnIndex === 0) return
      isAfter = true
      await ended.opened
    }
    const { world, counts } = await shop({ hooks: { afterTurn } })
    const first = say(world, path)
    await soon(() => expect(isAfter).toBe(true))
    const stopped = stop(world)
    ended.open()
    await stopped
    await first
    expect(await say(world, path, headers)).toContain('half1')
    expect([counts, await textsIn(world)]).toEqual([{ paid: 1, said: 1 }, ['go', 'half1 whole']])
  })

  it.each([false, true])('returns the response after a server crash (stopped: %s)', async (isStopped) => {
    const { world, counts } = await shop({}, killedOnce())
    await say(world, path)
    await world.restart()
    if (isStopped) await stop(world)
    expect(await say(world, path)).toContain('half1')
    expect([counts, await textsIn(world)]).toEqual([{ paid: 1, said: 1 }, ['go', 'half1 whole']])
  })
})

describe('repeated messages to a steered run', () => {
  it.each([false, true])('joins the active run and continues it after a failure (%s)', async (fails) => {
    const [paying, speaking] = [gate(), gate()]
    let paid = 0
    let said = 0
    const pay = tool('pay', async () => {
      paid += 1
      await paying.opened
      return 'paid'
    })
    const model = scripted(async ({ messages }) => {
      if (!messages.some(({ role }) => role === 'toolResult')) return { toolCalls: [{ name: 'pay', arguments: {} }] }
      said += 1
      await speaking.opened
      return fails && said === 1 ? { fail: { code: 'auth', message: 'no key' } } : { text: `said${said}` }
    })
    const world = await pageWorld(() => ({ model, tools: [pay] }))
    const first = say(world, '/chat')
    await soon(() => expect(paid).toBe(1))
    await (await world.post('/chat/s/steer', { prompt: 'quickly' })).text()
    paying.open()
    await soon(() => expect(said).toBe(1))
    const again = await world.post('/chat', goes)
    speaking.open()
    const told = expect.stringContaining(fails ? 'no key' : 'said1')
    expect([await first, await again.text()]).toEqual([told, told])
    expect(await say(world, '/chat')).toContain(fails ? 'said2' : 'said1')
    expect([paid, said]).toEqual([1, fails ? 2 : 1])
  })
})
