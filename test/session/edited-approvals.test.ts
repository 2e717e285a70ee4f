import { describe, expect, it } from 'vitest'
import { argumentsHash } from '../../src/base/hash.ts'
import { Agent, type AgentOptions, type AgentTool, defineTool, type JsonObject, memorySessionStore, resumeAgent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { exportSession, importSession, parseMessages, serializeMessages } from '../../src/session.ts'
import { restoredState } from '../../src/store.ts'
import { gate } from '../support/play.ts'

const shown = { to: 'ada' }
const changed = { to: 'bob' }
const edited = { arguments: changed, argumentsHash: argumentsHash(changed), by: 'carol' }
const parameters = { type: 'object' as const, properties: { to: { type: 'string' as const } }, required: ['to'] }

function sending(ran: JsonObject[], more: Partial<AgentTool> = {}): AgentTool {
  const send = defineTool({
    name: 'send',
    description: 'Sends.',
    parameters,
    needsApproval: true,
    execute: (args) => `sent ${ran.push(args)}`,
  })
  return { ...send, ...more }
}

const model = () => scripted([{ toolCalls: [{ id: 'c1', name: 'send', arguments: shown }] }, { text: 'Done.' }])

/** Starts an agent whose call is approved with other arguments. */
function edit(options: Partial<AgentOptions>) {
  const store = memorySessionStore()
  const agent = new Agent({ model: model(), session: store, sessionId: 's', ...options })
  const run = agent.prompt('Send it.')
  run.subscribe((event) => {
    if (event.type === 'approvalRequested') void run.approve(event, { arguments: changed, by: 'carol' })
  })
  return { store, agent, run }
}

/** A store with all records so far, as another process finds them after a kill. */
async function left(store: ReturnType<typeof memorySessionStore>) {
  const other = memorySessionStore()
  await importSession(other, await exportSession(store, 's'))
  return other
}

describe('a session with edited arguments', () => {
  it('preserves an edit and its author across export, import and reload', async () => {
    const ran: JsonObject[] = []
    const { store, agent, run } = edit({ tools: [sending(ran)] })
    await run.result
    await agent.close()
    const text = await exportSession(store, 's')
    const other = await left(store)
    expect(await exportSession(other, 's')).toBe(text)
    const { messages } = await resumeAgent(other, 's', { model: scripted([{ text: 'More.' }]), tools: [sending(ran)] })
    expect(messages).toEqual(agent.messages)
    expect(messages).toContainEqual(expect.objectContaining({ role: 'toolResult', edited }))
    expect(parseMessages(serializeMessages(messages))).toEqual(messages)
    expect(restoredState(messages).tools.c1).toMatchObject({ status: 'done', args: changed, edited })
    expect(ran).toEqual([changed])
  })

  it('rejects stored messages with an invalid edit', async () => {
    const { agent, run } = edit({ tools: [sending([])] })
    await run.result
    const text = serializeMessages(agent.messages)
    expect(() => parseMessages(text.replace('"by":"carol"', '"by":5'))).toThrow(/edited/)
  })

  it("requests approval of the model's arguments again if the process ended before execution", async () => {
    const held = gate()
    const { store, run } = edit({ tools: [sending([])], hooks: { beforeToolExecution: () => new Promise(() => held.open()) } })
    await held.opened
    const ran: JsonObject[] = []
    const agent = await resumeAgent(await left(store), 's', { model: scripted([{ text: 'Done.' }]), tools: [sending(ran)] })
    const asked: JsonObject[] = []
    const next = agent.continueLoop()
    for await (const event of next) {
      if (event.type !== 'approvalRequested') continue
      asked.push(event.args)
      expect(ran).toEqual([])
      await next.approve(event, { arguments: changed, by: 'carol' })
    }
    expect([asked, ran]).toEqual([[shown], [changed]])
    run.abort()
  })

  it('reports the executed arguments if the process ended during the call', async () => {
    const began = gate()
    const hanging = sending([], { execute: () => new Promise(() => began.open()) })
    const { store, run } = edit({ tools: [hanging] })
    await began.opened
    const ran: JsonObject[] = []
    const other = await left(store)
    const cutOff = model()
    const agent = await resumeAgent(other, 's', { model: cutOff, tools: [sending(ran)] })
    const unknown = agent.messages.at(-1)
    expect(unknown).toMatchObject({ role: 'toolResult', outcome: 'unknown', edited })
    expect(JSON.stringify(unknown)).toContain('The user changed the arguments')
    expect(await other.load('s')).toMatchObject({ loops: [{ begunCalls: [{ toolCallId: 'c1', edited }] }] })
    run.abort()
  })

  it('requests approval again for an interrupted idempotent call', async () => {
    const began = gate()
    const { store, run } = edit({ tools: [sending([], { idempotent: true, execute: () => new Promise(() => began.open()) })] })
    await began.opened
    const ran: JsonObject[] = []
    const tools = [sending(ran, { idempotent: true })]
    const agent = await resumeAgent(await left(store), 's', { model: scripted([{ text: 'Done.' }]), tools })
    const next = agent.continueLoop()
    const asked: JsonObject[] = []
    for await (const event of next) {
      if (event.type !== 'approvalRequested') continue
      asked.push(event.args)
      next.deny(event, 'no')
    }
    expect([asked, ran]).toEqual([[shown], []])
    run.abort()
  })
})
