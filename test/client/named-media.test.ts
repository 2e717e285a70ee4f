import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { fileSessionStore } from '../../adapters/node/index.ts'
import { SubAgentTool } from '../../src/agents.ts'
import { toBase64 } from '../../src/base/base64.ts'
import { remoteSession } from '../../src/client.ts'
import {
  type AgentEvent,
  type AgentMessage,
  type AgentOptions,
  defineTool,
  type ImageContent,
  memorySessionStore,
  type SessionStore,
} from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { logSessionStore, memoryDriver } from '../../src/session.ts'
import { serve } from '../harness/serve.ts'

/** A large picture, of which no other has the bytes. */
function picture(seed: number): ImageContent {
  const bytes = Uint8Array.from({ length: 200_000 }, (_, at) => (at * seed) % 251)
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return { type: 'image', mimeType: 'image/png', data: toBase64(bytes) }
}

const bytesOfReport = new TextEncoder().encode(`%PDF-1.7\n${'page '.repeat(60_000)}`)
const report = { type: 'file' as const, mimeType: 'application/pdf', name: 'a.pdf', data: toBase64(bytesOfReport) }
const asked = { role: 'user' as const, content: [{ type: 'text' as const, text: 'Draw it.' }, report] }
const [shot, drawn] = [picture(3), picture(7)]

/** Calls a tool that gives a picture, then draws one. */
function drawing() {
  const steps = [{ toolCalls: [{ name: 'look', arguments: {} }] }, { text: 'Here it is: ', blocks: [drawn] }, { text: 'Again.' }]
  const look = defineTool({ name: 'look', description: 'Looks.', parameters: { type: 'object' }, execute: () => ({ content: [shot] }) })
  return { model: scripted(steps), tools: [look] }
}

const open: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

interface HostOptions {
  store?: SessionStore
  agent?: () => AgentOptions
  /** Answers before the app does. */
  first?: (request: Request) => Response | undefined
  /** Changes the text of an answer. */
  rewrite?: (text: string) => string
}

/** A server, what was asked of it, and sessions there. */
async function hosted({ store = memorySessionStore(), agent = drawing, first = () => undefined, rewrite }: HostOptions = {}) {
  const sessions = memoryLiveSessions({ store, agent })
  const app = createAgentApp({ sessions, authorize: () => 'ada' })
  const asked: string[] = []
  const server = await serve(async (request) => {
    asked.push(`${request.method} ${new URL(request.url).pathname}`)
    const answer = first(request) ?? (await app.fetch(request))
    return rewrite === undefined ? answer : new Response(rewrite(await answer.text()), answer)
  })
  open.push(
    async () => server[Symbol.asyncDispose](),
    () => sessions.close(),
  )
  const warnings: string[] = []
  const session = (sessionId = 's') => {
    const logger = { warn: (event: string) => warnings.push(event) }
    const remote = remoteSession({ url: server.url, sessionId, logger, reconnect: { initialDelayMs: 1, maxDelayMs: 5 } })
    open.push(async () => remote.close())
    return remote
  }
  const blobs = () => asked.filter((each) => each.includes('/blobs/'))
  const frames = async (loopId: string, sessionId = 's') => {
    const answer = await fetch(`${server.url}/sessions/${sessionId}/runs/${encodeURIComponent(loopId)}/events`)
    return answer.text()
  }
  return { url: server.url, session, blobs, frames, warnings }
}

function mediaOf(messages: readonly AgentMessage[]): unknown[] {
  return messages
    .flatMap((message) => ('content' in message ? message.content : []))
    .filter(({ type }) => type === 'image' || type === 'file')
}

/** Names in the frames of a run. */
function namesIn(frames: string): string[] {
  return [...new Set([...frames.matchAll(/"hash":"([0-9a-f]{64})"/g)].map(([, hash]) => hash ?? ''))]
}

const stream = { headers: { 'content-type': 'text/event-stream' } }

