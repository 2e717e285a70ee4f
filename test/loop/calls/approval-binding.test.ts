import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  Agent,
  type AgentEvent,
  type AgentOptions,
  type AgentRun,
  type AgentTool,
  defineTool,
  type JsonObject,
  type Model,
  textOf,
  toolCallsOf,
} from '../../../src/index.ts'
import { type ApprovalRequestedEvent, Approvals } from '../../../src/loop.ts'
import { type ScriptedStep, scripted } from '../../../src/providers/scripted/index.ts'
import { grammarFaults } from '../../support/grammar.ts'
import { approveWaiting, listening, ofType, tool } from '../../support/play.ts'

const remove = (ran: JsonObject[], more: Partial<AgentTool> = {}) =>
  tool('remove', (args) => `removed ${ran.push(args)}`, { needsApproval: true, ...more })
const asking = (args: JsonObject, id = 'c1'): ScriptedStep => ({ toolCalls: [{ id, name: 'remove', arguments: args }] })

/** Runs `steps` with a tool; `onRequest` is called with each request. */
async function ask(steps: ScriptedStep[], tools: AgentTool[], onRequest: (event: ApprovalRequestedEvent, run: AgentRun) => void) {
  const agent = new Agent({ model: scripted([...steps, { text: 'done' }]), tools })
  const run = agent.prompt('go')
  const events: AgentEvent[] = []
  const check = listening(run, (event) => {
    events.push(event)
    if (event.type === 'approvalRequested') onRequest(event, run)
  })
  const result = await run.result
  check()
  expect(grammarFaults(events)).toEqual([])
  return { agent, events, result }
}

/** A model whose calls have `args`, whatever JSON makes of them. */
function sayingItself(args: JsonObject): Model {
  const model = scripted([asking({}), { text: 'done' }])
  const { provider } = model
  return {
    ...model,
    provider: {
      api: provider.api,
      encode: (request) => provider.encode(request),
      async stream(request, emit, signal) {
        const message = await provider.stream(request, emit, signal)
        for (const block of message.content) if (block.type === 'toolCall') block.arguments = args
        return message
      },
    },
  }
}

describe('needsApproval of a tool', () => {
  it.each<[unknown]>([
    ['yes'],
    ['no'],
    [''],
    [1],
    [0],
    [{}],
    [null],
    [[]],
    [true],
    [() => 'yes'],
    [() => undefined],
    [() => null],
    [() => 0],
  ])('requests approval for %j', async (needsApproval) => {
    const ran: JsonObject[] = []
    const { events } = await ask([asking({})], [remove(ran, { needsApproval } as Partial<AgentTool>)], (event, run) => run.deny(event))
    expect(ofType(events, 'approvalRequested')).toHaveLength(1)
    expect(ran).toEqual([])
  })

  it.each<[unknown]>([[false], [undefined], [() => false], [() => Promise.resolve(false)]])(
    'runs without approval for %j',
    async (needsApproval) => {
      const ran: JsonObject[] = []
      const { events } = await ask([asking({})], [remove(ran, { needsApproval } as Partial<AgentTool>)], () => undefined)
      expect(ofType(events, 'approvalRequested')).toEqual([])
      expect(ran).toHaveLength(1)
    },
  )

  it.each<[string, unknown]>([
    ['text', 'yes'],
    ['a number', 1],
    ['an object', {}],
    ['null', null],
  ])('rejects %s in defineTool', (_, needsApproval) => {
    const options = { name: 'remove', description: 'Removes.', parameters: { type: 'object' }, needsApproval, execute: () => 'x' }
    expect(() => Reflect.apply(defineTool, undefined, [options])).toThrow(/Tool "remove".*needsApproval is .*; it must be true or false/)
  })

  it('passes needsApproval a copy of the arguments', async () => {
    const parameters = z.object({ path: z.string().transform((path) => new Map([['path', path]])) })
    const seen: unknown[] = []
    const parsed = defineTool({
      name: 'remove',
      description: 'Removes.',
      parameters,
      jsonSchema: { type: 'object' },
      needsApproval: ({ path }) => path.set('path', '/etc') === undefined,
      execute: ({ path }) => `removed ${seen.push(path.get('path'))}`,
    })
    const plain = remove([], {
      needsApproval: (args) => Object.assign(args, { path: '/etc' }) === undefined,
      execute: ({ path }) => `removed ${seen.push(path)}`,
    })
    for (const one of [parsed, plain]) await ask([asking({ path: 'a.txt' })], [one], () => undefined)
    expect(seen).toEqual(['a.txt', 'a.txt'])
  })
})

