import { SubAgentTool } from '../../src/agents.ts'
import {
  Agent,
  type AgentEvent,
  type AgentMessage,
  type AgentOptions,
  type AgentRun,
  defineTool,
  type Model,
  type PromptInput,
} from '../../src/index.ts'
import { asEmitted } from '../../src/internal.ts'
import { parallelLoop, pickFirst } from '../../src/loop.ts'
import { type Script, scripted } from '../../src/providers/scripted/index.ts'
import { prunTools } from '../../src/tools.ts'
import { messages, playLong } from '../support/compacting.ts'
import { add, fastRetry } from '../support/play.ts'
import { modelThatWrites } from './broken-arguments.ts'

/** A run of a real agent: what it reported, as a client would get it, and the conversation around it. */
export interface RecordedRun {
  events: AgentEvent[]
  before: AgentMessage[]
  after: AgentMessage[]
}

export const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value))

type OnEvent = (event: AgentEvent, run: AgentRun) => void

/** Records the run that `start` begins. `onEvent` is the person in front of it. */
export async function recordRun(agent: Agent, start: (agent: Agent) => AgentRun, onEvent: OnEvent = () => undefined): Promise<RecordedRun> {
  const events: AgentEvent[] = []
  const before = copy([...agent.messages])
  const waiting: AgentEvent[] = []
  let run: AgentRun | undefined
  const stop = agent.subscribe((event) => {
    events.push(copy(asEmitted(event)))
    if (run === undefined) waiting.push(event)
    else onEvent(event, run)
  })
  run = start(agent)
  for (const event of waiting) onEvent(event, run)
  await run.result
  stop()
  return { events, before, after: copy([...agent.messages]) }
}

async function played(script: Script, options: Partial<AgentOptions> = {}, onEvent?: OnEvent, prompt: PromptInput = 'go') {
  return recordRun(new Agent({ model: scripted(script), retry: fastRetry, ...options }), (agent) => agent.prompt(prompt), onEvent)
}

async function playedBy(model: Model, options: Partial<AgentOptions>, onEvent?: OnEvent): Promise<RecordedRun> {
  return recordRun(new Agent({ model, ...options }), (agent) => agent.prompt('go'), onEvent)
}

const call = (name: string, args: Record<string, number | string>, id?: string) => ({
  name,
  arguments: args,
  ...(id !== undefined && { id }),
})
const pixel = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' } as const

const draw = defineTool({
  name: 'draw',
  description: 'Draws',
  parameters: { type: 'object' },
  execute: () => ({ content: [{ type: 'text', text: 'here' }, pixel], details: { strokes: 3 } }),
})
const fails = defineTool({
  name: 'fails',
  description: 'Fails',
  parameters: { type: 'object' },
  execute: () => Promise.reject(new Error('no such file')),
})
const slow = defineTool({
  name: 'slow',
  description: 'Reports',
  parameters: { type: 'object' },
  execute: async (_args, ctx) => {
    ctx.progress('half way')
    ctx.update({ content: [{ type: 'text', text: '50 %' }] })
    await Promise.resolve()
    ctx.update({ content: [{ type: 'text', text: '100 %' }] })
    return 'done'
  },
})
export const asks = defineTool({
  name: 'pay',
  description: 'Pays',
  parameters: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
  needsApproval: true,
  execute: ({ amount }) => `paid ${amount}`,
})
const twoCalls = [{ text: 'Two things.', toolCalls: [call('pay', { amount: 5 }), call('add', { a: 1, b: 2 })] }, { text: 'Both done.' }]

const serviceAsks: Script = [
  {
    blocks: [{ type: 'serviceTool', id: 'mcpr_1', name: 'mcp.shop.pay', input: { amount: 5 }, status: 'running', needsApproval: true }],
    stopReason: 'toolUse',
  },
  { text: 'As you say.' },
]

const approveAll: OnEvent = (event, run) => {
  if (event.type === 'approvalRequested') run.approve(event)
}
const denyAll: OnEvent = (event, run) => {
  if (event.type === 'approvalRequested') run.deny(event, 'too much')
}

function helper(script: Script, tools = [add], background = false) {
  const model = scripted(script)
  return new SubAgentTool({ name: 'helper', description: 'Helps.', model, tools, forward: 'events', retry: fastRetry, background })
}

