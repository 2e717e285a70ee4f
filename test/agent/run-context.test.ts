import { describe, expect, it } from 'vitest'
import { parallel, SubAgentTool } from '../../src/agents.ts'
import {
  Agent,
  type AgentEvent,
  type AgentOptions,
  type AgentRun,
  defineTool,
  memorySessionStore,
  resumeAgent,
  type ToolContext,
} from '../../src/index.ts'
import { definePlugin, pickFirst } from '../../src/loop.ts'
import { type Script, scripted } from '../../src/providers/scripted/index.ts'
import { exportSession } from '../../src/session.ts'
import { seen, tool } from '../support/play.ts'

const token = 'tok-5f1d'
const context = { tenant: 'acme', token }
const call = { toolCalls: [{ id: 'c1', name: 'read', arguments: {} }] }

/** An agent whose tool records the contexts of its calls. */
function recording(script: Script, options: Partial<AgentOptions> = {}) {
  const contexts: unknown[] = []
  const read = tool('read', (_args, ctx) => {
    contexts.push(ctx.context)
    return 'done'
  })
  const model = scripted(script)
  const agent = new Agent({ model, tools: [read], ...options })
  const events: AgentEvent[] = []
  agent.subscribe((event) => events.push(event))
  return { agent, model, contexts, events, read }
}

describe('context of a run', () => {
  it('passes the context to the tool, its approval rule, hooks, plugins and prompt functions', async () => {
    const got: Record<string, unknown> = {}
    const note = (name: string, value: unknown): void => {
      got[name] = value
    }
    const read = defineTool({
      name: 'read',
      description: 'Reads.',
      parameters: { type: 'object' },
      needsApproval: (_args, info) => {
        note('needsApproval', info.context)
        return false
      },
      execute: (_args, ctx) => note('tool', ctx.context),
    })
    const agent = new Agent({
      model: scripted([call, { text: 'Done.' }]),
      tools: [read],
      systemPrompt: (turn) => {
        note('systemPrompt', turn.context)
        return 'Be brief.'
      },
      hooks: {
        beforeLoop: (info) => note('beforeLoop', info.context),
        prepareTurn: (turn) => {
          note('prepareTurn', turn.context)
          return undefined
        },
        beforeToolExecution: (info) => note('beforeToolExecution', info.context),
        afterAnswer: (info) => note('afterAnswer', info.context),
        afterLoop: (info) => note('afterLoop', info.context),
      },
      plugins: [
        definePlugin({
          name: 'watch',
          begin: (run) => {
            note('plugin', run.context)
            return { beforeTurn: (info) => note('plugin beforeTurn', info.context) }
          },
        }),
      ],
    })
    await agent.prompt('Go.', { context }).result
    const places = ['needsApproval', 'tool', 'systemPrompt', 'beforeLoop', 'prepareTurn', 'beforeToolExecution', 'afterAnswer', 'afterLoop']
    for (const place of [...places, 'plugin', 'plugin beforeTurn']) expect(got[place], place).toBe(context)
  })

  it("passes the context to sub-agents' tools, hooks and background tasks", async () => {
    const got: unknown[] = []
    const inner = tool('look', (_args, ctx) => {
      got.push(ctx.context)
      return 'seen'
    })
    const child = (name: string, background: boolean) =>
      new SubAgentTool({
        name,
        description: name,
        model: scripted([{ toolCalls: [{ id: 'i1', name: 'look', arguments: {} }] }, { text: 'Found.' }]),
        tools: [inner],
        hooks: { beforeLoop: (info) => void got.push(info.context) },
        background,
      })
    const calls = [
      { id: 'c1', name: 'finder', arguments: { task: 'Find it.' } },
      { id: 'c2', name: 'watcher', arguments: { task: 'Watch it.' } },
    ]
    const model = scripted([{ toolCalls: calls }, { text: 'Started.' }, { text: 'Done.' }])
    const agent = new Agent({ model, tools: [child('finder', false), child('watcher', true)] })
    await agent.prompt('Go.', { context }).result
    expect(got).toHaveLength(4)
    for (const each of got) expect(each).toBe(context)
  })

  it('keeps the context out of events, requests, records, checkpoints and settings', async () => {
    const store = memorySessionStore()
    const { agent, model, events } = recording([call, { text: 'Done.' }], { session: store, captureTurnRequests: true })
    const run = agent.prompt('Go.', { context })
    const result = await run.result
    const stored = await exportSession(store, agent.sessionId)
    const ofSdk = (key: string, value: unknown) => (['model', 'session', 'tools'].includes(key) ? undefined : value)
    for (const value of [events, model.provider.requests, stored, result, agent.checkpoint(), agent.settings])
      expect(JSON.stringify(value, ofSdk)).not.toContain(token)
  })

  it('is undefined unless the current prompt sets a context', async () => {
    const { agent, contexts } = recording([call, { text: 'a' }, call, { text: 'b' }])
    await agent.prompt('Go.', { context }).result
    await agent.prompt('Go.').result
    expect(contexts).toEqual([context, undefined])
  })

  it('is the default value only if a prompt passes none: null is a value', async () => {
    const answers = [call, { text: 'a' }, call, { text: 'b' }]
    const { agent, contexts } = recording(answers, { context })
    await agent.prompt('Go.', { context: null }).result
    await agent.prompt('Go.').result
    expect(contexts).toEqual([null, context])
  })

  it("keeps the run's context while another person approves a call", async () => {
    const { agent, contexts } = asking([call, { text: 'Done.' }])
    const run = agent.prompt('Go.', { context })
    await seen(run, 'approvalRequested')
    for (const pending of run.pendingApprovals()) run.approve(pending)
    await run.result
    expect(contexts).toEqual([context])
  })
})

