import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { fileSessionStore } from '../../adapters/node/index.ts'
import { Agent, defineTool, memorySessionStore, resumeAgent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { exportSession, exportSessionLines, importSession, logSessionStore, memoryDriver } from '../../src/session.ts'

const folder = await mkdtemp(join(tmpdir(), 'phi-transfer-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const executed: string[] = []
const send = defineTool({
  name: 'send',
  label: 'Send',
  description: 'Sends.',
  parameters: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
  needsApproval: true,
  execute: ({ to }) => {
    executed.push(String(to))
    return 'sent'
  },
})
const model = scripted(({ messages }) =>
  messages.at(-1)?.role === 'toolResult' ? { text: 'Done.' } : { toolCalls: [{ name: 'send', arguments: { to: 'ada \u2028 \u00fc' } }] },
)

/** A store with a session `s` whose last call waits for a person. */
async function waiting() {
  const store = memorySessionStore()
  const agent = new Agent({ model, tools: [send], session: store, sessionId: 's', approvalTimeoutMs: 1 })
  expect((await agent.prompt('Send it.').result).status).toBe('paused')
  await agent.close()
  return store
}

describe('exportSession and importSession', () => {
  it('transfers a session byte for byte between all stores', async () => {
    const text = await exportSession(await waiting(), 's')
    const onDisk = fileSessionStore(folder)
    expect(await importSession(onDisk, text)).toBe('s')
    expect(await exportSession(onDisk, 's')).toBe(text)
    const back = memorySessionStore()
    expect(await importSession(back, await exportSession(onDisk, 's'), { sessionId: 'other' })).toBe('other')
    expect(await exportSession(back, 'other')).toBe(text.replace('"sessionId":"s"', '"sessionId":"other"'))
    const agent = await resumeAgent(back, 'other', { model, tools: [send] })
    const [request] = agent.pendingApprovals()
    const run = agent.continueLoop()
    run.subscribe((event) => {
      if (event.type === 'approvalRequested' && event.argumentsHash === request?.argumentsHash) run.approve(event)
    })
    expect([await run.text(), executed]).toEqual(['Done.', ['ada \u2028 \u00fc']])
  })

  it('rejects modified or truncated text without storing anything', async () => {
    const text = await exportSession(await waiting(), 's')
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: text.length - 2 }), fc.constantFrom('cut', 'change'), async (at, how) => {
        const store = memorySessionStore()
        const broken = how === 'cut' ? text.slice(0, at) : `${text.slice(0, at)}${text[at] === 'x' ? 'y' : 'x'}${text.slice(at + 1)}`
        const outcome = await importSession(store, broken).catch((error) => error.code)
        // The head alone has no checksum: another id or agent is another id or agent.
        const isHead = how === 'change' && at < text.indexOf('\n')
        expect(['invalidSession', 'invalidId', 'newerSchema', ...(isHead ? [outcome] : [])]).toContain(outcome)
        if (!isHead) expect(await store.listIds()).toEqual([])
      }),
      { numRuns: 300 },
    )
  })

  it('suggests an update if a newer version wrote any line', async () => {
    const [head = '', ...lines] = (await exportSession(await waiting(), 's')).split('\n')
    for (const text of [
      head.replace('"version":1', '"version":9'),
      [head, ...lines.map((line) => line.replace('{"v":1,', '{"v":9,"new":1,'))].join('\n'),
    ]) {
      const store = memorySessionStore()
      await expect(importSession(store, text)).rejects.toMatchObject({
        code: 'newerSchema',
        message: expect.stringContaining('Update phi-core'),
      })
      expect(await store.listIds()).toEqual([])
    }
  })

  it('transfers a session with lost media by reference', async () => {
    const driver = memoryDriver()
    const store = logSessionStore({ ...driver, ...(driver.blobs && { blobs: { ...driver.blobs, get: async () => undefined } }) })
    const content = [{ type: 'file' as const, mimeType: 'application/pdf', data: btoa('%PDF-1.7'.repeat(10_000)), name: 'a.pdf' }]
    const agent = new Agent({ model: scripted([{ text: 'Read.' }]), session: store, sessionId: 's', logger: false })
    await agent.prompt({ role: 'user', content }).result
    await agent.close()
    const text = await exportSession(store, 's')
    expect(text).toContain('"lost":true')
    const taken = memorySessionStore()
    await importSession(taken, text)
    expect(await exportSession(taken, 's')).toBe(text)
  })

  it('streams line by line and accepts arbitrary chunks', async () => {
    const store = await waiting()
    const text = await exportSession(store, 's')
    const lines: string[] = []
    for await (const line of exportSessionLines(store, 's')) lines.push(line)
    expect(lines.join('')).toBe(text)
    for (const line of lines) expect(line.indexOf('\n')).toBe(line.length - 1)
    const taken = memorySessionStore()
    await importSession(taken, exportSessionLines(store, 's'))
    expect(await exportSession(taken, 's')).toBe(text)
    for (const length of [1, 7, 100, text.length]) {
      const pieces = Array.from({ length: Math.ceil(text.length / length) }, (_, at) => text.slice(at * length, (at + 1) * length))
      const windows = pieces.map((piece) => piece.replaceAll('\n', '\r\n'))
      for (const each of [pieces, windows]) {
        await importSession(taken, each, { replace: true })
        expect(await exportSession(taken, 's')).toBe(text)
      }
    }
    await expect(importSession(taken, lines.slice(0, -1), { replace: true })).rejects.toMatchObject({ code: 'invalidSession' })
    await expect(importSession(taken, [], { replace: true })).rejects.toMatchObject({ code: 'invalidSession' })
    await expect(exportSessionLines(store, 'none').next()).rejects.toMatchObject({ code: 'notFound' })
  })

  it('rejects an existing session unless replace is set', async () => {
    const store = await waiting()
    const text = await exportSession(store, 's')
    await expect(importSession(store, text)).rejects.toMatchObject({ code: 'conflict' })
    expect(await exportSession(store, 's')).toBe(text)
    await importSession(store, text, { replace: true })
    expect(await exportSession(store, 's')).toBe(text)
    await expect(exportSession(store, 'none')).rejects.toMatchObject({ code: 'notFound' })
  })

  it('rejects replacing a session with an empty one', async () => {
    const store = await waiting()
    const text = await exportSession(store, 's')
    const nothing = '{"format":"phi-core session","version":1,"sessionId":"s","agentId":"a","records":0}\n'
    await expect(importSession(store, nothing, { replace: true })).rejects.toMatchObject({ code: 'invalidSession' })
    expect(await exportSession(store, 's')).toBe(text)
  })
})
