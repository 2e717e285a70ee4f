import * as fc from 'fast-check'
import { expect } from 'vitest'
import type { PageChat } from '../../../support/ai-sdk-versions.ts'
import { atRest, type PageWorld, type versions } from './page-world.ts'

const said = fc.constantFrom('pay ask', 'ask', 'pay', 'ask ask', 'none')

/** What happens, in the order in which it happens; `calls` says how the model calls tools. */
export const steps = fc.oneof(
  fc.record({ type: fc.constant('say' as const), by: fc.constantFrom('chat' as const, 'agent' as const), calls: said }),
  fc.record({
    type: fc.constantFrom('steer' as const, 'followUp' as const),
    calls: said,
    /** Without a key, with one, or twice with the same. */
    times: fc.constantFrom('unkeyed' as const, 'once' as const, 'twice' as const),
  }),
  fc.record({
    type: fc.constantFrom('answer' as const, 'agentAnswer' as const, 'lateAnswer' as const, 'otherTab' as const, 'repeat' as const),
    at: fc.nat(5),
  }),
  fc.record({ type: fc.constant('regenerate' as const), twice: fc.boolean() }),
  fc.record({
    type: fc.constantFrom('edit' as const, 'withdraw' as const, 'stop' as const, 'reload' as const, 'restart' as const, 'recover' as const),
  }),
)
export type Step = typeof steps extends fc.Arbitrary<infer Value> ? Value : never

/** One person with two clients of different protocols, and what they have done. */
export class Conversation {
  readonly world: PageWorld
  readonly #version: (typeof versions)[number]
  chat: PageChat
  readonly agent
  /** How often answers to a message were made again, by its id. */
  readonly #again = new Map<string, number>()
  /** The messages that these texts are of: an edit and a regenerate of one message may overtake each other. */
  readonly #idOf = new Map<string, string>()
  /** The keys of messages that a run has accepted. */
  readonly accepted = new Set<string>()
  /** Those that were taken back for good. */
  readonly withdrawn = new Set<string>()
  /** The ids of messages that were edited. */
  readonly editedIds = new Set<string>()
  #said = 0
  /** Texts that an edit has replaced. */
  readonly #edited: string[] = []
  readonly #under: Promise<void>[] = []

  constructor(world: PageWorld, version: (typeof versions)[number]) {
    this.world = world
    this.#version = version
    this.chat = this.#open()
    this.agent = world.agent()
  }

  /** Takes a step; with `waits` once all before it have been taken and their clients rest. */
  async take(step: Step, waits: boolean): Promise<void> {
    // A server that ends cuts off what it streams: its clients would have to come back.
    const isAlone = ['restart', 'recover', 'reload'].includes(step.type)
    if (waits || isAlone) await this.rest()
    this.#under.push(this.#take(step))
    if (isAlone) await this.rest()
  }