interface Tenant {
  tenant: string
  token: string
}

describe('types of the context', () => {
  const base = { description: 'Reads.', parameters: { type: 'object' } } as const
  const orders = defineTool({ ...base, name: 'orders', execute: (_args, ctx: ToolContext<Tenant>) => ctx.context.tenant })
  const admin = defineTool({ ...base, name: 'admin', execute: (_args, ctx: ToolContext<{ isAdmin: boolean }>) => ctx.context.isAdmin })
  const plain = defineTool({ ...base, name: 'plain', execute: () => 'plain' })
  const model = scripted([{ text: 'a' }, { text: 'b' }, { text: 'c' }])

  it('requires the combined context type of all tools', async () => {
    const agent = new Agent({ model, tools: [orders, admin, plain], systemPrompt: ({ context }) => `For ${context.tenant}.` })
    // @ts-expect-error The tools declare a context.
    const without = () => agent.prompt('Go.')
    // @ts-expect-error `admin` declares `isAdmin`.
    const half = () => agent.prompt('Go.', { context })
    await agent.prompt('Go.', { context: { ...context, isAdmin: true } }).result
    const anyAgent: Agent = agent
    expect([without, half, anyAgent]).toHaveLength(3)
    expect(model.provider.requests[0]?.systemPrompt).toBe('For acme.')
  })

  it('does not require a context that the agent has by default', async () => {
    const agent = new Agent({
      model: scripted([{ text: 'a' }, { text: 'b' }]),
      tools: [orders],
      context,
      systemPrompt: (turn) => `For ${turn.context.tenant}.`,
    })
    await agent.prompt('Go.').result
    await agent.send('Go on.').result
    const regenerated = () => [agent.regenerate(), agent.editAndResend('m1', 'Go.')]
    // @ts-expect-error A context still has the type that `orders` declares.
    const wrong = () => agent.prompt('Go.', { context: { tenant: 1 } })
    // @ts-expect-error So does the default value.
    const wrongDefault = () => new Agent({ model, tools: [orders], context: { tenant: 'acme' } })
    // @ts-expect-error `undefined` is no default value.
    const none = () => new Agent({ model, tools: [orders], context: undefined }).prompt('Go.')
    const anyAgent: Agent = agent
    expect([regenerated, wrong, wrongDefault, none, anyAgent]).toHaveLength(5)
    expect(agent.messages).toHaveLength(4)
  })

  it('accepts any value or none if no tool declares a context type', async () => {
    const agent = new Agent({ model, tools: [plain] })
    await agent.prompt('Go.').result
    expect((await agent.prompt('Go.', { context: 3 }).result).status).toBe('completed')
  })
})

/** As `recording`, with a tool that needs an approval. */
function asking(script: Script, options: Partial<AgentOptions> = {}) {
  const made = recording(script, options)
  made.agent.setTools([{ ...made.read, needsApproval: true }])
  return made
}

