import { afterEach, beforeEach, expect, it } from 'vitest'
import { bearer, createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { SubAgentTool } from '../../../src/agents.ts'
import { type RemoteSession, remoteSession } from '../../../src/client.ts'
import { Agent, type AgentEvent, type AgentMessage, memorySessionStore, textOf } from '../../../src/index.ts'
import { type Script, scripted } from '../../../src/providers/scripted/index.ts'
import { initialState, reduce } from '../../../src/store.ts'
import { grammarFaults } from '../../support/grammar.ts'
import { patient } from '../../support/patience.ts'
import { gate, ofType, tool } from '../../support/play.ts'

const headers = { authorization: 'Bearer long-secret', 'content-type': 'application/json' }
let sessions: ReturnType<typeof memoryLiveSessions>
let session: RemoteSession

beforeEach(() => {
  const pay = tool('pay', () => 'paid', { needsApproval: true })
  const child = () => scripted([{ toolCalls: [{ id: 'x1', name: 'pay', arguments: {} }] }, { text: 'It is paid.' }])
  const helper = () =>
    new SubAgentTool({ name: 'helper', description: 'Pays.', model: child(), tools: [pay], background: true, forward: 'events' })
  const model = () =>
    scripted([{ toolCalls: [{ id: 'p1', name: 'helper', arguments: { task: 'Pay.' } }] }, { text: 'I wait.' }, { text: 'Paid, then.' }])
  sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model: model(), tools: [helper()] }) })
  const app = createAgentApp({ sessions, authorize: bearer('long-secret') })
  session = remoteSession({ url: 'http://localhost', sessionId: 'one', fetch: (request) => app.fetch(request), headers })
})
afterEach(async () => {
  session.close()
  await sessions.close()
})

const reports = (messages: readonly AgentMessage[]) =>
  messages.flatMap((message) => (message.role === 'user' && message.provenanceHint?.kind === 'background' ? [textOf(message.content)] : []))

it('streams background events, accepts approvals and delivers the report', async () => {
  const run = session.prompt('go')
  const events: AgentEvent[] = []
  let state = initialState()
  const shown = new Set<unknown>()
  for await (const event of run) {
    events.push(event)
    state = reduce(state, event)
    shown.add(state.tools.p1?.background?.status)
    if (event.type === 'approvalRequested') {
      expect(event).toMatchObject({ toolName: 'pay', subAgent: { toolCallId: 'p1', toolName: 'helper' } })
      run.approve(event)
    }
  }
  expect(await run.text()).toBe('Paid, then.')
  expect([...shown]).toEqual([undefined, 'running', 'done'])
  const { background, child } = state.tools.p1 ?? {}
  expect(background).toMatchObject({ backgroundId: 'helper-1', task: 'Pay.', result: { content: [{ text: 'It is paid.' }] } })
  expect(child?.status).toBe('completed')
  expect(grammarFaults(events)).toEqual([])
  expect(ofType(events, 'backgroundEnd')).toMatchObject([{ backgroundId: 'helper-1', isError: false }])
  expect(ofType(events, 'childEvent').filter(({ event }) => event.type === 'agentEnd')).toHaveLength(1)
  expect(reports((await run.result).messages)).toEqual([expect.stringContaining('It is paid.')])
})

it('reports an unknown outcome to the model after a crash during a sub-agent', async () => {
  const store = memorySessionStore()
  const begun = gate()
  const hang = tool('hang', () => new Promise(() => begun.open()))
  const helper = (answer: Script) =>
    new SubAgentTool({ name: 'helper', description: 'Helps.', model: scripted(answer), tools: [hang], background: true })
  const call = { toolCalls: [{ id: 'p1', name: 'helper', arguments: { task: 'Look.' } }] }
  const lost = new Agent({
    model: scripted([call, { text: 'I wait.' }]),
    tools: [helper([{ toolCalls: [{ id: 'x1', name: 'hang', arguments: {} }] }])],
    session: store,
    sessionId: 'two',
  })
  const waits = gate()
  lost.subscribe((event) => void (event.type === 'turnEnd' && event.turnIndex === 1 && waits.open()))
  lost.prompt('go')
  await Promise.all([begun.opened, waits.opened])

  // Another process, which the first one is not heard of in.
  const later = memoryLiveSessions({
    store,
    agent: () => ({ model: scripted([{ text: 'I shall look.' }, { text: 'ok' }]), tools: [helper([])] }),
  })
  const app = createAgentApp({ sessions: later, authorize: bearer('long-secret') })
  const page = remoteSession({ url: 'http://localhost', sessionId: 'two', fetch: (request) => app.fetch(request), headers })
  try {
    // Busy: the run goes on by itself before anybody says something.
    expect((await page.prompt('And?').result).error?.code).toBe('busy')
    await expect
      .poll(
        async () => reports((await store.tail('two')).records.flatMap(({ entry }) => (entry.type === 'input' ? [entry.message] : []))),
        patient,
      )
      .toEqual([expect.stringMatching(/"helper-1" was cut off: .*outcome is unknown/)])
  } finally {
    page.close()
    await later.close()
  }
})