  async rest(): Promise<void> {
    const before = this.world.posts
    await Promise.all(this.#under.splice(0))
    await atRest(this.world, this.chat, before)
  }

  /** Also after an error: a person loads the page again. */
  async reload(): Promise<void> {
    const { messages } = await this.world.json('/chat/s')
    this.chat = this.#open()
    this.chat.messages = messages
    await this.chat.resumeStream()
  }

  /** How often this text may be paid for: once, and once more for each time that its answer is made again. */
  mostPayments(text: string): number {
    return 1 + (this.#again.get(this.#idOf.get(text) ?? '') ?? 0)
  }

  async post(path: string, body: unknown, headers?: Record<string, string>): Promise<number> {
    const response = await this.world.post(path, body, headers)
    await response.text()
    return response.status
  }

  async #take(step: Step): Promise<void> {
    switch (step.type) {
      case 'say':
        return this.#say(step.by, step.calls)
      case 'steer':
      case 'followUp':
        return this.#queue(step.type === 'steer' ? 'steer' : 'follow-up', step.calls, step.times)
      case 'answer':
        return this.#answer(step.at)
      case 'agentAnswer':
        return this.#agentAnswer(step.at)
      case 'lateAnswer':
        await this.post('/chat', { id: 's', trigger: 'submit-message', messages: [this.#lateAnswer(step.at)] })
        return
      case 'otherTab':
        return this.#otherTab(step.at)
      case 'repeat': {
        const again = this.world.sent.at(-1 - (step.at % Math.max(1, this.world.sent.length)))
        if (again !== undefined && this.#isOnce(again)) await this.post(again.path, again.body, again.headers)
        return
      }
      case 'regenerate':
        return this.#regenerate(step.twice)
      case 'edit':
        return this.#edit()
      case 'withdraw':
        return this.#withdraw()
      case 'stop':
        await this.post('/chat/s/stop', {})
        return
      case 'reload':
        return this.reload()
      case 'restart':
      case 'recover':
        await this.world.restart({ recover: step.type === 'recover' })
        await this.reload()
    }
  }

  async #say(by: 'chat' | 'agent', calls: string): Promise<void> {
    const text = this.#text(calls)
    if (by === 'chat') return this.chat.sendMessage({ text })
    this.agent.addMessage({ id: `m-${text}`, role: 'user', content: text })
    await this.#runAgent()
  }

  async #queue(path: string, calls: string, times: 'unkeyed' | 'once' | 'twice'): Promise<void> {
    const prompt = this.#text(calls)
    if (times === 'unkeyed') {
      await this.post(`/sessions/s/${path}`, { prompt })
      return
    }
    const key = `queued-${prompt.replaceAll(' ', '-')}`
    const send = () => this.post(`/sessions/s/${path}`, { prompt }, { 'idempotency-key': key })
    const statuses = await Promise.all(times === 'once' ? [send()] : [send(), send()])
    if (statuses.includes(202)) this.accepted.add(key)
  }

  async #withdraw(): Promise<void> {
    const { queued } = await this.world.json('/sessions/s/history')
    const id = queued?.[0]?.message.id
    if (id === undefined) return
    const response = await fetch(`${this.world.url}/sessions/s/queue/${id}`, { method: 'DELETE' })
    await response.text()
    if (response.status === 204) this.withdrawn.add(id)
  }

  /** One call that the chat was asked for, in any order. */
  async #answer(at: number): Promise<void> {
    const open = (this.chat.messages.at(-1)?.parts ?? []).filter(({ type, state }) => type === 'tool-ask' && state === 'input-available')
    const part = open[at % Math.max(1, open.length)]
    if (part?.toolCallId !== undefined) await this.chat.addToolResult({ tool: 'ask', toolCallId: part.toolCallId, output: 'yes' })
  }

  /** One call that the client of AG-UI has no result of. */
  async #agentAnswer(at: number): Promise<void> {
    const { messages } = this.agent
    const told = new Set(messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])))
    const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
    const open = calls.filter(({ id }) => !told.has(id))
    const call = open[at % Math.max(1, open.length)]
    if (call === undefined) return
    this.agent.addMessage({ id: crypto.randomUUID(), role: 'tool', toolCallId: call.id, content: 'yes' })
    await this.#runAgent()
  }

  async #runAgent(): Promise<void> {
    await this.agent.runAgent().catch((error: unknown) => expect(String(error)).toMatch(/HTTP 4|busy|nothingToContinue|notFound/))
  }

  /** Of a call of any message, or of none. */
  #lateAnswer(at: number) {
    const ids = this.chat.messages.flatMap(({ parts }) => parts.flatMap(({ toolCallId }) => (toolCallId === undefined ? [] : [toolCallId])))
    const part = { type: 'tool-ask', toolCallId: ids[at] ?? 'foreign', state: 'output-available', input: {}, output: 'late' }
    return { id: 'late', role: 'assistant', parts: [part] }
  }

  async #otherTab(at: number): Promise<void> {
    const { clientCalls } = await this.world.json('/sessions/s/client-calls')
    if (clientCalls.length === 0) return
    const { toolCallId, argumentsHash } = clientCalls[at % clientCalls.length]
    await this.post(`/sessions/s/client-calls/${toolCallId}`, { argumentsHash, output: 'other' })
  }

  /** A click whose request may come twice. */
  async #regenerate(twice: boolean): Promise<void> {
    const last = this.chat.messages.findLast(({ role }) => role === 'user')
    if (last === undefined) return
    for (const { text } of last.parts) if (text !== undefined) this.#idOf.set(text, last.id)
    this.#again.set(last.id, (this.#again.get(last.id) ?? 0) + 1)
    const headers = { 'idempotency-key': `click-${crypto.randomUUID()}` }
    const body = { id: 's', trigger: 'regenerate-message', messages: [last] }
    await Promise.all((twice ? [0, 1] : [0]).map(() => this.post('/chat', body, headers)))
  }

  async #edit(): Promise<void> {
    const last = this.chat.messages.findLast(({ role }) => role === 'user')
    if (last === undefined) return
    this.editedIds.add(last.id)
    this.#edited.push(...last.parts.flatMap(({ text }) => text ?? []))
    const text = this.#text('pay')
    for (const each of [text, ...this.#edited.slice(-1)]) this.#idOf.set(each, last.id)
    await this.chat.sendMessage({ text, messageId: last.id })
  }

  /** What was said before an edit and comes once more is another edit: it may pay again. What is queued without a key is said again. */
  #isOnce({ path, body, headers }: PageWorld['sent'][number]): boolean {
    const sent = JSON.stringify(body)
    const isKeyed = 'idempotency-key' in headers
    return (isKeyed || !/steer|follow-up/.test(path)) && !this.#edited.some((text) => sent.includes(JSON.stringify(text)))
  }

  #open(): PageChat {
    return this.world.chat(this.#version, { tools: [], run: () => undefined })
  }

  #text(calls: string): string {
    this.#said += 1
    return `${this.#said} ${calls}`
  }
}