/** Prompts, leaves the approval pending, and approves it in the run that `goOn` starts. */
async function paused({ agent }: Pick<ReturnType<typeof asking>, 'agent'>, goOn: () => AgentRun): Promise<void> {
  const first = agent.prompt('Go.', { context })
  await seen(first, 'approvalRequested')
  agent.stopAsking()
  expect((await first.result).status).toBe('paused')
  const run = goOn()
  await seen(run, 'approvalRequested')
  for (const pending of run.pendingApprovals()) run.approve(pending)
  await run.result
}

describe('context of a continued run', () => {
  it('keeps the context of the paused run', async () => {
    const made = asking([call, { text: 'Done.' }])
    await paused(made, () => made.agent.continueLoop())
    expect(made.contexts).toEqual([context])
  })

  it('uses the context passed to continueLoop', async () => {
    const made = asking([call, { text: 'Done.' }])
    const fresh = { tenant: 'acme', token: 'renewed' }
    await paused(made, () => made.agent.continueLoop({ context: fresh }))
    expect(made.contexts).toEqual([fresh])
  })

  it('uses null if continueLoop passes it', async () => {
    const made = asking([call, { text: 'Done.' }])
    await paused(made, () => made.agent.continueLoop({ context: null }))
    expect(made.contexts).toEqual([null])
  })

  it('keeps the context of pending calls when another person sends a message', async () => {
    const made = asking([call, { text: 'Done.' }])
    await paused(made, () => made.agent.send('And this.', { context: { tenant: 'other', token: 'theirs' } }))
    expect(made.contexts).toEqual([context])
  })

  it("uses a separate context for a compaction and then restores the paused run's context", async () => {
    const made = asking([call, { text: 'Done.' }])
    const contexts: unknown[] = []
    made.agent.configure({ hooks: { beforeLoop: (info) => void contexts.push(info.context) } })
    const first = made.agent.prompt('Go.', { context })
    await seen(first, 'approvalRequested')
    made.agent.stopAsking()
    await first.result
    await made.agent.compact({ context: 'compacting' }).result
    const run = made.agent.continueLoop()
    await seen(run, 'approvalRequested')
    run.abort()
    await run.result
    expect(contexts).toEqual([context, 'compacting', context])
  })

  it('passes no context to a regenerated or edited prompt, a copy or a fork', async () => {
    const { agent, contexts } = recording([call, { text: 'a' }, call, { text: 'b' }, call, { text: 'c' }, call, { text: 'd' }])
    await agent.prompt('Go.', { context }).result
    await agent.regenerate().result
    const id = agent.messages.find(({ role }) => role === 'user')?.id ?? ''
    await agent.editAndResend(id, 'Go again.').result
    await agent.fork().prompt('Go.').result
    expect(contexts).toEqual([context, undefined, undefined, undefined])
  })

  it('requires another process to pass the context again', async () => {
    const store = memorySessionStore()
    const made = asking([call], { session: store })
    const first = made.agent.prompt('Go.', { context })
    await seen(first, 'approvalRequested')
    made.agent.stopAsking()
    await first.result
    await made.agent.close()
    const contexts: unknown[] = []
    const read = tool('read', (_args, ctx) => String(contexts.push(ctx.context)))
    const there = await resumeAgent(store, made.agent.sessionId, { model: scripted([{ text: 'Done.' }]), tools: [read] })
    await there.continueLoop({ context: { token: 'there' } }).result
    expect(contexts).toEqual([{ token: 'there' }])
  })
})

describe('context of parallel branches', () => {
  it.each([
    ['uses the context of the call', { context: 'call' }, 'call'],
    ["defaults to the agent's context", {}, 'agent'],
  ])('%s', async (_name, options, expected) => {
    const contexts: unknown[] = []
    const read = tool('read', (_args, ctx) => String(contexts.push(ctx.context)))
    const agent = new Agent({ model: scripted([]), tools: [read], context: 'agent' })
    const models = [scripted([call, { text: 'a' }]), scripted([call, { text: 'b' }])]
    await parallel(agent, 'Go.', { models, judge: pickFirst, ...options })
    expect(contexts).toEqual([expected, expected])
  })
})
