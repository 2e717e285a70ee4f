import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type AgentOptions, type AgentTool, textOf } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { clientTool } from '../../../../src/tools.ts'
import { tool } from '../../../support/play.ts'
import { runs } from '../../../support/runs.ts'
import { atRest, type PageWorld, pageWorld, versions } from './page-world.ts'

const locate = clientTool({ name: 'locate', description: 'Says where', parameters: { type: 'object' } })
const confirm = clientTool({ name: 'confirm', description: 'Asks the person', parameters: { type: 'object' } })

/** What a page, its network or its server does. */
const steps = fc.array(
  fc.constantFrom('say', 'edit', 'answer', 'answerAll', 'repeat', 'repeatTwice', 'late', 'regenerate', 'restart', 'reload'),
  { minLength: 2, maxLength: 9 },
)
type Step = typeof steps extends fc.Arbitrary<(infer Each)[]> ? Each : never

/** An agent that pays once for each message, and asks the page for what the first letter of the message says. */
function shop(): { options: () => AgentOptions; paidFor: string[] } {
  const paidFor: string[] = []
  const pay: AgentTool = {
    ...tool('pay', ({ what }) => {
      paidFor.push(String(what))
      return 'paid'
    }),
    parameters: { type: 'object', properties: { what: { type: 'string' } } },
  }
  const options = (): AgentOptions => ({
    model: scripted(({ messages }) => {
      const last = messages.at(-1)
      const said = messages.findLast(({ role }) => role === 'user')
      if (last?.role === 'toolResult') return { text: 'done' }
      const what = textOf(said?.content ?? [])
      const page = what.startsWith('both') ? ['locate', 'confirm'] : what.startsWith('page') ? ['locate'] : []
      return { toolCalls: [{ name: 'pay', arguments: { what } }, ...page.map((name) => ({ name, arguments: {} }))] }
    }),
    tools: [pay, locate, confirm],
  })
  return { options, paidFor }
}

/** Each response has an end, and what a page waits for is told soon. */
async function assertEnded(response: Response): Promise<void> {
  const body = await response.text()
  if (response.status === 200) expect(body).toMatch(/"type":"finish"|"type":"RUN_FINISHED"|"type":"RUN_ERROR"|"type":"error"/)
  else expect([400, 404, 409]).toContain(response.status)
}

interface Page {
  say(text: string): Promise<void>
  edit?(text: string): Promise<void>
  regenerate?(): Promise<void>
  /** Sends a result for the first open call, or for all of them. */
  answer(all: boolean): Promise<void>
  reload(): Promise<void>
  /** The last request once more, byte for byte. */
  repeat(): Promise<Response | undefined>
  late(): Promise<Response | undefined>
}

async function drive(world: PageWorld, page: Page, done: readonly Step[], texts: () => string): Promise<void> {
  for (const step of done) {
    if (step === 'say') await page.say(texts())
    else if (step === 'edit') await page.edit?.(texts())
    else if (step === 'regenerate') await page.regenerate?.()
    else if (step === 'restart') await world.restart({ recover: true })
    else if (step === 'reload') await page.reload()
    else if (step === 'answer' || step === 'answerAll') await page.answer(step === 'answerAll')
    else {
      const requests = step === 'late' ? [page.late()] : step === 'repeat' ? [page.repeat()] : [page.repeat(), page.repeat()]
      for (const response of await Promise.all(requests)) if (response !== undefined) await assertEnded(response)
    }
  }
}

it('settles every useChat request, stops sending and runs each payment once', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(...versions), fc.boolean(), async (done, version, sends) => {
      const { options, paidFor } = shop()
      await using world = await pageWorld(options)
      const bodies = world.bodies
      let chat = world.chat(version, { sends, tools: [] })
      let count = 0
      let again = 0
      const texts = () => {
        count += 1
        return `${['both', 'plain', 'page'][count % 3]} ${count}`
      }
      const rest = () => atRest(world, chat)
      const openCalls = () =>
        (chat.messages.at(-1)?.parts ?? []).filter(({ type, state }) => type.startsWith('tool-') && state === 'input-available')
      await drive(
        world,
        {
          say: async (text) => {
            await chat.sendMessage({ text })
            await rest()
            chat.clearError()
          },
          edit: async (text) => {
            const first = chat.messages.find(({ role }) => role === 'user')
            if (first !== undefined) await chat.sendMessage({ text, messageId: first.id })
            await rest()
            chat.clearError()
          },
          regenerate: async () => {
            if (chat.messages.length < 2) return
            again += 1
            await chat.regenerate()
            await rest()
            chat.clearError()
          },
          answer: async (all) => {
            for (const { type, toolCallId = '' } of openCalls().slice(0, all ? 2 : 1))
              void chat.addToolResult({ tool: type.slice(5), toolCallId, output: 'yes' })
            await rest()
            chat.clearError()
          },
          reload: async () => {
            chat = world.chat(version, { sends, tools: [] })
            chat.messages = await world.stored()
            await chat.resumeStream()
            await rest()
          },
          repeat: async () => {
            const body = bodies.at(-1)
            if (body?.trigger === 'regenerate-message') again += 1
            return body === undefined ? undefined : world.post('/chat', body)
          },
          late: async () => {
            const body = bodies.findLast(({ messages }) => messages.at(-1)?.role === 'assistant')
            return body === undefined ? undefined : world.post('/chat', body)
          },
        },
        done,
        texts,
      )
      expect(paidFor.length - new Set(paidFor).size).toBeLessThanOrEqual(again)
    }),
    { numRuns: runs(12, 1000) },
  )
}, 600_000)

it('settles every AG-UI request and runs each payment once', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (done) => {
      const { options, paidFor } = shop()
      await using world = await pageWorld(options)
      let agent = world.agent()
      let count = 0
      const run = async (): Promise<void> => {
        // What is refused by name is told to the page.
        await agent.runAgent().catch((error: { status?: number }) => expect([400, 404, 409]).toContain(error.status))
      }
      const openCalls = () => {
        const told = new Set(agent.messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])))
        const calls = agent.messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
        return calls.filter(({ id }) => !told.has(id))
      }
      const repeat = async () => (world.bodies.length === 0 ? undefined : world.post('/agui', world.bodies.at(-1)))
      await drive(
        world,
        {
          say: async (content) => {
            agent.addMessage({ id: crypto.randomUUID(), role: 'user', content })
            await run()
          },
          answer: async (all) => {
            for (const { id } of openCalls().slice(0, all ? 2 : 1))
              agent.addMessage({ id: crypto.randomUUID(), role: 'tool', toolCallId: id, content: 'yes' })
            if (agent.messages.length > 0) await run()
          },
          reload: async () => {
            agent = world.agent()
            if (count > 0) await run()
          },
          repeat,
          late: async () => {
            const body = world.bodies.findLast(({ messages }) => messages.at(-1)?.role === 'tool')
            return body === undefined ? undefined : world.post('/agui', body)
          },
        },
        done,
        () => {
          count += 1
          return `${['both', 'plain', 'page'][count % 3]} ${count}`
        },
      )
      expect(paidFor).toEqual([...new Set(paidFor)])
    }),
    { numRuns: runs(12, 1000) },
  )
}, 600_000)
