import { describe, expect, it } from 'vitest'
import { type IndexedDbSessionOptions, indexedDbSessionStore } from '../../adapters/browser/index.ts'
import {
  createWorker,
  durableObjectSessionStore,
  type KvSessionStoreOptions,
  kvSessionStore,
  type SessionBindings,
  type WorkerOptions,
} from '../../adapters/cloudflare/index.ts'
import {
  type AgentAppOptions,
  createAgentApp,
  createModelProxy,
  type ModelProxyOptions,
  memoryCounter,
  memoryLiveSessions,
  memorySchedules,
} from '../../adapters/http/index.ts'
import type { MemoryLiveSessionsOptions } from '../../adapters/http/live/memory/memory-options.ts'
import { fileSessionStore, nodeWorkspace, ripgrepSearcher } from '../../adapters/node/index.ts'
import type { RipgrepOptions } from '../../adapters/node/search/ripgrep.ts'
import type { LlmCompactionOptions } from '../../src/context/compaction/llm-compaction.ts'
import { llmCompaction } from '../../src/context.ts'
import { Agent, ConfigError, defineTool, type Model, memorySessionStore } from '../../src/index.ts'
import { type AnthropicOptions, type AnthropicProviderOptions, anthropic, anthropicProvider } from '../../src/providers/anthropic/index.ts'
import { type AzureOptions, type AzureProviderOptions, azure, azureProvider } from '../../src/providers/azure/index.ts'
import { type BedrockOptions, type BedrockProviderOptions, bedrock, bedrockProvider } from '../../src/providers/bedrock/index.ts'
import { type GoogleOptions, type GoogleProviderOptions, google, googleProvider } from '../../src/providers/google/index.ts'
import { type ChatProviderOptions, openAiProvider } from '../../src/providers/openai/provider.ts'
import {
  type ChatModelOptions,
  type CompatibleOptions,
  local,
  openai,
  openaiCompatible,
  openrouter,
  type ProviderOptions,
} from '../../src/providers/openai.ts'
import {
  type OpenAiResponsesOptions,
  type OpenAiResponsesProviderOptions,
  openAiResponsesProvider,
  openaiResponses,
} from '../../src/providers/openai-responses/index.ts'
import { ProviderRegistry, type RegistryModelOptions } from '../../src/providers/registry.ts'
import { type ScriptedOptions, scripted } from '../../src/providers/scripted/index.ts'
import { type VertexOptions, type VertexProviderOptions, vertex, vertexProvider } from '../../src/providers/vertex/index.ts'
import type { TransportOptions } from '../../src/providers.ts'
import type { EventRecorderOptions } from '../../src/rust/recorder/event-recorder.ts'
import { EventRecorder } from '../../src/rust.ts'
import { createStore, initialState, type StoreOptions, smoothText } from '../../src/store.ts'
import type { EditFileOptions } from '../../src/tools/files/edit-file.ts'
import type { ListFilesOptions } from '../../src/tools/files/list-files.ts'
import type { ReadFileOptions } from '../../src/tools/files/read-file.ts'
import type { WriteFileOptions } from '../../src/tools/files/write-file.ts'
import type { SearchToolOptions } from '../../src/tools/search/search.ts'
import { editFileTool, listFilesTool, memoryWorkspace, readFileTool, searchTool, type ToolOptions, writeFileTool } from '../../src/tools.ts'
import { everySetting } from './every-setting.ts'
import { checkedOptions, tolerant } from './surface.ts'

const act = () => undefined
const transport: Required<TransportOptions> = {
  fetch,
  firstByteTimeoutMs: 1,
  idleTimeoutMs: 1,
  progressTimeoutMs: 1,
  maxEventChars: 1_000_000,
}
const model: Required<Omit<ProviderOptions, 'compat'>> = {
  ...everySetting,
  thinking: 'xhigh',
  catalogue: { find: () => undefined },
  ...transport,
  ...{ apiKey: 'key', baseUrl: 'https://proxy.example', headers: { a: 'b' }, name: 'N', provider: 'p', contextWindow: 1, maxTokens: 1 },
  cost: { inputPerMillion: 1, outputPerMillion: 1, cacheReadPerMillion: 1, cacheWritePerMillion: 1 },
  reasoning: true,
  capabilities: {
    thinking: 'none',
    efforts: ['low'],
    sampling: true,
    forcedToolChoice: true,
    thinkingOff: true,
    boundReasoning: true,
    media: ['image/png'],
    mediaInToolResults: ['image/*'],
    mediaByUrl: [],
    mediaById: [],
    jsonSchema: true,
    refuses: ['seed'],
    contextWindow: 1,
  },
}
const chat: Required<ChatModelOptions> = {
  ...model,
  serverTools: [],
  compat: { supportsStore: true, thinkingFormat: 'qwen', maxTokensField: 'maxTokens' },
}

