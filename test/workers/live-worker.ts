/** A Worker with live sessions. The first word of a session's id says which conversation it is; `/test/…` looks behind the scenes. */
import {
  durableObjectSessionStore,
  forwardToSession,
  type LiveAgentOptions,
  LiveSessionObject,
  type ObjectNamespace,
  type ObjectState,
} from '../../adapters/cloudflare/index.ts'
import type { ObjectAddress } from '../../adapters/cloudflare/session/object/session-address.ts'
import { type AgentTool, defineTool } from '../../src/index.ts'
import { type Script, type ScriptedStep, scripted } from '../../src/providers/scripted/index.ts'
import { failureOf, note } from './notes.ts'

export { IndexObject } from '../../adapters/cloudflare/index.ts'

interface Bindings {
  SESSIONS: ObjectNamespace
  INDEX: ObjectNamespace
  /** Sessions of which only two may run at once. */
  FEW: ObjectNamespace
}

/** How often `work` is called in a conversation of many turns. */
const turns = 8

const call: ScriptedStep = { toolCalls: [{ name: 'work', arguments: {} }] }

/** What a model says depends on the results it has seen since the last prompt, not on how often it was asked: objects are started anew. */
const scripts: Record<string, Script> = {
  chat: [{ text: ['one ', 'two ', 'three ', 'four'] }],
  poison: () => call,
  turns: ({ messages }) => {
    const since = messages.slice(messages.findLastIndex((message) => message.role === 'user'))
    return since.filter((message) => message.role === 'toolResult').length < turns ? call : { text: 'done' }
  },
  once: ({ messages }) => (messages.some((message) => message.role === 'toolResult') ? { text: 'done' } : call),
}
scripts.twice = scripts.once ?? []
scripts.awaiting = scripts.once ?? []
scripts.waiting = scripts.once ?? []

export class Conversation extends LiveSessionObject<Bindings> {
  protected override readonly keepAliveMs: number = 100
  protected override readonly maxBodyBytes: number = 10_000
  readonly #end: (reason: string) => void
  readonly #storage: ObjectState['storage']
  #open: () => void = () => undefined
  readonly #gate: Promise<void>
  /** The reasons for which this object was asked for a context without a client. */
  readonly #asked: string[] = []

