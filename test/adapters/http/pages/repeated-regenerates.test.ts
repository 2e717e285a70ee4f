import { describe, expect, it } from 'vitest'
import { gate } from '../../../support/play.ts'
import type { PageWorld } from './page-world.ts'
import { payingWorld } from './paying-world.ts'

const said = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] }
const keyed = { 'idempotency-key': 'click-number-1' }
const ask = (world: PageWorld, more: object = {}, headers: Record<string, string> = {}) =>
  world.post('/chat', { id: 's', trigger: 'regenerate-message', messages: [said], ...more }, headers)
const textIn = (body: string) => [...body.matchAll(/"delta":"([^"]*)"/g)].map(([, text]) => text).join('')

/** Somebody has asked once, and was answered. */
async function answered(options?: Parameters<typeof payingWorld>[0]) {
  const { world, paid } = await payingWorld(options)
  await (await world.post('/chat', { id: 's', trigger: 'submit-message', messages: [said] })).text()
  const again = async (more?: object, headers?: Record<string, string>) => textIn(await (await ask(world, more, headers)).text())
  const answerId = async (): Promise<string | undefined> => (await world.stored()).at(-1)?.id
  return { world, paid, again, answerId }
}

describe('repeated regenerate requests after the run ended', () => {
  it.each([{}, { messageId: 'm1' }])('runs again for a request without an idempotency key (%o)', async (more) => {
    const { again, paid } = await answered()
    expect([await again(more), await again(more), paid()]).toEqual(['paid 2', 'paid 3', 3])
  })

  it.each([
    [false, {}],
    [true, {}],
    [false, { messageId: 'm1' }],
    [true, { messageId: 'm1' }],
  ])('returns the same response for the same key (after a restart: %s, %o)', async (restarts, more) => {
    const { world, again, paid } = await answered()
    expect(await again(more, keyed)).toBe('paid 2')
    if (restarts) await world.restart()
    expect([await again(more, keyed), paid()]).toEqual(['paid 2', 2])
    expect([await again(more, { 'idempotency-key': 'click-number-2' }), paid()]).toEqual(['paid 3', 3])
  })

  it.each([false, true])('returns the replacement of the specified response (after a restart: %s)', async (restarts) => {
    const { world, again, paid, answerId } = await answered()
    const messageId = await answerId()
    await again({ messageId })
    if (restarts) await world.restart()
    expect([await again({ messageId }), await again({ messageId }, keyed), paid()]).toEqual(['paid 2', 'paid 2', 2])
  })

  it('continues a failed run without repeating tools if the request specifies the replaced response', async () => {
    const { world, again, paid, answerId } = await answered({ fails: (call) => call === 2 })
    const messageId = await answerId()
    expect(await (await ask(world, { messageId })).text()).toContain('no key')
    expect([await again({ messageId }), paid()]).toEqual(['paid 2', 2])
  })

  it('rejects a message that the conversation no longer contains', async () => {
    const { world, paid, answerId } = await answered()
    const messageId = await answerId()
    const messages = [{ ...said, id: 'm2', parts: [{ type: 'text', text: 'other' }] }]
    await (await world.post('/chat', { id: 's', trigger: 'submit-message', messageId: 'm1', messages })).text()
    const refused = await ask(world, { messageId })
    expect([refused.status, (await refused.json()).code, paid()]).toEqual([409, 'nothingToContinue', 2])
  })
})

describe('repeated regenerate requests during the run', () => {
  it.each([
    [{}, {}],
    [{}, keyed],
    [{ messageId: 'm1' }, { 'idempotency-key': 'click-number-2' }],
  ])('joins the active run (%o, %o)', async (more, headers) => {
    const paying = gate()
    const { world, paid } = await answered({ wait: (payment) => (payment === 2 ? paying.opened : Promise.resolve()) })
    const first = await ask(world, more, keyed)
    const second = await ask(world, more, headers)
    paying.open()
    expect([textIn(await first.text()), textIn(await second.text()), paid()]).toEqual(['paid 2', 'paid 2', 2])
  })
})