describe('an approval decision', () => {
  it('requires the toolCallId and argumentsHash of the request', async () => {
    const ran: JsonObject[] = []
    await ask([asking({ n: 1 })], [remove(ran)], (event, run) => {
      const { toolCallId, argumentsHash } = event
      for (const wrong of ['c1', undefined, null, {}, { toolCallId }, { argumentsHash }, { toolCallId, argumentsHash: 7 }]) {
        expect(() => Reflect.apply(run.approve, run, [wrong])).toThrow(expect.objectContaining({ code: 'invalidOption' }))
      }
      expect(() => run.approve({ toolCallId, argumentsHash: 'beef' })).toThrow(expect.objectContaining({ code: 'argumentsChanged' }))
      expect(() => run.approve({ ...event, runId: 'other' })).toThrow(expect.objectContaining({ code: 'unknownCall' }))
      expect(() => run.approve({ ...event, seq: 1 })).toThrow(expect.objectContaining({ code: 'unknownCall' }))
      expect(() => run.deny({ ...event, argumentsHash: 'beef' })).toThrow(expect.objectContaining({ code: 'argumentsChanged' }))
      expect(ran).toEqual([])
      run.approve(event)
      expect(() => run.approve(event)).toThrow(expect.objectContaining({ code: 'unknownCall' }))
    })
    expect(ran).toEqual([{ n: 1 }])
  })

  it.each([
    ['the same', { n: 1 }],
    ['other', { n: 2 }],
  ])('rejects the request of an earlier turn with the same id and %s arguments', async (_, second) => {
    const ran: JsonObject[] = []
    const asked: ApprovalRequestedEvent[] = []
    await ask([asking({ n: 1 }), asking(second)], [remove(ran)], (event, run) => {
      const [first] = asked
      asked.push(event)
      if (first === undefined) run.approve(event)
      else {
        expect(() => run.approve(first)).toThrow(expect.objectContaining({ name: 'ConfigError' }))
        expect(() => run.deny(first)).toThrow(expect.objectContaining({ name: 'ConfigError' }))
        run.deny(event)
      }
    })
    expect(asked).toHaveLength(2)
    expect(ran).toEqual([{ n: 1 }])
  })

  it('rejects the request of an earlier run for the same call', async () => {
    const ran: JsonObject[] = []
    const agent = new Agent({ model: scripted([asking({}), { text: 'ok' }, asking({}), { text: 'ok' }]), tools: [remove(ran)] })
    const asked: ApprovalRequestedEvent[] = []
    for (const text of ['first', 'second']) {
      const run = agent.prompt(text)
      const check = listening(run, (event) => {
        if (event.type !== 'approvalRequested') return
        const [first] = asked
        if (asked.push(event) > 1 && first !== undefined) expect(() => run.approve(first)).toThrow(/No tool call "c1" is pending/)
        run.approve(event)
      })
      await run.result
      check()
    }
    expect(ran).toHaveLength(2)
  })

  it('runs only the approved call of two identical ones', () => {
    const approvals = new Approvals()
    const request = { toolCallId: 'c1', toolName: 'remove', args: {}, argumentsHash: 'h', runId: 'r', loopId: 'l' }
    const decided: string[] = []
    const leave = [7, 8].map((seq) => approvals.wait({ ...request, seq }, ({ type }) => decided.push(`${seq} ${type}`)))
    approvals.approve({ ...request, seq: 8 })
    expect(decided).toEqual(['8 approved'])
    approvals.approve({ toolCallId: 'c1', argumentsHash: 'h' })
    expect(decided).toEqual(['8 approved', '7 approved'])
    for (const one of leave) one()
    expect(approvals.pending()).toEqual([])
  })

  it('ignores listener changes to the arguments in the request', async () => {
    const ran: JsonObject[] = []
    const { events, agent } = await ask([asking({ path: 'a.txt' })], [remove(ran)], (event, run) => {
      Object.assign(event.args, { path: 'b.txt' })
      const [pending] = run.pendingApprovals()
      Object.assign(pending?.args ?? {}, { path: 'c.txt' })
      expect(run.pendingApprovals()).toMatchObject([{ argumentsHash: event.argumentsHash }])
      run.approve(event)
    })
    expect(ran).toEqual([{ path: 'a.txt' }])
    expect(ofType(events, 'toolExecutionStart')).toMatchObject([{ args: { path: 'a.txt' } }])
    expect(agent.messages[1]).toMatchObject({ content: [{ arguments: { path: 'a.txt' } }] })

    const intents: unknown[] = []
    const journal: AgentOptions['journal'] = {
      append: async ({ entry }) => void (entry.type === 'toolIntent' && intents.push(entry.arguments)),
    }
    const other = new Agent({ model: scripted([asking({ path: 'a.txt' }), { text: 'done' }]), tools: [remove(ran)], journal })
    const run = other.prompt('go')
    run.subscribe((event) => {
      if (event.type !== 'approvalRequested') return
      const message = other.messages[1]
      const [call] = message?.role === 'assistant' ? toolCallsOf(message.content) : []
      Object.assign(call?.arguments ?? {}, { path: 'd.txt' })
      run.approve(event)
    })
    await run.result
    expect([ran.at(-1), ...intents]).toEqual([{ path: 'a.txt' }, { path: 'a.txt' }])
  })
})

