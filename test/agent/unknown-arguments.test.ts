import { describe, expect, it, onTestFinished } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { remoteSession } from '../../src/client.ts'
import { Agent, type AgentRun, defineTool, memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  parameters: { type: 'object', properties: { euros: { type: 'number' } } },
  needsApproval: true,
  execute: (_, ctx) => ctx.requestInput?.({ message: 'Sure?' }) ?? 'nobody',
})

/** A run whose call waits, and the request. */
async function waiting() {
  const model = scripted([{ toolCalls: [{ name: 'pay', arguments: { euros: 5 } }] }, { text: 'Done.' }])
  const agent = new Agent({ model, tools: [pay], logger: false })
  const run = agent.prompt('Pay.')
  for await (const event of run) if (event.type === 'approvalRequested') return { agent, run, request: event }
  throw new Error('nothing waits')
}

/** Calls a method as JavaScript can. */
function call(of: object, name: string, ...given: unknown[]): unknown {
  return Reflect.apply(Reflect.get(of, name), of, given)
}

/** The same run on a server, and its request. */
async function waitingElsewhere() {
  const model = scripted([{ toolCalls: [{ name: 'pay', arguments: { euros: 5 } }] }, { text: 'Done.' }])
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model, tools: [pay] }), logger: false })
  onTestFinished(() => sessions.close())
  const app = createAgentApp({ sessions, authorize: () => true })
  const session = remoteSession({ url: 'http://localhost', sessionId: 's', fetch: async (request) => app.fetch(request), logger: false })
  onTestFinished(() => session.close())
  const run = session.prompt('Pay.')
  for await (const event of run) if (event.type === 'approvalRequested') return { session, run, request: event }
  throw new Error('nothing waits')
}

/** What a method throws or rejects with. */
const failureOf = (of: object, name: string, ...given: unknown[]) =>
  Promise.resolve()
    .then(() => call(of, name, ...given))
    .catch((error: unknown) => error)

const answersOfCalls: [string, unknown[], string][] = [
  ['claimCall', ['page', { force: true }], 'claimCall does not take force (true). Pass the request and the client id.'],
  ['answerCall', [{ output: 1 }, 'page', { isError: true }], 'answerCall does not take isError (true).'],
  ['answer', [{ action: 'accept' }, { remember: true }], 'answer does not take remember (true). Pass the request and the answer.'],
]
const decisions: [string, unknown[], string][] = [
  ['approve', [{ arguments: { euros: 1 } }, 'now'], 'approve does not take "now".'],
  ['approve', [{ remember: true }], 'remember (true) is not an option'],
  ['approve', [{ by: 'ada' }], 'does not accept "by" here'],
  ['approve', [{ arguments: 'all' }], 'arguments is "all"'],
  ['deny', ['no', { forever: true }], 'deny does not take forever (true).'],
]

describe('unknown arguments to a remote run and session', () => {
  it.each([...decisions, ...answersOfCalls])('rejects unknown arguments by name: %s%j', async (name, more, sentence) => {
    const { session, run, request } = await waitingElsewhere()
    for (const of of name === 'answer' ? [run] : [run, session]) {
      const failure = await failureOf(of, name, request, ...more)
      expect(failure).toMatchObject({ code: 'invalidOption', message: expect.stringContaining(sentence) })
    }
    expect(run.pendingApprovals()).toHaveLength(1)
    run.deny(request)
    expect((await run.result).status).toBe('completed')
  })

  it.each(['steer', 'followUp'])('rejects settings passed to %s', async (name) => {
    const { session, run, request } = await waitingElsewhere()
    for (const of of [run, session])
      expect(String(await failureOf(of, name, 'Wait.', { maxTokens: 3 }))).toContain(`${name} does not take maxTokens (3).`)
    run.deny(request)
    expect((await run.result).returned ?? []).toEqual([])
  })
})

describe('unknown arguments to a run', () => {
  it.each<[string, unknown[], string]>([
    ['deny', [{ reason: 'no' }], 'reason is an object; it must be a text.'],
    ['deny', ['no', { forever: true }], 'deny does not take forever (true).'],
  ])('throws for unknown arguments by name: %s%j', async (name, more, sentence) => {
    const { run, request } = await waiting()
    expect(() => call(run, name, request, ...more)).toThrow(
      expect.objectContaining({ code: 'invalidOption', message: expect.stringContaining(sentence) }),
    )
    expect(run.pendingApprovals()).toHaveLength(1)
    run.deny(request)
    expect((await run.result).status).toBe('completed')
  })

  it.each<[string, unknown[], string]>([
    ...answersOfCalls,
    ['approve', [{ arguments: { euros: 1 } }, 'now'], 'approve does not take "now".'],
    ['approve', [{ reason: 'ok', remember: true }], 'reason'],
    ['approve', ['yes'], 'approve is "yes"'],
  ])('rejects unknown arguments by name: %s%j', async (name, more, sentence) => {
    const { run, request } = await waiting()
    const failure = await failureOf(run, name, request, ...more)
    expect(failure).toMatchObject({ code: 'invalidOption', message: expect.stringContaining(sentence) })
    run.deny(request)
    expect((await run.result).status).toBe('completed')
  })

  it('treats undefined arguments as omitted', async () => {
    const { run, request } = await waiting()
    call(run, 'deny', request, undefined, undefined)
    expect((await run.result).status).toBe('completed')
  })

  it('rejects a decision with unknown keys', async () => {
    const { run, request } = await waiting()
    run.approve(request)
    const asked = await inputOf(run)
    expect(() => call(run, 'answer', asked, { action: 'accept', values: { a: 1 } })).toThrow(
      'values (an object) is not an option of answer.',
    )
    expect(() => call(run, 'answer', asked, { action: 'yes' })).toThrow(
      'answer.action is "yes"; it must be "accept" or "decline" or "cancel".',
    )
    expect(() => call(run, 'answer', asked, { content: {} })).toThrow('answer.action')
    expect(() => call(run, 'answer', asked, 'yes')).toThrow('Invalid answer to an input request.')
    run.answer(asked, { action: 'decline' })
    expect((await run.result).status).toBe('completed')
  })

  it.each(['steer', 'followUp'])('throws for settings passed to %s', async (name) => {
    const { agent, run, request } = await waiting()
    for (const of of [run, agent]) expect(() => call(of, name, 'Wait.', { maxTokens: 3 })).toThrow(`${name} does not take maxTokens (3).`)
    expect(() => call(run, 'events', { from: 3 })).toThrow('from (3) is not an option.')
    run.deny(request)
    expect((await run.result).returned).toEqual([])
    expect(() => call(agent, 'regenerate', 'some-id')).toThrow('options is "some-id"; it must be an object.')
    expect(() => call(agent, 'fork', 'some-id')).toThrow('overrides is "some-id"; it must be an object.')
  })
})

async function inputOf(run: AgentRun) {
  for await (const event of run) if (event.type === 'inputRequested') return event
  throw new Error('nobody asks')
}
