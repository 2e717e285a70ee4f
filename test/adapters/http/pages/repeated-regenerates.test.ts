import { describe, expect, it } from 'vitest'
import { type Script, scripted } from '../../../../src/providers/scripted/index.ts'
import { gate, tool } from '../../../support/play.ts'
import { type PageWorld, pageWorld } from './page-world.ts'

const said = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] }
const keyed = { 'idempotency-key': 'click-number-1' }
const ask = (world: PageWorld, more: object = {}, headers: Record<string, string> = {}) =>
  world.post('/chat', { id: 's', trigger: 'regenerate-message', messages: [said], ...more }, headers)
const textIn = (body: string) => [...body.matchAll(/"delta":"([^"]*)"/g)].map(([, text]) => text).join('')

/** Pays, then says how often it has paid; `fails` says which model calls after a payment fail. The first message is answered. */
async function shop(fails: (call: number) => boolean = () => false, wait: (payment: number) => Promise<void> = async () => undefined) {
  let paid = 0
  let afterwards = 0
  const pay = tool('pay', async () => {
    paid += 1
    await wait(paid)
    return 'paid'
  })
  const script: Script = ({ messages }) => {
    if (messages.at(-1)?.role !== 'toolResult') return { toolCalls: [{ name: 'pay', arguments: {} }] }
    afterwards += 1
    return fails(afterwards) ? { fail: { code: 'auth', message: 'no key' } } : { text: `paid ${paid}` }
  }
  const world = await pageWorld(() => ({ model: scripted(script), tools: [pay] }))
  await (await world.post('/chat', { id: 's', trigger: 'submit-message', messages: [said] })).text()
  const again = async (more?: object, headers?: Record<string, string>) => textIn(await (await ask(world, more, headers)).text())
  const answerId = async (): Promise<string | undefined> => (await world.stored()).at(-1)?.id
  return { world, paid: () => paid, again, answerId }
}

describe('a regenerate that comes again after its end', () => {
  it.each([{}, { messageId: 'm1' }])('is another click without a key (%o)', async (more) => {
    const { again, paid } = await shop()
    expect([await again(more), await again(more), paid()]).toEqual(['paid 2', 'paid 3', 3])
  })

  it.each([
    [false, {}],
    [true, {}],
    [false, { messageId: 'm1' }],
    [true, { messageId: 'm1' }],
  ])('gets the same answer with the same key (after a restart: %s, %o)', async (restarts, more) => {
    const { world, again, paid } = await shop()
    expect(await again(more, keyed)).toBe('paid 2')
    if (restarts) await world.restart()
    expect([await again(more, keyed), paid()]).toEqual(['paid 2', 2])
    expect([await again(more, { 'idempotency-key': 'click-number-2' }), paid()]).toEqual(['paid 3', 3])
  })

  it.each([false, true])('gets what has replaced the answer that it names (after a restart: %s)', async (restarts) => {
    const { world, again, paid, answerId } = await shop()
    const messageId = await answerId()
    await again({ messageId })
    if (restarts) await world.restart()
    expect([await again({ messageId }), await again({ messageId }, keyed), paid()]).toEqual(['paid 2', 'paid 2', 2])
  })

  it('goes on with a run that failed, without its tools, when it names the replaced answer', async () => {
    const { world, again, paid, answerId } = await shop((call) => call === 2)
    const messageId = await answerId()
    expect(await (await ask(world, { messageId })).text()).toContain('no key')
    expect([await again({ messageId }), paid()]).toEqual(['paid 2', 2])
  })

  it('is refused, when the conversation has left its message', async () => {
    const { world, paid, answerId } = await shop()
    const messageId = await answerId()
    const messages = [{ ...said, id: 'm2', parts: [{ type: 'text', text: 'other' }] }]
    await (await world.post('/chat', { id: 's', trigger: 'submit-message', messageId: 'm1', messages })).text()
    const refused = await ask(world, { messageId })
    expect([refused.status, (await refused.json()).code, paid()]).toEqual([409, 'nothingToContinue', 2])
  })
})

describe('a regenerate that comes again while its run is on', () => {
  it.each([
    [{}, {}],
    [{}, keyed],
    [{ messageId: 'm1' }, { 'idempotency-key': 'click-number-2' }],
  ])('joins it (%o, %o)', async (more, headers) => {
    const paying = gate()
    const { world, paid } = await shop(undefined, (payment) => (payment === 2 ? paying.opened : Promise.resolve()))
    const first = await ask(world, more, keyed)
    const second = await ask(world, more, headers)
    paying.open()
    expect([textIn(await first.text()), textIn(await second.text()), paid()]).toEqual(['paid 2', 'paid 2', 2])
  })
})
