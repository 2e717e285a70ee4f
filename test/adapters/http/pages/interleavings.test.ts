import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { textOf } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { clientTool } from '../../../../src/tools/index.ts'
import type { PageChat } from '../../../support/ai-sdk-versions.ts'
import { tool } from '../../../support/play.ts'
import { runs } from '../../../support/runs.ts'
import { atRest, type PageWorld, pageWorld, soon } from './page-world.ts'

/** What happens, in the order in which it happens; `with` says how the model calls tools. */
const steps = fc.oneof(
  fc.record({
    type: fc.constant('say' as const),
    by: fc.constantFrom('chat' as const, 'agent' as const),
    calls: fc.constantFrom('pay ask', 'ask', 'pay', 'ask ask', 'none'),
  }),
  fc.record({ type: fc.constantFrom('answer' as const, 'lateAnswer' as const, 'otherTab' as const, 'repeat' as const), at: fc.nat(5) }),
  fc.record({
    type: fc.constantFrom('edit' as const, 'steer' as const, 'stop' as const, 'reload' as const, 'restart' as const, 'recover' as const),
  }),
)
/** Whether a step waits for those before it. */
const pauses = fc.boolean()
type Step = typeof steps extends fc.Arbitrary<infer Value> ? Value : never

/** One person with two clients of different protocols, and what they have done. */
class Conversation {
  readonly world: PageWorld
  readonly paid: string[]
  readonly sent: { path: string; body: unknown }[]
  chat: PageChat
  readonly agent
  #said = 0
  /** Texts that an edit has replaced. */
  readonly #edited: string[] = []

  constructor({ world, paid, sent }: Shop) {
    this.world = world
    this.paid = paid
    this.sent = sent
    this.chat = this.#open()
    this.agent = world.agent()
  }

  readonly #under: Promise<void>[] = []

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