describe('large media in session events', () => {
  it('sends blob references, and serves blobs to authorized readers', async () => {
    const { session, frames, url } = await hosted()
    const run = session().prompt(asked)
    await run.result
    const sent = await frames(run.loopId)
    expect(sent.length).toBeLessThan(10_000)
    const names = namesIn(sent)
    expect(names).toHaveLength(3)
    const answers = await Promise.all(names.map((hash) => fetch(`${url}/sessions/s/blobs/${hash}`)))
    expect(answers.map(({ status, headers }) => [status, headers.get('content-type'), headers.get('x-content-type-options')])).toEqual([
      [200, 'application/pdf', 'nosniff'],
      [200, 'image/png', 'nosniff'],
      [200, 'image/png', 'nosniff'],
    ])
    expect(answers.map(({ headers }) => headers.get('content-disposition')?.split(';')[0])).toEqual(Array(3).fill('attachment'))
    expect(toBase64(new Uint8Array(await (answers[0] ?? Response.error()).arrayBuffer()))).toBe(report.data)
    const named = await (await fetch(`${url}/sessions/s/history?media=names`)).json()
    expect(namesIn(JSON.stringify(named))).toEqual(names)
  })

  it('resolves references in the client, each blob once', async () => {
    const { session, blobs } = await hosted()
    const remote = session()
    const seen: AgentEvent[] = []
    remote.subscribe((event) => seen.push(event))
    const { messages } = await remote.prompt(asked).result
    expect(mediaOf(messages)).toEqual([report, shot, drawn])
    expect(mediaOf(remote.messages)).toEqual([report, shot, drawn])
    expect(blobs()).toHaveLength(2)
    expect(JSON.stringify(seen)).not.toContain('"blob"')
    const ends = seen.flatMap((event) => (event.type === 'toolExecutionEnd' ? event.result.content : []))
    const deltas = seen.flatMap((event) => (event.type === 'messageUpdate' && event.delta.type === 'block' ? event.delta.block : []))
    expect([ends, deltas]).toEqual([[shot], [drawn]])
  })

  it('resolves references for observers, late readers and cursors', async () => {
    const { session, frames } = await hosted()
    const watcher = session()
    const ended = new Promise<AgentEvent>((resolve) => {
      watcher.subscribe((event) => event.type === 'agentEnd' && resolve(event))
    })
    await watcher.load().catch(() => undefined)
    const run = session().prompt(asked)
    await run.result
    const end = await ended
    expect(end.type === 'agentEnd' && mediaOf(end.messages)).toEqual([report, shot, drawn])
    expect(mediaOf(await session().load())).toEqual([report, shot, drawn])
    expect(namesIn(await frames(run.loopId))).toHaveLength(3)
  })

  it('serves blobs after a restart', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'named-media-'))
    open.push(() => rm(directory, { recursive: true }))
    await (await hosted({ store: fileSessionStore(directory) })).session().prompt(asked).result
    const { session, url } = await hosted({ store: fileSessionStore(directory), agent: () => ({ model: scripted([{ text: 'Again.' }]) }) })
    const remote = session()
    expect(mediaOf(await remote.load())).toEqual([report, shot, drawn])
    expect(await remote.prompt('Once more.').text()).toBe('Again.')
    const names = namesIn(await (await fetch(`${url}/sessions/s/history?media=names`)).text())
    expect(names).toHaveLength(3)
  })

  it('retries failed blob requests, and keeps references of missing blobs', async () => {
    let failures = 2
    const broken = await hosted({
      first: ({ url }) => (url.includes('/blobs/') && failures-- > 0 ? new Response('busy', { status: 503 }) : undefined),
    })
    expect(mediaOf((await broken.session().prompt(asked).result).messages)).toEqual([report, shot, drawn])
    const problem = { status: 404, headers: { 'content-type': 'application/problem+json' } }
    const gone = await hosted({
      first: ({ url }) => (url.includes('/blobs/') ? new Response('{"code":"notFound","detail":"Gone."}', problem) : undefined),
    })
    const result = await gone.session().prompt(asked).result
    expect([result.status, result.text]).toEqual(['completed', 'Here it is: '])
    expect(mediaOf(result.messages)).toMatchObject([report, { blob: { bytes: 200_000 } }, { blob: { bytes: 200_000 } }])
    expect(gone.warnings).toContain('mediaGone')
  })

  it('rejects blobs whose bytes do not match their hash or length', async () => {
    const endless = () => new ReadableStream<Uint8Array<ArrayBuffer>>({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) })
    const wrong = [new Uint8Array(200_000), endless(), new Uint8Array(0), 'x'.repeat(200_000)]
    const lying = await hosted({
      first: ({ url }) => (url.includes('/blobs/') && wrong.length > 0 ? new Response(wrong.shift()) : undefined),
    })
    expect(mediaOf((await lying.session().prompt(asked).result).messages)).toEqual([report, shot, drawn])
    expect(wrong).toEqual([])
  })

  it('requests no blob for an invalid hash', async () => {
    const hostile = await hosted()
    const paths: string[] = []
    const remote = remoteSession({
      url: hostile.url,
      sessionId: 's',
      logger: false,
      fetch: async (request) => {
        paths.push(new URL(request.url).pathname)
        const answer = await fetch(request)
        if (answer.headers.get('content-type')?.startsWith('text/event-stream') !== true) return answer
        return new Response((await answer.text()).replaceAll(/"hash":"[0-9a-f]{64}"/g, '"hash":".."'), answer)
      },
    })
    open.push(async () => remote.close())
    expect(mediaOf((await remote.prompt('Draw it.').result).messages)).toMatchObject([{ blob: { hash: '..' } }, { blob: { hash: '..' } }])
    expect(paths.filter((path) => path.endsWith('/s/') || path.includes('blobs'))).toEqual([])
  })

  it('limits blob requests to a thousand per event', async () => {
    const names = Array.from({ length: 10_000 }, (_, at) => ({ hash: at.toString(16).padStart(64, '0'), bytes: 3 }))
    const of = <More extends object>(more: More) => ({ runId: 'r', at: 1, sessionId: 's', loopId: 'l', ...more })
    const content = names.map((blob) => ({ type: 'image', mimeType: 'image/png', blob }))
    const events = [
      of({ type: 'agentStart', seq: 1, agentId: 'a', configSnapshot: {} }),
      of({ type: 'messageEnd', seq: 2, messageId: 'm', message: { id: 'm', role: 'assistant', content } }),
      of({ type: 'agentEnd', seq: 3, status: 'completed', messages: [], usage: {} }),
    ]
    let asked = 0
    const warned: string[] = []
    const gone = { status: 404, headers: { 'content-type': 'application/problem+json' } }
    const remote = remoteSession({
      ...{ url: 'http://localhost', sessionId: 's', logger: { warn: (event) => void warned.push(event) } },
      fetch: async ({ url }) => {
        if (!url.includes('/blobs/'))
          return new Response(events.map((each) => `id: ${each.seq}\ndata: ${JSON.stringify(each)}\n\n`).join(''), stream)
        asked += 1
        return new Response('{"code":"notFound","detail":"Gone."}', gone)
      },
    })
    open.push(async () => remote.close())
    expect((await remote.prompt('Draw it.').result).status).toBe('completed')
    expect([asked, warned.filter((event) => event === 'mediaGone').length]).toEqual([1000, 1001])
  })

  it.each([
    ['a response with too few bytes', 'short'],
    ['a response with too many bytes', 'endless'],
  ])('requests a blob again after %s', async (_name, kind) => {
    let times = 0
    const endless = () => new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024)) })
    const { session } = await hosted({
      first: ({ url }) =>
        url.includes('/blobs/') && times++ < 2 ? new Response(kind === 'short' ? new Uint8Array(10) : endless()) : undefined,
    })
    expect(mediaOf((await session().prompt(asked).result).messages)).toEqual([report, shot, drawn])
  })

  it.each([{ bytes: 1e12 }, { hash: '../../../x' }, { bytes: -1 }])('requests no blob for an invalid reference: %j', async (wrong) => {
    const { session, blobs, warnings } = await hosted({
      rewrite: (text) =>
        text.replaceAll(/"blob":(\{[^}]*\})/g, (_all, blob: string) => `"blob":${JSON.stringify({ ...JSON.parse(blob), ...wrong })}`),
    })
    const result = await session().prompt(asked).result
    expect([result.status, blobs(), warnings.includes('mediaGone')]).toEqual(['completed', [], true])
  })

  it.each([
    ['stores no blobs', { blobs: undefined }],
    ['is eventually consistent', { promises: { ...memoryDriver().promises, readAfterWrite: 'eventual' as const } }],
  ])('sends bytes inline if a store %s', async (_name, other) => {
    const { blobs, ...driver } = memoryDriver()
    const store = logSessionStore({ ...driver, ...(blobs !== undefined && { blobs }), ...other } as ReturnType<typeof memoryDriver>)
    const { session, frames, blobs: read } = await hosted({ store })
    const run = session().prompt(asked)
    expect(mediaOf((await run.result).messages)).toEqual([report, shot, drawn])
    expect([namesIn(await frames(run.loopId)), read()]).toEqual([[], []])
  })

  it("sends bytes inline in another session's sub-agent events", async () => {
    const painter = () => new SubAgentTool({ name: 'painter', description: 'Paints.', forward: 'events', ...drawing() })
    const agent = () => ({
      model: scripted([{ toolCalls: [{ name: 'painter', arguments: { task: 'Paint.' } }] }, { text: 'Done.' }]),
      tools: [painter()],
    })
    const { session, frames } = await hosted({ agent })
    const run = session().prompt('Paint.')
    expect((await run.result).status).toBe('completed')
    const told = (await frames(run.loopId)).split('\n').filter((line) => line.includes('"childEvent"'))
    expect(told.some((line) => line.includes(drawn.data ?? '-'))).toBe(true)
    expect(namesIn(told.join('\n'))).toEqual([])
  })
})
