import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fileSessionStore } from '../../adapters/node/index.ts'
import { toBase64 } from '../../src/base/base64.ts'
import { Agent, type Model, memorySessionStore, resumeAgent, type SessionStore } from '../../src/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { messagesWithBytes, scopedSessionStore, withEvents } from '../../src/session.ts'

const pdf = new Uint8Array(200_000).fill(7)
pdf.set(new TextEncoder().encode('%PDF-1.7\n'))
const data = toBase64(pdf)
const question = { role: 'user' as const, content: [{ type: 'file' as const, mimeType: 'application/pdf', data, name: 'a.pdf' }] }

let directory = ''
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stored-media-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

/** A model that answers, and what it was sent. */
function listening(): { model: Model; bodies: string[] } {
  const bodies: string[] = []
  const answer = { candidates: [{ content: { role: 'model', parts: [{ text: 'Read.' }] }, finishReason: 'STOP' }] }
  const service: typeof fetch = async (_input, init) => {
    bodies.push(String(init?.body))
    return new Response(`data: ${JSON.stringify(answer)}\n\n`, { headers: { 'content-type': 'text/event-stream' } })
  }
  return { model: google('gemini-3-pro', { apiKey: 'k', fetch: service }), bodies }
}

async function asked(session: SessionStore, sessionId = 's1'): Promise<void> {
  const agent = new Agent({ model: listening().model, session, sessionId })
  await agent.prompt(question).result
  await agent.close()
}