  async #take(step: Step): Promise<void> {
    switch (step.type) {
      case 'say':
        await this.say(step.by, step.calls)
        break
      case 'answer':
        await this.answer(step.at)
        break
      case 'lateAnswer':
        await this.#post('/chat', { id: 's', trigger: 'submit-message', messages: [this.lateAnswer(step.at)] })
        break
      case 'otherTab':
        await this.otherTab(step.at)
        break
      case 'repeat': {
        const again = this.sent.at(-1 - (step.at % Math.max(1, this.sent.length)))
        if (again !== undefined && !this.#isEdited(again.body)) await this.#post(again.path, again.body)
        break
      }
      case 'edit':
        await this.edit()
        break
      case 'steer':
        await (await this.world.post('/chat/s/steer', { prompt: this.#text('none') })).text()
        break
      case 'stop':
        await (await this.world.post('/chat/s/stop', {})).text()
        break
      case 'reload':
        await this.reload()
        break
      case 'restart':
      case 'recover':
        await this.world.restart({ recover: step.type === 'recover' })
        await this.reload()
    }
  }

  async say(by: 'chat' | 'agent', calls: string): Promise<void> {
    const text = this.#text(calls)
    if (by === 'chat') return this.chat.sendMessage({ text })
    this.agent.addMessage({ id: `m-${text}`, role: 'user', content: text })
    await this.agent.runAgent().catch(isRefusal)
  }

  /** One call that the chat was asked for, in any order. */
  async answer(at: number): Promise<void> {
    const open = (this.chat.messages.at(-1)?.parts ?? []).filter(({ type, state }) => type === 'tool-ask' && state === 'input-available')
    const part = open[at % Math.max(1, open.length)]
    if (part?.toolCallId !== undefined) await this.chat.addToolResult({ tool: 'ask', toolCallId: part.toolCallId, output: 'yes' })
  }

  /** Of a call of any message, or of none. */
  lateAnswer(at: number) {
    const ids = this.chat.messages.flatMap(({ parts }) => parts.flatMap(({ toolCallId }) => (toolCallId === undefined ? [] : [toolCallId])))
    const part = { type: 'tool-ask', toolCallId: ids[at] ?? 'foreign', state: 'output-available', input: {}, output: 'late' }
    return { id: 'late', role: 'assistant', parts: [part] }
  }

  async otherTab(at: number): Promise<void> {
    const { clientCalls } = await this.world.json('/sessions/s/client-calls')
    if (clientCalls.length === 0) return
    const { toolCallId, argumentsHash } = clientCalls[at % clientCalls.length]
    await (await this.world.post(`/sessions/s/client-calls/${toolCallId}`, { argumentsHash, output: 'other' })).text()
  }

  async edit(): Promise<void> {
    const last = this.chat.messages.findLast(({ role }) => role === 'user')
    if (last === undefined) return
    this.#edited.push(...last.parts.flatMap(({ text }) => text ?? []))
    await this.chat.sendMessage({ text: this.#text('pay'), messageId: last.id })
  }

  /** What was said before an edit and comes once more is another edit: it may pay again. */
  #isEdited(body: unknown): boolean {
    const sent = JSON.stringify(body)
    return this.#edited.some((text) => sent.includes(JSON.stringify(text)))
  }

  /** Also after an error: a person loads the page again. */
  async reload(): Promise<void> {
    const { messages } = await this.world.json('/chat/s')
    this.chat = this.#open()
    this.chat.messages = messages
    await this.chat.resumeStream()
  }

  async #post(path: string, body: unknown): Promise<void> {
    await (await this.world.post(path, body)).text()
  }

  #open(): PageChat {
    return this.world.chat(7, { tools: [], run: () => undefined })
  }

  #text(calls: string): string {
    this.#said += 1
    return `${this.#said} ${calls}`
  }
}

interface Shop {
  world: PageWorld
  paid: string[]
  sent: { path: string; body: unknown }[]
}

const isRefusal = (error: unknown): void => expect(String(error)).toMatch(/HTTP 4|busy|nothingToContinue|notFound/)

/** Does what the last message says: pays, asks the page, or both at once. */
async function shop(): Promise<Shop> {
  const paid: string[] = []
  const pay = tool('pay', ({ of }) => {
    paid.push(String(of))
    return 'paid'
  })
  const ask = clientTool({ name: 'ask', description: 'Asks the person', parameters: { type: 'object' } })
  const model = scripted(({ messages }) => {
    const last = messages.at(-1)
    if (last?.role !== 'user') return { text: 'done' }
    const of = textOf(last.content)
    const names = of.split(' ').filter((name) => name === 'pay' || name === 'ask')
    return names.length === 0 ? { text: 'fine' } : { toolCalls: names.map((name) => ({ name, arguments: { of } })) }
  })
  const world = await pageWorld(() => ({ model, tools: [pay, ask] }))
  return { world, paid, sent: world.sent }
}

const say: [Step, boolean] = [{ type: 'say', by: 'chat', calls: 'pay' }, true]
const edit: [Step, boolean] = [{ type: 'edit' }, true]
const before: [Step, boolean] = [{ type: 'repeat', at: 1 }, true]

it('never leaves a request without its end, sends without end, or pays twice', { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(steps, pauses), { minLength: 2, maxLength: 9 }), async (taken) => {
      const made = await shop()
      await using _world = made.world
      const conversation = new Conversation(made)
      for (const [step, waits] of taken) await conversation.take(step, waits)
      await conversation.rest()
      expect(made.world.unfinished).toEqual([])
      expect(made.paid).toEqual([...new Set(made.paid)])
      // Nobody is locked out: stopped, it hears the next message.
      await (await made.world.post('/chat/s/stop', {})).text()
      await conversation.reload()
      await conversation.chat.sendMessage({ text: 'last none' })
      await soon(() => expect(conversation.chat.messages.at(-1)?.parts.at(-1)?.text).toBe('fine'))
    }),
    { numRuns: runs(15, 400), examples: [[[say, edit, before]]] },
  )
})
