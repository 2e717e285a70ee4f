import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createWorker, durableObjectSessionStore, kvSessionStore } from '../../adapters/cloudflare/index.ts'
import { createAgentApp, createModelProxy } from '../../adapters/http/index.ts'
import { nodeTools, nodeWorkspace } from '../../adapters/node/index.ts'
import { exploreBranches, SubAgentTool } from '../../src/agents.ts'
import { llmCompaction } from '../../src/context.ts'
import { Agent, defineTool, type Model, memorySessionStore, PhiError, resumeAgent, userMessage } from '../../src/index.ts'
import { agentLoop, continueLoop, llmJudge, parallelLoop, pickFirst } from '../../src/loop.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { azure } from '../../src/providers/azure/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { local, openai, openaiCompatible, openrouter } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import { ProviderRegistry } from '../../src/providers/registry.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { vertex } from '../../src/providers/vertex/index.ts'
import { EventRecorder } from '../../src/rust.ts'
import { parseMessages, serializeMessages } from '../../src/session.ts'
import { createStore } from '../../src/store.ts'
import { editFileTool, listFilesTool, memoryWorkspace, readFileTool, revertTool, searchTool, writeFileTool } from '../../src/tools.ts'
import { add } from '../support/play.ts'
import { runs } from '../support/runs.ts'

/** Cases of each property. No time limit: on a busy machine not one case may fit into it. */
const numRuns = runs(100, 10_000)

// With prices: a limit of the cost is refused without them.
const cost = { inputPerMillion: 1, outputPerMillion: 1, cacheReadPerMillion: 0, cacheWritePerMillion: 0 }
const model: Model = scripted(() => ({ text: 'ok' }), { config: { cost } })
const { signal } = new AbortController()
const emit = () => undefined
const agentOn = (options: object) => new Agent({ model, retry: false, limits: { maxTurns: 2 }, ...options } as never)
const history = [userMessage('hi')]

/** Options that work, so that one of them at a time can be made wrong. */
const agentOptions = {
  systemPrompt: 'x',
  tools: [add],
  limits: { maxTurns: 2, maxCost: 1 },
  retry: { maxRetries: 1, initialDelayMs: 0 },
  cache: { type: 'manual', cacheSystem: true, cacheTools: true, cacheMessages: true },
  toolExecution: { type: 'batched', size: 2 },
  contextConfig: { maxContextTokens: 1000, compaction: { keepFirstTurns: 1, scope: { type: 'fixedCount', count: 1 } } },
  hooks: { beforeTurn: () => true },
  captureTurnRequests: { httpBody: false },
  thinking: 'low',
  maxTokens: 5,
}
const promptOptions = {
  metadata: { a: 1 },
  kind: { kind: 'rerun', tag: 't' },
  responseFormat: { type: 'text' },
  budget: { charge: emit, exceeded: emit },
}
const modelOptions = {
  apiKey: 'k',
  headers: { a: 'b' },
  cost: { inputPerMillion: 1 },
  compat: { supportsStore: true },
  capabilities: { media: ['image/png'] },
}
const tool = { name: 't', description: 'd', parameters: { type: 'object' }, execute: () => 'x', needsApproval: true, timeoutMs: 5 }