const messages = {
  ...transport,
  dangerouslyAllowBrowser: true,
  anthropicVersion: 'v',
  oauth: { userAgent: 'u' },
  serverTools: [],
}
checkedOptions<AnthropicOptions>('anthropic', { ...model, ...messages }, (options) => anthropic('m', options))
checkedOptions<AnthropicProviderOptions>('anthropicProvider', messages, anthropicProvider)
checkedOptions<ChatModelOptions>('openai', chat, (options) => openai('m', options))
checkedOptions<ChatModelOptions>('openrouter', chat, (options) => openrouter('m', options))
checkedOptions<CompatibleOptions>('openaiCompatible', { ...chat, backend: 'groq' }, (options) => openaiCompatible('m', options), [
  'baseUrl',
])
checkedOptions<ChatProviderOptions>('openAiProvider', { ...transport, serverTools: [] }, openAiProvider)
const responses = { ...transport, reasoningSummary: 'none' as const, serverTools: [] }
checkedOptions<OpenAiResponsesOptions>('openaiResponses', { ...model, ...responses }, (options) => openaiResponses('m', options))
checkedOptions<OpenAiResponsesProviderOptions>('openAiResponsesProvider', responses, openAiResponsesProvider)
const ofAzure = { ...responses, apiVersion: 'v', auth: 'entra' as const, imageDeployment: 'i' }
checkedOptions<AzureOptions>('azure', { ...model, ...ofAzure, resource: 'r', underlyingModel: 'u' }, (options) => azure('m', options), [
  'resource',
])
checkedOptions<AzureProviderOptions>('azureProvider', ofAzure, azureProvider)
const ofGemini = { serverTools: [], responseModalities: ['IMAGE' as const], imageConfig: { aspectRatio: '1:1', imageSize: '1K' } }
checkedOptions<GoogleOptions>('google', { ...model, keyInQuery: true, ...ofGemini }, (options) => google('m', options))
checkedOptions<GoogleProviderOptions>('googleProvider', { ...transport, keyInQuery: true, ...ofGemini }, googleProvider)
checkedOptions<VertexOptions>(
  'vertex',
  { ...model, auth: 'bearer', ...ofGemini, project: 'p', location: 'global', publisher: 'x' },
  (options) => vertex('m', options),
)
checkedOptions<VertexProviderOptions>('vertexProvider', { ...transport, auth: 'apiKey', ...ofGemini }, vertexProvider)
const ofBedrock = { ...transport, serverTools: [], region: 'eu-west-1', underlyingModel: 'u' }
checkedOptions<BedrockOptions>(
  'bedrock',
  {
    ...model,
    ...ofBedrock,
    accessKeyId: 'a',
    secretAccessKey: 's',
    sessionToken: 't',
    credentials: async () => ({ accessKeyId: 'a', secretAccessKey: 's' }),
  },
  (options) => bedrock('m', options),
  ['accessKeyId', 'secretAccessKey'],
)
checkedOptions<BedrockProviderOptions>('bedrockProvider', ofBedrock, bedrockProvider)
checkedOptions<RegistryModelOptions>('createModel of a registry', { ...transport, credentials: 'key' }, (options) =>
  new ProviderRegistry().createModel(anthropic('m').config, options),
)
checkedOptions<ScriptedOptions>(
  'scripted',
  { id: 'i', name: 'n', delayMs: 1, chunkSize: 1, gate: async () => undefined, config: {} },
  (options) => scripted([], options),
)