describe('arguments that JSON cannot represent exactly', () => {
  it.each<[string, JsonObject]>([
    ['an infinite number', { n: Number.POSITIVE_INFINITY }],
    ['NaN', { n: Number.NaN }],
    ['minus zero', { list: [{ n: -0 }] }],
    ['a lone surrogate', { path: 'a\ud800' }],
    ['a lone surrogate as a key', { '\udfff': 1 }],
    ['a date', { at: new Date(0) as never }],
    ['undefined', { path: undefined as never }],
    ['a value with toJSON', { path: '/etc', toJSON: (() => ({ path: 'a.txt' })) as never }],
  ])('rejects %s without requesting approval or running the tool', async (_, args) => {
    const ran: JsonObject[] = []
    const agent = new Agent({ model: sayingItself(args), tools: [remove(ran)] })
    const run = agent.prompt('go')
    run.subscribe(() => approveWaiting(run))
    const { messages, status } = await run.result
    expect(status).toBe('completed')
    expect(ran).toEqual([])
    const told = messages.flatMap((message) => (message.role === 'toolResult' ? [textOf(message.content)] : []))
    expect(told).toEqual([expect.stringMatching(/^Invalid arguments: /)])
  })

  it('displays, hashes and passes on an argument named __proto__', async () => {
    const ran: JsonObject[] = []
    const hashes: string[] = []
    for (const json of ['{"__proto__":{"path":"/etc"}}', '{}']) {
      const { events } = await ask([asking(JSON.parse(json))], [remove(ran)], (event, run) => run.approve(event))
      const [event] = ofType(events, 'approvalRequested')
      hashes.push(event?.argumentsHash ?? '')
      expect(JSON.stringify(event?.args)).toBe(json)
      expect(JSON.stringify(ran.at(-1))).toBe(json)
    }
    expect(hashes[0]).not.toBe(hashes[1])
  })
})

describe('argument hashes on an insecure origin', () => {
  it('computes the same hash without Web Crypto', async () => {
    const hash = async () => {
      const { events } = await ask([asking({ b: ['é', null], a: { z: 1, y: true } })], [remove([])], (event, run) => run.approve(event))
      return ofType(events, 'approvalRequested')[0]?.argumentsHash
    }
    const bytes = new TextEncoder().encode('{"a":{"y":true,"z":1},"b":["é",null]}')
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
    const expected = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
    expect(await hash()).toBe(expected)
    const { subtle } = crypto
    Object.defineProperty(crypto, 'subtle', { value: undefined, configurable: true })
    try {
      expect(await hash()).toBe(expected)
    } finally {
      Object.defineProperty(crypto, 'subtle', { value: subtle, configurable: true })
    }
  })
})
