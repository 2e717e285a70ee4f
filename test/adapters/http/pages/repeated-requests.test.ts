import { describe, expect, it } from 'vitest'
import { memorySessionStore, type SessionStore } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { gate } from '../../../support/play.ts'
import { type PageWorld, pageWorld } from './page-world.ts'
import { payingWorld } from './paying-world.ts'

const said = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] })
const chat = (world: PageWorld, messages: object[], more: object = {}, headers: Record<string, string> = {}) =>
  world.post('/chat', { id: 's', trigger: 'submit-message', messages, ...more }, headers)
const agui = (world: PageWorld, messages: object[]) =>
  world.post('/agui', { threadId: 's', runId: crypto.randomUUID(), messages, tools: [], context: [], state: {}, forwardedProps: {} })
const textIn = (body: string) => [...body.matchAll(/"delta":"(\w+) ?(\w*)"/g)].map(([, one, two]) => `${one} ${two}`).join('|')

describe('repeated messages from a client', () => {
  it.each([{}, { 'idempotency-key': 'a-key-of-mine' }])('returns the response without repeating tools (%o)', async (headers) => {
    const { world, paid } = await payingWorld()
    const answers = []
    for (let time = 0; time < 3; time += 1) answers.push(textIn(await (await chat(world, [said('m1', 'go')], {}, headers)).text()))
    expect([paid(), answers]).toEqual([1, ['paid 1', 'paid 1', 'paid 1']])
    expect((await world.stored()).map(({ role }) => role)).toEqual(['user', 'assistant'])
  })

  it('joins an active run, even for simultaneous requests', async () => {
    const waiting = gate()
    const { world, paid } = await payingWorld({ wait: () => waiting.opened })
    const responses = await Promise.all([0, 1, 2].map(() => chat(world, [said('m1', 'go')])))
    waiting.open()
    const answers = await Promise.all(responses.map(async (response) => [response.status, textIn(await response.text())]))
    expect([paid(), answers]).toEqual([1, [0, 1, 2].map(() => [200, 'paid 1'])])
  })

  it('returns the stored response after a server restart', async () => {
    const { world, paid } = await payingWorld()
    await (await chat(world, [said('m1', 'go')])).text()
    await world.restart()
    const again = textIn(await (await chat(world, [said('m1', 'go')])).text())
    expect([paid(), again]).toEqual([1, 'paid 1'])
  })

  it('returns the response to that message, not to later ones', async () => {
    const { world, paid } = await payingWorld()
    const first = await (await chat(world, [said('m1', 'go')])).text()
    await (await chat(world, [said('m2', 'once more')])).text()
    expect([textIn(await (await chat(world, [said('m1', 'go')])).text()), paid()]).toEqual([textIn(first), 2])
    expect(await world.stored()).toHaveLength(4)
  })

  it('reads only the end of a long log after the first read', async () => {
    const store = memorySessionStore()
    let read = 0
    const tail: SessionStore['tail'] = async (...asked) => {
      const found = await store.tail(...asked)
      read += found.records.length
      return found
    }
    const world = await pageWorld(() => ({ model: scripted(() => ({ text: 'fine' })) }), { ...store, tail })
    for (let at = 0; at < 60; at += 1) await (await chat(world, [said(`message-${at}`, 'go')])).text()
    const { length } = (await store.tail('s')).records
    const again = async (at: number) => textIn(await (await chat(world, [said(`message-${at}`, 'go')])).text())
    await again(0)
    read = 0
    expect([await again(0), await again(30), await again(58), await again(59)]).toEqual(Array(4).fill('fine '))
    expect(read).toBeLessThan(length)
  })

  it.each([false, true])('continues a failed run without repeating tools (after a restart: %s)', async (restarts) => {
    const { world, paid, modelCalls } = await payingWorld({ fails: (call) => call === 1 })
    expect(await (await chat(world, [said('m1', 'go')])).text()).toContain('no key')
    if (restarts) await world.restart()
    const again = await (await chat(world, [said('m1', 'go')])).text()
    expect([textIn(again), paid(), modelCalls()]).toEqual(['paid 1', 1, 2])
    // The page that sent it has nothing of the answer.
    expect(again).toContain('tool-input-available')
  })

  it('runs again once per key after a failure', async () => {
    const { world, modelCalls } = await payingWorld({ fails: (call) => call < 3 })
    const keyed = async (key: string) => (await chat(world, [said('m1', 'go')], {}, { 'idempotency-key': key })).text()
    for (const key of ['key-number-1', 'key-number-1', 'key-number-2', 'key-number-2']) expect(await keyed(key)).toContain('no key')
    expect(modelCalls()).toBe(2)
    expect([textIn(await keyed('key-number-3')), modelCalls()]).toEqual(['paid 1', 3])
  })

  it('edits the message if its content differs, regardless of messageId', async () => {
    const { world, paid } = await payingWorld()
    await (await chat(world, [said('m1', 'go')])).text()
    await (await chat(world, [said('m1', 'go')], { messageId: 'm1' })).text()
    expect(paid()).toBe(1)
    await (await chat(world, [said('m1', 'go now')])).text()
    await (await chat(world, [said('m1', 'go now')], { messageId: 'm1' })).text()
    expect([paid(), (await world.stored()).map(({ parts }) => parts[0]?.text)]).toEqual([2, ['go now', undefined]])
  })

  it('regenerates once for repeated requests', async () => {
    const { world, paid } = await payingWorld()
    await (await chat(world, [said('m1', 'go')])).text()
    const messageId = (await world.stored()).at(-1)?.id
    const again = () => chat(world, [said('m1', 'go')], { trigger: 'regenerate-message', messageId })
    const both = await Promise.all([again(), again()])
    for (const response of both) expect([response.status, textIn(await response.text())]).toEqual([200, 'paid 2'])
    expect([textIn(await (await again()).text()), paid()]).toEqual(['paid 2', 2])
    // Another click is another request.
    await (await chat(world, [said('m1', 'go')], { trigger: 'regenerate-message' })).text()
    expect(paid()).toBe(3)
  })

  it('returns the stored response to an AG-UI client and continues after a failure', async () => {
    const { world, paid } = await payingWorld({ fails: (call) => call === 1 })
    const first = [{ id: 'm1', role: 'user', content: 'go' }]
    expect(await (await agui(world, first)).text()).toContain('RUN_ERROR')
    expect(await (await agui(world, first)).text()).toContain('paid 1')
    expect(await (await agui(world, first)).text()).toContain('paid 1')
    expect(paid()).toBe(1)
  })

  it('edits a message once per key in the phi protocol', async () => {
    const { world, paid } = await payingWorld()
    await (await chat(world, [said('m1', 'go')])).text()
    const edit = () => world.post('/sessions/s/edit', { messageId: 'm1', prompt: 'go now' }, { 'idempotency-key': 'edit-number-1' })
    for (let time = 0; time < 2; time += 1) expect((await edit()).status).toBe(200)
    const unkeyed = await world.post('/sessions/s/edit', { messageId: 'm1', prompt: 'go now' })
    expect([(await unkeyed.json()).code, paid()]).toEqual(['notFound', 2])
  })
})
