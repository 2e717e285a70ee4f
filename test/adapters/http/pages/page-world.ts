import { HttpAgent } from '@ag-ui/client'
import { expect, onTestFinished, vi } from 'vitest'
import { createAgentApp, type MemoryLiveSessions, memoryLiveSessions } from '../../../../adapters/http/index.ts'
import { type Listening, serve } from '../../../../adapters/node/http/serve.ts'
import { type AgentOptions, memorySessionStore, type SessionStore } from '../../../../src/index.ts'
import { type PageChat, type PageOptions, pageChats } from '../../../support/ai-sdk-versions.ts'
import { patient } from '../../../support/patience.ts'

/** The versions of the AI SDK that are tried. */
export const versions = [5, 6, 7] as const

/** A server for pages over real HTTP, and what pages have sent to it. */
export interface PageWorld extends AsyncDisposable {
  readonly url: string
  /** How many requests changed something, or asked to. */
  posts: number
  /** What pages have sent in them. */
  readonly bodies: { trigger?: string; messages: { role: string }[] }[]
  /** The status of each of them. */
  statuses: number[]
  /** The first and the last event of streams that lack their beginning or their end. */
  unfinished: string[]
  /** The requests of clients that may change something. */
  readonly sent: { path: string; body: unknown; headers: Record<string, string> }[]
  /** Ends the server, as a deployment does, and starts another one over the same store. */
  restart(how?: { recover: boolean }): Promise<void>
  /** An unmodified chat of the AI SDK. */
  chat(version: (typeof versions)[number], options?: Partial<PageOptions>): PageChat
  /** An unmodified client of AG-UI. */
  agent(): HttpAgent
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>
  json(path: string): Promise<ReturnType<typeof JSON.parse>>
  /** What a page of `chat` loads. */
  stored(): Promise<PageChat['messages']>
}

/** Serves one agent until the test ends; `options` are made for each session that is opened. */
export async function pageWorld(options: () => AgentOptions, store: SessionStore = memorySessionStore()): Promise<PageWorld> {
  let server: Listening
  let sessions: MemoryLiveSessions
  const start = async (port: number): Promise<void> => {
    sessions = memoryLiveSessions({ store, agent: options, logger: false })
    server = await serve(createAgentApp({ sessions, authorize: () => true }), { port })
  }
  const end = async (): Promise<void> => {
    await sessions.close()
    await server[Symbol.asyncDispose]()
  }
  await start(0)
  let isOpen = true
  const close = async (): Promise<void> => {
    if (isOpen) await end()
    isOpen = false
  }
  // Not in `afterEach` of this file: files share a process, and only the first of them would have it.
  onTestFinished(close)
  const sent: typeof fetch = async (input, init) => {
    const { pathname } = new URL(String(input))
    if (init?.method === 'POST') {
      world.posts += 1
      world.bodies.push(JSON.parse(String(init.body)))
      world.sent.push({ path: pathname, body: world.bodies.at(-1), headers: Object.fromEntries(new Headers(init.headers)) })
    }
    const response = await fetch(input, init)
    if (init?.method === 'POST') world.statuses.push(response.status)
    const whole = wholes[pathname]
    return response.ok && whole !== undefined ? checked(response, whole, (fault) => world.unfinished.push(fault)) : response
  }
  const world: PageWorld = {
    posts: 0,
    bodies: [],
    statuses: [],
    unfinished: [],
    sent: [],
    get url() {
      return server.url
    },
    async restart({ recover } = { recover: false }) {
      await end()
      await start(0)
      if (recover) await sessions.recover()
    },
    chat: (version, more = {}) =>
      new pageChats[version]({
        ...{ api: 'http://chat.invalid/chat', id: 's', run: () => undefined, ...more },
        // The page finds the server of now at the same address.
        fetch: (input, init) => sent(String(input).replace('http://chat.invalid', server.url), init),
      }),
    agent: () => new HttpAgent({ url: 'http://agent.invalid', threadId: 's', fetch: (_input, init) => sent(`${server.url}/agui`, init) }),
    post: (path, body, headers = {}) =>
      sent(server.url + path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }),
    json: async (path) => (await fetch(server.url + path)).json(),
    [Symbol.asyncDispose]: close,
    stored: async () => (await (await fetch(`${server.url}/chat/s`)).json()).messages,
  }
  return world
}

/** With which types of events a stream begins and ends. */
const wholes: Record<string, { first: RegExp; last: RegExp } | undefined> = {
  '/chat': { first: /^start$/, last: /^finish$/ },
  '/agui': { first: /^RUN_STARTED$/, last: /^RUN_(FINISHED|ERROR)$/ },
}

/** Its bytes, which have to be a whole stream. */
function checked(response: Response, { first, last }: { first: RegExp; last: RegExp }, onFault: (fault: string) => void): Response {
  if (response.body === null || response.status === 204) return response
  let text = ''
  const decoder = new TextDecoder()
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(bytes, controller) {
        text += decoder.decode(bytes, { stream: true })
        controller.enqueue(bytes)
      },
      flush: () => {
        const types = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => JSON.parse(json).type)
        if (!first.test(types[0]) || !last.test(types.at(-1))) onFault(`${types[0]} … ${types.at(-1)}`)
      },
    }),
  )
  return new Response(body, { status: response.status, headers: response.headers })
}

/** Waits until `check` passes. */
export const soon = (check: () => void | Promise<void>): Promise<void> => vi.waitFor(check, patient)

/** Waits until the page sends nothing more; a page that sends without end fails here. */
export async function atRest(world: PageWorld, chat: PageChat, before = 0): Promise<void> {
  let posts = -1
  while (posts !== world.posts || chat.status === 'streaming' || chat.status === 'submitted') {
    posts = world.posts
    expect(posts - before).toBeLessThan(50)
    // As long as a request needs that the page begins in the next tasks.
    for (let task = 0; task < 20; task += 1) await new Promise((resolve) => setImmediate(resolve))
    await vi.waitFor(() => expect(['ready', 'error']).toContain(chat.status), patient)
  }
}

/** What a page shows of a message: its texts, and its calls with their states. */
export function shown({ role, parts }: PageChat['messages'][number]): string {
  const each = parts.map(({ type, text, state }) => {
    if (type === 'text') return text
    return type.startsWith('tool-') || type === 'dynamic-tool' ? `<${state}>` : ''
  })
  return `${role}: ${each.join('')}`
}

/** The types of events in a body of server-sent events. */
export async function typesIn(response: Response): Promise<string[]> {
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'))
  return lines.map((line) => JSON.parse(line.slice(6)).type)
}