describe('media of a resumed session', () => {
  const stores: [string, () => SessionStore][] = [
    ['memory', () => memorySessionStore()],
    ['files', () => fileSessionStore(directory)],
    ['a custom store', () => scopedSessionStore(memorySessionStore(), 'ada')],
    ['with events', () => withEvents(memorySessionStore())],
  ]

  it.each(stores)('loads media bytes only when a request needs them: %s', async (_name, storeOf) => {
    const store = storeOf()
    await asked(store)
    const { model, bodies } = listening()
    const agent = await resumeAgent(store, 's1', { model })
    expect(agent.messages[0]?.role === 'user' && agent.messages[0].content[0]).toMatchObject({ type: 'file', blob: { bytes: pdf.length } })
    await agent.prompt('And now?').result
    await agent.prompt('And then?').result
    expect(bodies.map((body) => body.split(data).length)).toEqual([2, 2])
    await agent.close()
    expect(JSON.stringify((await store.tail('s1')).records)).not.toContain(data)
    expect(JSON.stringify(await store.load('s1'))).toContain(data)
  })

  it.each(stores)('stores media bytes once and resends them after a compaction: %s', async (_name, storeOf) => {
    const store = storeOf()
    const { model, bodies } = listening()
    const contextConfig = { maxContextTokens: 40_000, systemPromptTokens: 0, compaction: { keepFirstTurns: 0, keepRecentTurns: 3 } }
    const agent = new Agent({ model, session: store, sessionId: 's1', contextConfig })
    const words = 'Some words of a turn. '.repeat(4000)
    for (const asked of [words, question, words, 'And now?']) await agent.prompt(asked).result
    await agent.close()
    const { records } = await store.tail('s1')
    expect(records.some(({ entry }) => entry.type === 'compaction' && JSON.stringify(entry).includes('application/pdf'))).toBe(true)
    expect(JSON.stringify(records)).not.toContain(data)
    const resumed = await resumeAgent(store, 's1', { model, contextConfig })
    await resumed.prompt('And then?').result
    await resumed.close()
    expect(bodies.at(-1)?.split(data)).toHaveLength(2)
  })

  it('does not evict earlier events from the replay buffer', async () => {
    const large = `${btoa('%PDF-1.7 xyz')}${'AAAA'.repeat(2_000_000)}`
    const agent = new Agent({ model: scripted([{ text: 'Read.' }]) })
    const run = agent.prompt({ role: 'user', content: [{ type: 'file', mimeType: 'application/pdf', data: large }] })
    await run.result
    const types: string[] = []
    for await (const { type } of run.events({ after: 0 })) types.push(type)
    expect([types[0], types.at(-1)]).toEqual(['agentStart', 'agentEnd'])
  })

  it('loads media bytes for scripted models and transformed messages', async () => {
    const store = memorySessionStore()
    await asked(store)
    const script = scripted(({ messages }) => {
      const media = messages.flatMap(({ content }) => content).filter(({ type }) => type === 'file')
      return { text: String(media.every((block) => block.type === 'file' && block.data === data) && media.length) }
    })
    const agent = await resumeAgent(store, 's1', { model: script })
    expect(await agent.prompt('And now?').text()).toBe('1')
    const [first] = agent.messages
    const content = first?.role === 'user' ? first.content : []
    expect(
      await agent.editAndResend(String(first?.id), { role: 'user', content: [...content, { type: 'text', text: 'Read.' }] }).text(),
    ).toBe('1')
    await agent.close()
  })

  it('copies media bytes into a new session', async () => {
    const store = memorySessionStore()
    await asked(store)
    const { model, bodies } = listening()
    const agent = await resumeAgent(store, 's1', { model })
    const sessionId = agent.newSession()
    await agent.prompt('Again?').result
    await agent.close()
    await store.delete('s1')
    const next = await resumeAgent(store, sessionId, { model })
    await next.prompt('And again?').result
    expect(bodies.map((body) => body.includes(data))).toEqual([true, true])
  })

  it('sends a note instead of damaged or missing media bytes', async () => {
    const warnings: string[] = []
    const logger = { warn: (_name: string, fields?: Record<string, unknown>) => void warnings.push(String(fields?.message)) }
    for (const isGone of [false, true]) {
      await asked(fileSessionStore(directory), `s${isGone}`)
      const folder = (await readdir(directory)).find((name) => name.startsWith(`s${isGone}`)) ?? ''
      const blob = (await readdir(join(directory, folder))).find((name) => name.startsWith('blob.')) ?? ''
      const path = join(directory, folder, blob)
      await (isGone ? rm(path) : writeFile(path, 'other'))
      const { model, bodies } = listening()
      const agent = await resumeAgent(fileSessionStore(directory), `s${isGone}`, { model, logger })
      const { status } = await agent.prompt('And now?').result
      await agent.close()
      expect([status, bodies[0]?.includes('file left out: a.pdf (application/pdf) could not be read from its session')]).toEqual([
        'completed',
        true,
      ])
      expect(JSON.stringify(await fileSessionStore(directory).load(`s${isGone}`))).toContain('"blob"')
    }
    expect(warnings.join('\n')).toMatch(/is damaged[\s\S]*has no blob/)
  })

  it('returns media bytes to another agent through messagesWithBytes', async () => {
    const store = memorySessionStore()
    await asked(store)
    const { model, bodies } = listening()
    const { messages } = await resumeAgent(store, 's1', { model })
    const whole = await messagesWithBytes(store, 's1', messages)
    expect([whole[0]?.role === 'user' && whole[0].content, whole[1] === messages[1]]).toEqual([question.content, true])
    const other = new Agent({ model, messages: whole })
    await other.prompt('And now?').result
    expect(bodies[0]).toContain(data)
  })

  it('resolves blob references only in their own session', async () => {
    const store = memorySessionStore()
    await asked(store)
    const { model, bodies } = listening()
    const { messages } = await resumeAgent(store, 's1', { model })
    for (const session of [undefined, store]) {
      const agent = new Agent({ model, messages: [...messages], ...(session !== undefined && { session, sessionId: 's2' }) })
      const { status } = await agent.prompt('And now?').result
      await agent.close()
      expect([status, bodies.at(-1)?.includes(data), bodies.at(-1)?.includes('file left out')]).toEqual(['completed', false, true])
    }
  })
})
