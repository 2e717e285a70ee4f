import { afterEach, expect, it, vi } from 'vitest'
import { gist } from '../../playground/src/inspector/events/event-gist.ts'
import { blocksOf } from '../../playground/src/inspector/request/request-blocks.ts'
import { runWords } from '../../playground/src/state/log/run-words.ts'
import { type Span, Trace } from '../../playground/src/state/log/trace.ts'
import { whyEnded } from '../../playground/src/state/log/why-ended.ts'
import { sessionMarkdown } from '../../playground/src/tree/session-markdown.ts'
import { treeRows } from '../../playground/src/tree/tree-rows.ts'
import { Agent, type AgentEvent, type AgentOptions, memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { initialState, reduce } from '../../src/store.ts'

const flat = (spans: readonly Span[]): Span[] => spans.flatMap((span) => [span, ...flat(span.children)])

afterEach(() => vi.unstubAllGlobals())

/** What every place that speaks of a run says of one that `options` and `steer` make. */
async function places(options: AgentOptions, steer: (agent: Agent, event: AgentEvent) => void = () => undefined) {
  const store = memorySessionStore()
  const agent = new Agent({ ...options, session: store, sessionId: 's', logger: false })
  const [live, recorded] = [new Trace(), new Trace()]
  const gists: string[] = []
  let state = initialState()
  for await (const event of agent.prompt('go')) {
    state = reduce(state, event)
    live.accept(event)
    gists.push(gist(event))
    steer(agent, event)
  }
  await agent.close()
  const session = await store.load('s')
  for (const loop of session.loops) recorded.acceptRecord(loop)
  const rows = treeRows(session, undefined)
  const ended = (trace: Trace) => trace.roots[0]?.ending
  return {
    pill: whyEnded(state)?.word ?? runWords[state.status],
    trace: ended(live),
    recorded: ended(recorded),
    events: gists.at(-1),
    tree: rows.map(({ status }) => (status === 'chosen' ? status : runWords[status]))[0],
    page: sessionMarkdown(session),
    spans: flat(live.roots),
  }
}

const stopsAtFirstWord = (agent: Agent, event: AgentEvent) => event.type === 'messageUpdate' && agent.abort('enough')

it('shows an aborted run as Stopped in every view', async () => {
  const placesSeen = await places({ model: scripted([{ text: 'one two three' }], { chunkSize: 3 }) }, stopsAtFirstWord)
  expect(placesSeen).toMatchObject({ pill: 'Stopped', trace: 'Stopped', recorded: 'Stopped', events: 'Stopped', tree: 'Stopped' })
  expect(placesSeen.page).toMatch(/^## .*\(Stopped\)$/m)
  expect(placesSeen.spans.map(({ label, ending }) => `${label} ${ending}`).join()).not.toMatch(/abort/i)
})

it('shows a limited or rejected run the same in every view', async () => {
  const call = { toolCalls: [{ id: 'c', name: 'look', arguments: {} }] }
  const look = { name: 'look', label: 'Look', description: '', parameters: { type: 'object' as const }, execute: () => 'seen' }
  const limited = await places({ model: scripted([call, call]), tools: [look], limits: { maxTurns: 1 } })
  expect(limited).toMatchObject({ trace: 'Limit reached', recorded: 'Limit reached', events: 'Limit reached', tree: 'Limit reached' })
  const rejected = await places({ model: scripted([]), inputFilters: [() => ({ type: 'reject' as const, reason: 'No.' })] })
  expect(rejected).toMatchObject({ pill: 'Rejected', trace: 'Rejected', events: 'Rejected' })
})

it('shows the origin of each sent block in every scenario', async () => {
  // The demo reads its pace from the address of its page.
  vi.stubGlobal('location', { search: '?pace=0' })
  // The page hears of parts that cannot be loaded.
  vi.stubGlobal('addEventListener', () => undefined)
  const [{ demoSetup }, { scenarios }] = await Promise.all([
    import('../../playground/src/demo/agent.ts'),
    import('../../playground/src/demo/scenarios/index.ts'),
  ])
  const origins = new Set<string>()
  const { options, tools } = demoSetup()
  const agent = new Agent({ ...options, tools: (await tools?.()) ?? [], logger: false })
  agent.subscribe((event) => {
    if (event.type === 'approvalRequested') agent.currentRun?.approve(event)
    if (event.type !== 'turnRequest') return
    for (const { origin } of blocksOf(event.request, undefined)) origins.add(origin)
  })
  // Several at once are of no single agent; the second asks to wait.
  for (const { prompt, files } of scenarios.filter(({ isRace, name }) => !isRace && !name.startsWith('Failure'))) {
    const content = [{ type: 'text' as const, text: prompt }, ...((await files?.()) ?? [])]
    await agent.prompt({ role: 'user', content }).result
  }
  await agent.compact().result
  await agent.prompt('Continue exactly where you stopped.').result
  expect([...origins].sort()).toEqual(['answer', 'marker', 'question', 'summary', 'system prompt', 'tool call', 'tool result', 'tools'])
})