const surfaces: Record<string, [object, (given: never) => unknown]> = {
  'new Agent': [{ model, ...agentOptions }, (given) => new Agent(given)],
  configure: [agentOptions, (given) => agentOn({}).configure(given)],
  with: [agentOptions, (given) => agentOn({}).with(given)],
  fork: [agentOptions, (given) => agentOn({}).fork(given)],
  prompt: [promptOptions, (given) => agentOn({}).prompt('go', given).result],
  continueLoop: [promptOptions, (given) => agentOn({ messages: history }).continueLoop(given).result],
  send: [promptOptions, (given) => agentOn({ messages: history }).send('go', given).result],
  compact: [{ focusMessage: 'f', metadata: 1 }, (given) => agentOn({}).compact(given).result],
  restore: [agentOn({ messages: history }).checkpoint(), (given) => agentOn({}).restore(given)],
  parseMessages: [{ text: '[]' }, (given) => parseMessages(given)],
  newSession: [{ afterIdleMs: 5 }, (given) => agentOn({}).newSession(given)],
  'agentLoop config': [
    { model, ...agentOptions, tools: undefined, systemPrompt: undefined, thinking: undefined },
    (given) => agentLoop('go', fresh(), given, { emit, signal }),
  ],
  'agentLoop options': [{ emit, signal, metadata: 1, runId: 'r' }, (given) => agentLoop('go', fresh(), { model }, given)],
  'agentLoop context': [fresh(), (given) => agentLoop('go', given, { model }, { emit, signal })],
  'continueLoop context': [
    { ...fresh(), messages: history, agentId: 'a', sessionId: 's' },
    (given) => continueLoop(given, { model }, { emit, signal }),
  ],
  parallelLoop: [
    { prompt: 'go', context: fresh(), configs: [{ model }], strategy: pickFirst, emit, signal, limits: { maxTotalTokens: 5 } },
    (given) => parallelLoop(given),
  ],
  llmJudge: [{ config: { model }, systemPrompt: 'x' }, (given) => llmJudge(given)],
  llmCompaction: [{ model, maxTokens: 5 }, (given) => llmCompaction(given)],
  exploreBranches: [
    { limits: { maxTotalTokens: 5 }, metadata: 1 },
    (given) => Promise.all(exploreBranches(agentOn({ messages: history }), [{ tag: 'a' }], given).map(({ run }) => run.result)),
  ],
  'a branch': [
    { tag: 'a', prompt: 'go', maxTokens: 4 },
    (given) => Promise.all(exploreBranches(agentOn({}), [given]).map(({ run }) => run.result)),
  ],
  resumeAgent: [{ model, create: true, loopId: 'l' }, (given) => resumeAgent(memorySessionStore(), 's', given)],
  SubAgentTool: [{ name: 'c', description: 'd', model, tools: [add], maxTurns: 3, timeoutMs: 5 }, (given) => new SubAgentTool(given)],
  defineTool: [tool, (given) => defineTool(given)],
  anthropic: [{ ...modelOptions, compat: undefined, oauth: { userAgent: 'u' } }, (given) => anthropic('m', given)],
  openai: [modelOptions, (given) => openai('m', given)],
  openrouter: [modelOptions, (given) => openrouter('m', given)],
  openaiCompatible: [{ ...modelOptions, backend: 'groq' }, (given) => openaiCompatible('m', given)],
  local: [{ ...modelOptions, apiKey: undefined }, (given) => local('m', given)],
  openaiResponses: [{ ...modelOptions, compat: undefined }, (given) => openaiResponses('m', given)],
  azure: [{ ...modelOptions, compat: undefined, resource: 'r' }, (given) => azure('m', given)],
  google: [{ ...modelOptions, compat: undefined }, (given) => google('m', given)],
  vertex: [{ ...modelOptions, compat: undefined, project: 'p' }, (given) => vertex('m', given)],
  bedrock: [{ ...modelOptions, compat: undefined, region: 'us-east-1' }, (given) => bedrock('m', given)],
  registry: [{ credentials: 'k', idleTimeoutMs: 5 }, (given) => new ProviderRegistry().createModel(model.config as never, given)],
  scripted: [{ id: 'i', delayMs: 0, chunkSize: 4 }, (given) => scripted([], given)],
  createModelProxy: [
    {
      upstreams: { up: { api: 'openAiCompletions', apiKey: 'k', headers: { a: 'b' }, passHeaders: ['x-a'], prices: {} } },
      authorize: emit,
      allow: { up: ['*'] },
      budget: { concurrent: 2, windows: [{ ms: 60_000, requests: 1 }] },
      cors: ['https://app.example'],
    },
    (given) => createModelProxy(given),
  ],
  createAgentApp: [{ agent: emit, authorize: emit, maxBodyBytes: 5, pingMs: 5 }, (given) => createAgentApp(given)],
  createWorker: [{ agent: emit, authorize: emit }, (given) => createWorker(given)],
  kvSessionStore: [{ maxValueBytes: 10 }, (given) => kvSessionStore({ get: emit, put: emit, delete: emit, list: emit } as never, given)],
  durableObjects: [{ sessions: { getByName: emit }, index: { getByName: emit } }, (given) => durableObjectSessionStore(given)],
  nodeWorkspace: [{ unprotected: ['HEAD'] }, (given) => nodeWorkspace('.', given)],
  nodeTools: [{ root: '.', bash: false }, (given) => nodeTools(given)],
  EventRecorder: [{ captureTurnRequests: true }, (given) => new EventRecorder(given)],
  createStore: [{ schedule: emit }, (given) => createStore(undefined, given)],
  readFileTool: [{ workspace: memoryWorkspace(), maxBytes: 5 }, (given) => readFileTool(given)],
  writeFileTool: [{ workspace: memoryWorkspace() }, (given) => writeFileTool(given)],
  editFileTool: [{ workspace: memoryWorkspace() }, (given) => editFileTool(given)],
  listFilesTool: [{ workspace: memoryWorkspace(), maxResults: 5 }, (given) => listFilesTool(given)],
  searchTool: [{ workspace: memoryWorkspace(), maxResults: 5 }, (given) => searchTool(given)],
  revertTool: [{ windowTurns: 5 }, (given) => revertTool(given)],
}