  constructor(state: ObjectState & { abort(reason: string): void }, env: Bindings) {
    super(state, env)
    this.#end = (reason) => state.abort(reason)
    this.#storage = state.storage
    this.#gate = new Promise((resolve) => {
      this.#open = resolve
    })
  }

  protected override index(): ObjectNamespace {
    return this.env.INDEX
  }

  protected async agentOptions({ sessionId }: ObjectAddress): Promise<LiveAgentOptions> {
    const kind = sessionId.split('-')[0] ?? ''
    if (await this.#storage.get('open')) this.#open()
    if (await this.#storage.get('locked')) throw new Error('The key service is down: hunter2')
    let pieces = 0
    // The first piece of a chat comes at once.
    const gate = (): Promise<void> => (kind === 'chat' && pieces++ > 0 ? this.#gate : Promise.resolve())
    return { model: scripted(scripts[kind] ?? [], { gate, delayMs: kind === 'turns' ? 50 : 0 }), tools: [this.#work(kind)] }
  }

  /** The token of the client that starts the run; without a client, the reason, late for `awaiting`, and none at first for `waiting`. */
  protected override async context(request: Request | undefined, { reason, sessionId }: { reason: string; sessionId: string }) {
    if (request === undefined) this.#asked.push(reason)
    if (request === undefined && sessionId.startsWith('awaiting')) await this.#gate
    if (request === undefined && sessionId.startsWith('waiting') && !(await this.#storage.get('spare'))) return undefined
    return request?.headers.get('x-token') ?? reason
  }

  /** Ends the object while it runs, where the conversation is about that. */
  #work(kind: string): AgentTool {
    return defineTool({
      name: 'work',
      label: 'Work',
      description: 'Works.',
      parameters: { type: 'object', properties: {} },
      idempotent: ['twice', 'awaiting', 'waiting'].includes(kind),
      execute: async (_args, ctx) => {
        await this.#storage.put('contexts', [...((await this.#storage.get<unknown[]>('contexts')) ?? []), ctx.context])
        const executions = ((await this.#storage.get<number>('executions')) ?? 0) + 1
        await this.#storage.put('executions', executions)
        await this.#storage.sync()
        if (kind === 'poison' || (kind !== 'turns' && executions === 1)) this.#end('the tool ends the object')
        return `worked ${executions}`
      },
    })
  }

  override async fetch(request: Request): Promise<Response> {
    switch (new URL(request.url).pathname) {
      case '/test/end':
        this.#end('evicted')
        return new Response()
      case '/test/open':
        this.#open()
        return new Response()
      case '/test/openLater':
        await this.#storage.put('open', true)
        return new Response()
      case '/test/spare':
        await this.#storage.put('spare', true)
        return new Response()
      case '/test/lock':
        await this.#storage.put('locked', true)
        return new Response()
      case '/test/unlock':
        await this.#storage.put('locked', false)
        return new Response()
      case '/test/tables':
        return Response.json(this.state.storage.sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '~_cf%' ESCAPE '~'").toArray())
      case '/test/contexts':
        return Response.json((await this.#storage.get<unknown[]>('contexts')) ?? [])
      case '/test/asked':
        return Response.json(this.#asked)
      case '/test/executions':
        return Response.json((await this.#storage.get<number>('executions')) ?? 0)
      default:
        return super.fetch(request)
    }
  }
}

/** The same, of which only two may run at once. */
export class FewConversations extends Conversation {
  protected override readonly maxOpenRuns = 2
  // A run counts for three times as long: on a busy machine, an alarm after 100 ms may come later than that.
  protected override readonly keepAliveMs = 5000
}

/** What another writer does with a session, and what the session's object is asked meanwhile. Gives the outcome of each step. */
async function stepsOf({ SESSIONS, INDEX }: Bindings, sessionId: string, steps: readonly string[]): Promise<unknown[]> {
  const store = durableObjectSessionStore({ sessions: SESSIONS, index: INDEX })
  const writer = await store.open(sessionId, { agentId: 'other' })
  const outcomes: unknown[] = []
  for (const step of steps) {
    if (step === 'append') outcomes.push(await failureOf(writer.append([note(step)])))
    else if (step === 'close') outcomes.push(await failureOf(writer.close()))
    else if (step === 'alarm') await new Promise((resolve) => setTimeout(resolve, 300))
    else if (step === 'get') {
      const request = new Request('https://worker/')
      const answer: { runningLoopId?: string } = await (
        await forwardToSession(request, { sessions: SESSIONS, sessionId, path: '/' })
      ).json()
      outcomes.push(answer.runningLoopId ?? 'idle')
    } else {
      const request = new Request(`https://object/test/${step}`)
      await SESSIONS.getByName(`default/${sessionId}`)
        .fetch(request)
        .catch(() => undefined)
    }
  }
  return outcomes
}

// A Worker is a default export.
export default {
  async fetch(request: Request, { SESSIONS, INDEX, FEW }: Bindings): Promise<Response> {
    const store = durableObjectSessionStore({ sessions: SESSIONS, index: INDEX })
    const { pathname, searchParams } = new URL(request.url)
    const [, area = '', sessionId = '', ...rest] = pathname.split('/')
    if (area === 'odd') {
      const { id = '', path = '' } = Object.fromEntries(searchParams)
      return forwardToSession(request, { sessions: SESSIONS, sessionId: id, path })
    }
    if (area === 'few') return forwardToSession(request, { sessions: FEW, sessionId, tenant: 'few', path: `/${rest.join('/')}` })
    if (area === 'steps') return Response.json(await stepsOf({ SESSIONS, INDEX, FEW }, sessionId, (await request.text()).split(' ')))
    if (area === 'sessions') return forwardToSession(request, { sessions: SESSIONS, sessionId, path: `/${rest.join('/')}` })
    if (area === 'ids') return Response.json(await store.listIds())
    if (area === 'tail') return Response.json((await store.tail(sessionId)).records)
    if (area === 'seed') {
      const writer = await store.open(sessionId, { agentId: 'a' })
      await writer.append(await request.json())
      await writer.close()
      return new Response()
    }
    if (area === 'delete') return Response.json(await store.delete(sessionId))
    // As it came: what a Worker would do that does not use forwardToSession.
    if (area === 'raw') return SESSIONS.getByName(`default/${sessionId}`).fetch(request)
    return SESSIONS.getByName(`default/${sessionId}`).fetch(new Request(`https://object/test/${rest.join('/')}`))
  },
}
