import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { type AgentMessage, memorySessionStore, type SessionStore, textOf } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { queuedInputs } from '../../../../src/session.ts'
import { clientTool } from '../../../../src/tools.ts'
import { tool } from '../../../support/play.ts'
import { runs } from '../../../support/runs.ts'
import { Conversation, type Step, steps } from './page-conversation.ts'
import { type PageWorld, pageWorld, soon, versions } from './page-world.ts'

interface Shop {
  world: PageWorld
  store: SessionStore
  /** How often each call has paid, by its id. */
  ran: Map<string, number>
  /** The text that each payment was for. */
  paid: string[]
}

/** Does what all messages say that were not answered yet: pays, asks the page, or both at once. */
async function shop(): Promise<Shop> {
  const ran = new Map<string, number>()
  const paid: string[] = []
  const pay = tool('pay', async ({ of }, { toolCallId }) => {
    ran.set(toolCallId, (ran.get(toolCallId) ?? 0) + 1)
    paid.push(String(of))
    // Other requests come meanwhile.
    for (let task = 0; task < 3; task += 1) await new Promise((resolve) => setImmediate(resolve))
    return 'paid'
  })
  const ask = clientTool({ name: 'ask', description: 'Asks the person', parameters: { type: 'object' } })
  let made = 0
  const model = scripted(({ messages }) => {
    const unanswered = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
    const heard = unanswered.filter(({ role }) => role === 'user').map(({ content }) => textOf(content))
    const calls = heard.flatMap((of) => of.split(' ').flatMap((name) => (name === 'pay' || name === 'ask' ? [{ name, of }] : [])))
    if (calls.length === 0) return { text: heard.length > 0 ? 'fine' : 'done' }
    return {
      toolCalls: calls.map(({ name, of }) => {
        made += 1
        return { id: `call-${made}`, name, arguments: { of } }
      }),
    }
  })
  const store = memorySessionStore()
  const world = await pageWorld(() => ({ model, tools: [pay, ask] }), store)
  return { world, store, ran, paid }
}

const callsIn = (message: AgentMessage) =>
  message.role === 'assistant' ? message.content.flatMap((block) => (block.type === 'toolCall' ? [block] : [])) : []

/** Each payment was made exactly once, and each message that was queued was heard once or given back. */
async function assertExact({ store, ran, paid }: Shop, conversation: Conversation): Promise<void> {
  const { accepted, withdrawn, editedIds } = conversation
  const records = await store.tail('s').then(
    (found) => found.records,
    () => [],
  )
  const messages = records.flatMap(({ entry }) => ('message' in entry ? [entry.message] : []))
  const calls = messages.flatMap(callsIn).filter(({ name }) => name === 'pay')
  const results = messages.flatMap((message) => (message.role === 'toolResult' ? [message] : []))
  const wasMade = new Set(calls.map(({ id }) => id))
  expect([...ran].filter(([id, times]) => times !== 1 || !wasMade.has(id))).toEqual([])
  const done = results.filter(({ toolName, isError }) => toolName === 'pay' && !isError)
  expect(done.filter(({ toolCallId }) => ran.get(toolCallId) !== 1)).toEqual([])
  const often = [...new Set(paid)].filter((text) => paid.filter((each) => each === text).length > conversation.mostPayments(text))
  expect(often).toEqual([])
  const heard = records.flatMap(({ entry }) => (entry.type === 'input' ? [entry.message.id] : []))
  const queued = queuedInputs(records)
  const completed = records.flatMap(({ entry, loopId }) => (entry.type === 'loopEnd' && entry.status === 'completed' ? [loopId] : []))
  for (const [id, { status, loopId }] of queued) {
    const isLost = status === 'queued' || (status === 'returned' && completed.includes(loopId) && !withdrawn.has(id))
    const times = editedIds.has(id) ? 0 : heard.filter((each) => each === id).length
    expect([id, isLost, times]).toEqual([id, false, status === 'delivered' && !editedIds.has(id) ? 1 : 0])
  }
  expect([...accepted].filter((key) => !queued.has(key))).toEqual([])
}

const say: [Step, boolean] = [{ type: 'say', by: 'chat', calls: 'pay' }, true]
const edit: [Step, boolean] = [{ type: 'edit' }, true]
const before: [Step, boolean] = [{ type: 'repeat', at: 1 }, true]
const asks: [Step, boolean] = [{ type: 'say', by: 'chat', calls: 'pay ask' }, true]
const steer: [Step, boolean] = [{ type: 'steer', calls: 'pay', times: 'twice' }, true]
const follow: [Step, boolean] = [{ type: 'followUp', calls: 'pay ask', times: 'twice' }, true]
const restart: [Step, boolean] = [{ type: 'restart' }, true]
const answer: [Step, boolean] = [{ type: 'answer', at: 0 }, true]
const repeat: [Step, boolean] = [{ type: 'repeat', at: 0 }, true]

it.each(versions)('settles every request, stops sending and runs each payment once (AI SDK %d)', { timeout: 600_000 }, async (version) => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(steps, fc.boolean()), { minLength: 2, maxLength: 10 }), async (taken) => {
      const made = await shop()
      await using _world = made.world
      const conversation = new Conversation(made.world, version)
      for (const [step, waits] of taken) await conversation.take(step, waits)
      await conversation.rest()
      expect(made.world.unfinished).toEqual([])
      // Nobody is locked out: stopped, it hears the next message.
      await conversation.post('/chat/s/stop', {})
      await assertExact(made, conversation)
      await conversation.reload()
      await conversation.chat.sendMessage({ text: 'last none' })
      await soon(() => expect(conversation.chat.messages.at(-1)?.parts.at(-1)?.text).toBe('fine'))
    }),
    {
      numRuns: runs(8, 300),
      examples: [[[say, edit, before]], [[asks, steer, follow, answer, repeat]], [[asks, follow, restart, repeat, answer, answer]]],
    },
  )
})