checkedOptions<AgentAppOptions>(
  'createAgentApp',
  {
    agent: () => new Agent({ model: scripted([]) }),
    authorize: () => true,
    context: () => ({ tenant: 'a' }),
    sessions: { fetch: async () => new Response(), list: async () => ({ sessions: [] }) },
    cors: ['https://app.example'],
    maxBodyBytes: 1,
    bodyTimeoutMs: 1,
    maxOpenStreams: 1,
    maxStreams: 1,
    maxLagMs: 1,
    observers: [],
    authorizeOperator: () => true,
    pingMs: 1,
    turnRequests: true,
    imports: true,
    clientSettings: ['thinking'],
    mediaBase: '/api',
    logger: { warn: act },
  },
  createAgentApp,
  ['authorize', 'agent'],
)
checkedOptions<MemoryLiveSessionsOptions>(
  'memoryLiveSessions',
  {
    store: memorySessionStore(),
    agent: () => ({ model: scripted([]) }),
    idleMs: 1,
    restMs: 1,
    maxSessions: 1,
    maxSessionsPerCaller: 2,
    maxOpenRuns: 1,
    logger: { warn: act },
    onWaiting: act,
    onEnd: act,
    schedules: memorySchedules(),
  },
  memoryLiveSessions,
  ['store', 'agent'],
)
checkedOptions<ModelProxyOptions>(
  'createModelProxy',
  {
    upstreams: { up: { api: 'anthropicMessages', apiKey: 'key' } },
    authorize: () => true,
    allow: { up: ['*'] },
    mcpHosts: ['mcp.example.com'],
    budget: { windows: [{ ms: 60_000, requests: 1 }] },
    counter: memoryCounter(),
    cors: ['https://app.example'],
    maxBodyBytes: 1,
    firstByteTimeoutMs: 1,
    idleTimeoutMs: 1,
    maxDurationMs: 1,
    fetch,
    onCall: act,
    logger: { warn: act },
  },
  createModelProxy,
  ['upstreams', 'authorize', 'allow', 'budget'],
)
checkedOptions<WorkerOptions<object>>(
  'createWorker',
  {
    agent: () => new Agent({ model: scripted([]) }),
    authorize: () => true,
    sessions: () => ({ fetch: async () => new Response(), list: async () => ({ sessions: [] }) }),
    cors: ['https://app.example'],
    maxBodyBytes: 1,
    bodyTimeoutMs: 1,
    maxOpenStreams: 1,
    maxStreams: 1,
    maxLagMs: 1,
    observers: [],
    pingMs: 1,
    turnRequests: true,
    imports: true,
    clientSettings: ['thinking'],
    mediaBase: '/api',
    logger: { warn: act },
  },
  createWorker,
  ['authorize', 'agent'],
)

const parameters = { type: 'object' }
checkedOptions<Omit<ToolOptions<typeof parameters, object>, never>>(
  'defineTool',
  {
    name: 'a',
    label: 'A',
    description: 'Does a.',
    parameters,
    jsonSchema: parameters,
    needsApproval: true,
    idempotent: true,
    timeoutMs: 1,
    endsOnAbort: true,
    execute: () => 'ok',
  },
  (options) => tolerant(() => defineTool(options)),
  ['name', 'description', 'parameters', 'execute'],
)
const workspace = memoryWorkspace()
checkedOptions<ReadFileOptions>('readFileTool', { workspace, maxBytes: 1 }, readFileTool, ['workspace'])
checkedOptions<WriteFileOptions>('writeFileTool', { workspace }, writeFileTool, ['workspace'])
checkedOptions<EditFileOptions>('editFileTool', { workspace }, editFileTool, ['workspace'])
checkedOptions<ListFilesOptions>('listFilesTool', { workspace, maxResults: 1, timeoutMs: 1 }, listFilesTool, ['workspace'])
checkedOptions<SearchToolOptions>(
  'searchTool',
  { workspace, maxResults: 1, timeoutMs: 1, searcher: async () => ({ matches: [], truncated: false }) },
  searchTool,
  ['workspace'],
)
checkedOptions<LlmCompactionOptions>('llmCompaction', { model: scripted([]), systemPrompt: 'x', maxTokens: 1 }, llmCompaction, ['model'])
checkedOptions<StoreOptions>('createStore', { schedule: act, initial: initialState(), smooth: smoothText('word') }, (options) =>
  createStore(undefined, options),
)
checkedOptions<EventRecorderOptions>(
  'EventRecorder',
  { includeStreamingEvents: true, captureTurnRequests: true, beforeTask: act, afterTask: act, onCheckpoint: act },
  (options) => new EventRecorder(options),
)
checkedOptions<IndexedDbSessionOptions>('indexedDbSessionStore', { name: 'n', onTakenOver: act, onChange: act }, indexedDbSessionStore)
const kv = { get: act, put: act, delete: act, list: act } as never
checkedOptions<KvSessionStoreOptions>('kvSessionStore', { maxValueBytes: 10 }, (options) => kvSessionStore(kv, options))
const binding = { getByName: act } as never
checkedOptions<SessionBindings>(
  'durableObjectSessionStore',
  { sessions: binding, index: binding, tenant: 't' },
  durableObjectSessionStore,
  ['sessions', 'index'],
)
checkedOptions<RipgrepOptions>('ripgrepSearcher', { programs: {}, allowSystemRoot: true }, (options) => ripgrepSearcher('.', options))
checkedOptions<NonNullable<Parameters<typeof nodeWorkspace>[1]>>(
  'nodeWorkspace',
  { unprotected: ['HEAD'], allowSystemRoot: true },
  (options) => nodeWorkspace('.', options),
)