function fresh() {
  return { systemPrompt: '', messages: [], tools: [] }
}

const odd = fc.oneof(
  fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withNullPrototype: true,
    withSparseArray: true,
    withTypedArray: true,
  }),
  fc.constantFrom<unknown>(
    () => undefined,
    Symbol('s'),
    Number.NaN,
    Number.POSITIVE_INFINITY,
    -0,
    '',
    new AbortController(),
    deep(),
    circle(),
    { __proto__: null },
  ),
)

/** `value` with something odd in one place within it, or under one more name. */
function spoilt(value: object): fc.Arbitrary<unknown> {
  const paths = pathsOf(value)
  return fc.oneof(
    odd,
    fc.tuple(fc.constantFrom(...paths), odd).map(([path, with_]) => replaced(value, path, with_)),
    fc.tuple(fc.string(), odd).map(([name, with_]) => ({ ...value, [name]: with_ })),
  )
}

function pathsOf(value: object, depth = 0): string[][] {
  return Object.entries(value).flatMap(([key, part]) => {
    const isDeeper = depth < 3 && typeof part === 'object' && part !== null && Object.getPrototypeOf(part) === Object.prototype
    return [[key], ...(isDeeper ? pathsOf(part, depth + 1).map((path) => [key, ...path]) : [])]
  })
}

function replaced(value: object, [key = '', ...rest]: string[], odd: unknown): object {
  const part: unknown = Reflect.get(value, key)
  return { ...value, [key]: rest.length === 0 || typeof part !== 'object' || part === null ? odd : replaced(part, rest, odd) }
}

function deep(): unknown {
  let value: unknown = 1
  for (let level = 0; level < 30_000; level += 1) value = { a: value }
  return value
}

function circle(): unknown {
  const value: { self?: unknown } = {}
  value.self = [value]
  return value
}

const unhandled: unknown[] = []
const note = (reason: unknown) => unhandled.push(reason)
beforeAll(() => {
  process.on('unhandledRejection', note)
})
afterAll(() => {
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})

/** Whatever it is given, a function works or throws an error of ours. */
async function worksOrRefuses(act: () => unknown): Promise<void> {
  try {
    await act()
  } catch (error) {
    if (!PhiError.isInstance(error)) throw error
  }
}

it.each(Object.entries(surfaces))('accepts or rejects any input of %s without crashing', async (_, [base, make]) => {
  await fc.assert(
    fc.asyncProperty(spoilt(base), (given) => worksOrRefuses(() => make(given as never))),
    { numRuns },
  )
})

const message = {
  user: {
    role: 'user',
    content: [
      { type: 'text', text: 'hi' },
      { type: 'image', data: 'AA==', mimeType: 'image/png' },
    ],
    timestamp: 1,
  },
  assistant: {
    ...{ role: 'assistant', stopReason: 'toolUse', model: 'm', provider: 'p', timestamp: 1, usage: { input: 1, output: 1 } },
    content: [
      { type: 'thinking', thinking: 'hm' },
      { type: 'toolCall', id: 'c', name: 'add', arguments: { a: 1 } },
    ],
  },
  toolResult: { role: 'toolResult', toolCallId: 'c', toolName: 'add', content: 'x', isError: false },
  extension: { role: 'extension', kind: 'note', data: { a: [1] } },
}

it.each(Object.entries(message))('accepts or rejects any %s message in every API', async (_, base) => {
  const entries = fc.oneof(
    spoilt(base),
    fc
      .nat(1)
      .chain((at) =>
        'content' in base && Array.isArray(base.content)
          ? spoilt(base.content[at] ?? {}).map((block) => ({ ...base, content: [block] }))
          : odd,
      ),
  )
  await fc.assert(
    fc.asyncProperty(entries, async (given) => {
      await worksOrRefuses(async () => {
        const agent = agentOn({ messages: [given], contextConfig: { maxContextTokens: 200, systemPromptTokens: 0 }, tools: [add] })
        const { status, error } = await agent.prompt('go').result
        expect({ status, error }).toEqual({ status: 'completed', error: undefined })
        expect(agentOn({ messages: JSON.parse(serializeMessages(agent.messages)) }).messages).toHaveLength(agent.messages.length)
        agent.replaceMessages(parseMessages(serializeMessages(agent.messages)))
      })
      await worksOrRefuses(() => agentOn({}).prompt(given as never).result)
      await worksOrRefuses(() => agentOn({}).steer(given as never))
      await worksOrRefuses(() => agentOn({}).appendMessage(given as never))
      await worksOrRefuses(() => agentOn({}).replaceMessages(given as never))
      const result = await agentOn({ transformContext: () => [given] as never }).prompt('go').result
      expect(['completed', 'error']).toContain(result.status)
    }),
    { numRuns },
  )
})