/** What agents do. Each is played anew where it is asked for. */
export const scenarios: Record<string, () => Promise<RecordedRun>> = {
  text: () => played([{ text: 'Hello, it is a nice day to be tested.', usage: { input: 10, output: 5 } }]),
  'a tool of the service': () =>
    played([
      {
        blocks: [{ type: 'serviceTool', id: 'ws_1', name: 'web_search', input: { query: 'tea' }, status: 'done', output: 'Tea' }],
        text: 'Tea is a drink.',
      },
    ]),
  'a tool of the service that fails': () =>
    played([
      {
        blocks: [
          { type: 'serviceTool', id: 'ws_1', name: 'web_search', input: { query: 'tea' }, status: 'running' },
          { type: 'serviceTool', id: 'ws_1', name: 'web_search', input: { query: 'tea' }, status: 'failed', error: { code: 'too_many' } },
        ],
        text: 'Not found.',
      },
    ]),
  'a tool of the service that ends in a later turn': () =>
    played(
      [
        {
          blocks: [{ type: 'serviceTool', id: 'ws_1', name: 'web_search', input: { query: 'tea' }, status: 'running' }],
          toolCalls: [call('add', { a: 1, b: 2 })],
        },
        {
          blocks: [
            {
              type: 'serviceTool',
              id: 'ws_1',
              name: 'web_search',
              input: { query: 'tea' },
              status: 'done',
              output: [{ url: 'https://tea.example' }],
            },
          ],
          text: 'Tea, and 3.',
        },
      ],
      { tools: [add] },
    ),
  'a tool of the service is open while nobody answers': () =>
    played(
      [
        {
          blocks: [{ type: 'serviceTool', id: 'ws_1', name: 'web_search', input: { query: 'tea' }, status: 'running' }],
          toolCalls: [call('pay', { amount: 5 })],
        },
      ],
      { tools: [asks], approvalTimeoutMs: 1 },
    ),
  'a tool of the service with a yes': () => played(serviceAsks, {}, approveAll),
  'a tool of the service with a no': () => played(serviceAsks, {}, denyAll),
  'a tool of the service that nobody allows': () => played(serviceAsks, { approvalTimeoutMs: 1 }),
  'a picture and a file': () =>
    played([{ text: 'Here.', blocks: [pixel, { type: 'file', mimeType: 'text/csv', data: 'YSxi', name: 'a.csv' }] }]),
  'sound and its transcript': () =>
    played([{ blocks: [{ type: 'file', mimeType: 'audio/wav', data: 'UklGRg==', context: 'Good morning.' }] }]),
  sources: () =>
    played([
      {
        text: 'Tea is a drink, says the report.',
        citations: [
          { url: 'https://tea.example/a', title: 'Tea', citedText: 'a drink', range: { start: 0, end: 14 } },
          { url: 'https://tea.example/a', range: { start: 4, end: 9 } },
          { title: 'Report', document: { index: 0, unit: 'page', start: 3, end: 4 } },
          { url: 'javascript:alert(1)', title: 'no address' },
        ],
      },
    ]),
  thinking: () => played([{ thinking: 'First I think about it for a while.', text: 'Then I speak.' }]),
  'a tool': () =>
    played([{ thinking: 'hm', text: 'I add.', toolCalls: [call('add', { a: 1, b: 2 })] }, { text: 'It is 3.' }], { tools: [add] }),
  'calls at the same time': () =>
    played([{ toolCalls: [call('slow', {}), call('add', { a: 1, b: 2 }), call('draw', {})] }, { text: 'All done.' }], {
      tools: [add, slow, draw],
    }),
  'progress and updates': () => played([{ toolCalls: [call('slow', {})] }, { text: 'done' }], { tools: [slow] }),
  'a tool that fails': () => played([{ toolCalls: [call('fails', {}), call('missing', {})] }, { text: 'Sorry.' }], { tools: [fails] }),
  'an id that comes again': () =>
    played(
      [{ toolCalls: [call('add', { a: 1, b: 2 }, 'call_0')] }, { toolCalls: [call('add', { a: 3, b: 4 }, 'call_0')] }, { text: 'done' }],
      { tools: [add] },
    ),
  'a model that fails': () => played([{ text: 'half an ans', fail: { code: 'auth', message: 'wrong key', afterText: true } }]),
  'a model that fails at once': () => played([{ fail: { code: 'auth', message: 'wrong key' } }]),
  'a retry before output': () => played([{ fail: { code: 'network', message: 'reset' } }, { text: 'now it works' }]),
  'a retry after output': () =>
    played([{ thinking: 'I th', text: 'half an', fail: { code: 'network', message: 'reset', afterText: true } }, { text: 'now it works' }]),
  'a retry in a later turn': () =>
    played(
      [
        { text: 'I add.', toolCalls: [call('add', { a: 1, b: 2 })] },
        { text: 'It', fail: { code: 'network', message: 'reset', afterText: true } },
        { text: 'It is 3.' },
      ],
      { tools: [add] },
    ),
  'a yes': () => played(twoCalls, { tools: [asks, add] }, approveAll),
  'a yes with other arguments': () =>
    played(twoCalls, { tools: [asks, add] }, (event, run) => {
      if (event.type === 'approvalRequested') void run.approve(event, { arguments: { amount: 4 }, by: 'ada' })
    }),
  'a no': () => played(twoCalls, { tools: [asks, add] }, denyAll),
  'a no without a reason': () =>
    played(twoCalls, { tools: [asks, add] }, (event, run) => event.type === 'approvalRequested' && run.deny(event)),
  'nobody answers': () => played(twoCalls, { tools: [asks, add], approvalTimeoutMs: 1 }),
  'nobody answers, in order': () =>
    played([{ toolCalls: [call('pay', { amount: 5 }), call('add', { a: 1, b: 2 })] }], {
      tools: [asks, add],
      approvalTimeoutMs: 1,
      toolExecution: 'sequential',
    }),
  'other arguments by a hook': () =>
    played(
      twoCalls,
      {
        tools: [asks, add],
        hooks: { beforeToolExecution: ({ toolName }) => (toolName === 'pay' ? { arguments: { amount: 1 } } : undefined) },
      },
      approveAll,
    ),
  'arguments that were repaired': () =>
    playedBy(modelThatWrites('add', ['{"a":1', '{"a":1,"b":2}'], ['{"a":3,"b":4}'], ['{}', '{"a":5,"b":6}']), { tools: [add] }),
  'arguments that were repaired, and a yes': () => playedBy(modelThatWrites('pay', ['{"amount":5,', '}']), { tools: [asks] }, approveAll),
  'a sub-agent': () =>
    played([{ toolCalls: [call('helper', { task: 'add' })] }, { text: 'It helped.' }], {
      tools: [helper([{ thinking: 'aha', text: 'I add.', toolCalls: [call('add', { a: 1, b: 2 })] }, { text: 'It is 3.' }])],
    }),
  'a sub-agent in the background that asks': () =>
    played(
      [{ toolCalls: [call('helper', { task: 'pay' })] }, { text: 'I wait.' }, { text: 'It paid.' }],
      { tools: [helper([{ toolCalls: [call('pay', { amount: 9 })] }, { text: 'Paid.' }], [asks], true)] },
      approveAll,
    ),
  'the report of a sub-agent that the run before did not wait for': async () => {
    const child = new SubAgentTool({
      ...{ name: 'helper', description: 'Helps.', model: scripted([{ text: 'Helped.' }]) },
      background: { onRunEnd: 'stop' },
    })
    const model = scripted([{ toolCalls: [call('helper', { task: 'help' })] }, { text: 'Begun.' }, { text: 'I see.' }])
    const agent = new Agent({ model, tools: [child] })
    await agent.prompt('go').result
    return recordRun(agent, (agent) => agent.prompt('And now?'))
  },
  'a sub-agent that fails': () =>
    played([{ toolCalls: [call('helper', { task: 'x' })] }, { text: 'It did not.' }], {
      tools: [helper([{ fail: { code: 'auth', message: 'no' } }])],
    }),
  'a sub-agent that asks': () =>
    played(
      [{ toolCalls: [call('helper', { task: 'pay' })] }, { text: 'It paid.' }],
      { tools: [helper([{ toolCalls: [call('pay', { amount: 9 })] }, { text: 'Paid.' }], [asks])] },
      approveAll,
    ),
  'a sub-agent that is refused': () =>
    played(
      [{ toolCalls: [call('helper', { task: 'pay' })] }, { text: 'It did not.' }],
      { tools: [helper([{ toolCalls: [call('pay', { amount: 9 })] }, { text: 'No.' }], [asks])] },
      denyAll,
    ),
  questions: () =>
    played(
      [{ toolCalls: [call('ask', {})] }, { text: 'Thank you.' }],
      {
        tools: [
          defineTool({
            name: 'ask',
            description: 'Asks',
            parameters: { type: 'object' },
            execute: async (_args, { requestInput }) => JSON.stringify(await requestInput?.({ message: 'Where?' })),
          }),
        ],
      },
      (event, run) => {
        if (event.type === 'inputRequested') run.answer(event, { action: 'accept', content: { city: 'Oslo' } })
      },
    ),
  steering: () =>
    played([{ text: 'I add.', toolCalls: [call('add', { a: 1, b: 2 })] }, { text: 'Faster!' }], { tools: [add] }, (event, run) => {
      if (event.type === 'toolExecutionStart') run.steer('be quick')
    }),
  'a follow-up': () =>
    played([{ text: 'One.' }, { text: 'Two.' }], {}, (event, run) => {
      if (event.type === 'messageStart' && event.message.role === 'assistant' && event.seq < 10)
        run.followUp([{ role: 'user', content: [{ type: 'text', text: 'and?' }, pixel] }])
    }),
  'a stop in the text': () =>
    played(
      [{ text: 'A long answer that nobody wants to read to its end.', toolCalls: [call('add', { a: 1, b: 2 })] }],
      { tools: [add] },
      (event, run) => {
        if (event.type === 'messageUpdate') run.abort()
      },
    ),
  'a stop in the arguments': () =>
    played([{ toolCalls: [call('add', { a: 1, b: 2, c: 'a long argument, so that it is cut' })] }], { tools: [add] }, (event, run) => {
      if (event.type === 'messageUpdate' && event.delta.type === 'toolCallDelta') run.abort()
    }),
  'a stop while tools run': () =>
    played(
      [{ toolCalls: [call('slow', {}), call('pay', { amount: 1 })] }],
      { tools: [slow, asks] },
      (event, run) => event.type === 'toolExecutionUpdate' && run.abort(),
    ),
  'a limit': () =>
    played([{ text: 'a', toolCalls: [call('add', { a: 1, b: 2 })] }, { text: 'b' }], { tools: [add], limits: { maxTurns: 1 } }),
  'a rejected prompt': () => played([{ text: 'never' }], { inputFilters: [() => ({ type: 'reject', reason: 'not that' })] }),
  'structured output': () =>
    played([{ text: '{"sum":3}' }], {
      responseFormat: { type: 'jsonSchema', name: 'sum', schema: { type: 'object', properties: { sum: { type: 'number' } } } },
    }),
  images: () =>
    played([{ toolCalls: [call('draw', {})] }, { text: 'A pixel.' }], { tools: [draw] }, undefined, [
      { role: 'user', content: [{ type: 'text', text: 'what?' }, pixel] },
    ]),
  'a second prompt': async () => {
    const agent = new Agent({ model: scripted([{ text: 'One.' }, { text: 'Two.' }]) })
    await agent.prompt('first').result
    return recordRun(agent, () => agent.prompt('second'))
  },
  compaction: async () => {
    const { events, agent } = await playLong()
    return { events: copy(events.map(asEmitted)), before: copy(messages), after: copy([...agent.messages]) }
  },
  branches: async () => {
    const events: AgentEvent[] = []
    const branch = (text: string, amount: number) => ({
      model: scripted([{ text, toolCalls: [call('add', { a: amount, b: 1 })] }, { text: `${text} done` }]),
    })
    const { selectedContext } = await parallelLoop({
      prompt: 'go',
      context: { systemPrompt: '', messages: [], tools: [add] },
      configs: [branch('one', 1), branch('two', 2)],
      strategy: pickFirst,
      emit: (event) => events.push(copy(asEmitted(event))),
      signal: new AbortController().signal,
    })
    return { events, before: [], after: copy([...selectedContext.messages]) }
  },
  'requests and prunes': () =>
    played([{ text: 'a lot of text', toolCalls: [call('prun', { tokens: 1 })] }, { text: 'done' }], {
      tools: prunTools(),
      captureTurnRequests: true,
    }),
}