it('requires a directory for a file session store', () => {
  for (const directory of [undefined, 7, '', null])
    expect(() => fileSessionStore(directory as never)).toThrow(/directory is .*; it must be the path/)
})

describe('a missing API key', () => {
  type Factory = (options: Pick<ProviderOptions, 'apiKey' | 'baseUrl' | 'fetch' | 'headers'>) => Model
  const factories: [string, string, Factory][] = [
    ['anthropic', 'ANTHROPIC_API_KEY', (options) => anthropic('m', options)],
    ['openai', 'OPENAI_API_KEY', (options) => openai('m', options)],
    ['openaiResponses', 'OPENAI_API_KEY', (options) => openaiResponses('m', options)],
    ['azure', 'AZURE_OPENAI_API_KEY', (options) => azure('m', { resource: 'r', ...options })],
    ['google', 'GEMINI_API_KEY', (options) => google('m', options)],
    ['vertex', 'GOOGLE_ACCESS_TOKEN', (options) => vertex('m', { project: 'p', ...options })],
    ['bedrock', 'AWS_BEARER_TOKEN_BEDROCK', (options) => bedrock('m', options)],
    ['openrouter', 'OPENROUTER_API_KEY', (options) => openrouter('m', options)],
    ['openaiCompatible', 'GROQ_API_KEY', (options) => openaiCompatible('m', { backend: 'groq', ...options })],
  ]
  it.each(factories)('throws before any request and names the variable of %s', (_, variable, factory) => {
    for (const options of [{}, { apiKey: '' }, { apiKey: '  ' }, { apiKey: undefined as never }]) {
      const make = () => new Agent({ model: factory(options) })
      expect(make).toThrow(ConfigError)
      expect(make).toThrow(variable)
      expect(make).toThrow('apiKey')
    }
  })

  it.each(factories)('accepts a model without a key if credentials of %s are provided elsewhere', (_, _variable, factory) => {
    const apiKey = async () => 'key'
    const credentials = { current: () => 'key', invalidate: act }
    for (const options of [
      { apiKey: 'key' },
      { apiKey },
      { apiKey: credentials },
      { baseUrl: 'https://proxy.example' },
      { fetch },
      { headers: { Authorization: 'x' } },
    ]) {
      expect(() => new Agent({ model: factory(options) })).not.toThrow()
    }
  })

  it('throws in configure, with and llmCompaction without a key', () => {
    const agent = new Agent({ model: scripted([]) })
    const keyless = anthropic('m')
    for (const act of [
      () => agent.configure({ model: keyless }),
      () => agent.with({ model: keyless }),
      () => llmCompaction({ model: keyless }),
    ]) {
      expect(act).toThrow(/ANTHROPIC_API_KEY/)
    }
    expect(agent.settings.model.config.id).toBe('scripted')
  })

  it('accepts local servers, AWS credentials and unused models without a key', async () => {
    expect(() => new Agent({ model: local('m', { baseUrl: 'http://127.0.0.1:1/v1' }) })).not.toThrow()
    expect(() => new Agent({ model: openaiCompatible('m', { backend: 'ollama' }) })).not.toThrow()
    expect(() => new Agent({ model: bedrock('m', { accessKeyId: 'a', secretAccessKey: 's' }) })).not.toThrow()
    expect(anthropic('m').config.id).toBe('m')
  })

  it('rejects a missing or invalid model id', () => {
    for (const factory of [anthropic, openai, openaiResponses, google, vertex, bedrock, openrouter]) {
      for (const id of [undefined, '', 7])
        expect(() => factory(id as never, { apiKey: 'k' })).toThrow(/id is .*; it must be the id of a model/)
    }
  })
})
