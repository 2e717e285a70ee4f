import { describe, expect, it } from 'vitest'
import { type D1SessionStoreOptions, d1SessionStore } from '../../adapters/cloudflare/session/d1/d1-session-store.ts'
import {
  createOpenAiApp,
  type MemoryLiveSessions,
  memoryLiveSessions,
  memorySchedules,
  type OpenAiAppOptions,
  readWebhook,
  runResponse,
  type WebhookOptions,
  webhook,
} from '../../adapters/http/index.ts'
import type { ReadWebhookOptions } from '../../adapters/http/notices/webhook-signature.ts'
import type { RunResponseOptions } from '../../adapters/http/one-shot/run-response.ts'
import {
  listenWith,
  migrate,
  type PostgresLiveSessionsOptions,
  type PostgresSessionStoreOptions,
  postgresLiveSessions,
  postgresSchedules,
  postgresSessionStore,
} from '../../adapters/postgres/index.ts'
import type { MigrateOptions } from '../../adapters/postgres/schema.ts'
import { useAgent as inReact } from '../../adapters/react/index.ts'
import { type RedisSessionStoreOptions, redisSessionStore } from '../../adapters/redis/index.ts'
import { useAgent as inSolid } from '../../adapters/solid/index.ts'
import { type SqliteSessionStoreOptions, sqliteSessionStore } from '../../adapters/sqlite/index.ts'
import { useAgent as inSvelte } from '../../adapters/svelte/index.ts'
import { useAgent as inVue } from '../../adapters/vue/index.ts'
import { type ChatOptions, type RemoteSessionOptions, remoteSession, runClientTools } from '../../src/client.ts'
import { Agent, ConfigError, memorySessionStore } from '../../src/index.ts'
import { type ChromeAiOptions, chromeAi } from '../../src/providers/chrome-ai/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { type ChatEngine, type WebLlmOptions, webLlm } from '../../src/providers/web-llm/index.ts'
import { type SharedStateOptions, sharedState } from '../../src/session.ts'
import { type CreateChatOptions, chatOf, createChat, smoothText } from '../../src/store.ts'
import { type ClientToolOptions, clientTool } from '../../src/tools.ts'
import { everySetting } from './every-setting.ts'
import { checkedOptions, tolerant } from './surface.ts'

const act = () => undefined
const model = scripted(() => ({ text: 'ok' }))
const key = 'k'.repeat(32)

// Databases: nothing is asked of the pool until something is done.
const pool = { query: async () => ({ rows: [] }) } as never
const store = { pool, schema: 'phi', tenant: 't', statementTimeoutMs: 1 }
checkedOptions<PostgresSessionStoreOptions>('postgresSessionStore', store, postgresSessionStore, ['pool'])
const sqlite = { exec: act, prepare: act } as never
checkedOptions<SqliteSessionStoreOptions>('sqliteSessionStore', { database: sqlite, tenant: 't', busyTimeoutMs: 1 }, sqliteSessionStore, [
  'database',
])
const redis = { sendCommand: act } as never
checkedOptions<RedisSessionStoreOptions>(
  'redisSessionStore',
  { client: redis, prefix: 'p', tenant: 't', survives: 'crash', commandTimeoutMs: 1 },
  redisSessionStore,
  ['client'],
)
const d1 = { prepare: act, batch: act } as never
checkedOptions<D1SessionStoreOptions>('d1SessionStore', { database: d1, tenant: 't' }, d1SessionStore, ['database'])
checkedOptions<PostgresSessionStoreOptions>('postgresSchedules', store, postgresSchedules, ['pool'])
checkedOptions<MigrateOptions>('migrate', { pool, schema: 'phi', rowSecurity: true }, migrate, ['pool'])
checkedOptions<PostgresLiveSessionsOptions>(
  'postgresLiveSessions',
  {
    ...store,
    agent: () => ({ model }),
    store: memorySessionStore(),
    listen: async () => async () => undefined,
    ...{ pollMs: 1000, leaseMs: 1000, forwardTimeoutMs: 1, idleMs: 1, restMs: 1 },
    ...{ maxSessions: 1, maxSessionsPerCaller: 2, maxOpenRuns: 1, logger: false, onWaiting: act, onEnd: act },
    peers: { url: 'https://10.0.0.1', key },
    schedules: memorySchedules(),
  },
  async (options) => {
    const sessions = postgresLiveSessions({ logger: false, ...options })
    await sessions.close()
  },
  ['pool', 'agent'],
)
checkedOptions<OptionsOf<'drain'>>('drain', { deadlineMs: 1 }, (options) => hosted().drain(options))
type OptionsOf<Way extends 'drain' | 'close'> = NonNullable<Parameters<MemoryLiveSessions[Way]>[0]>
checkedOptions<OptionsOf<'close'>>('close', { abort: true }, (options) => hosted().close(options))

function hosted() {
  return memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model }), logger: false })
}

// Notices
checkedOptions<WebhookOptions>(
  'webhook',
  {
    url: 'https://app.example/hook',
    key,
    timeoutMs: 1,
    maxRetries: 0,
    fetch: async () => new Response(),
    logger: false,
  },
  webhook,
  ['url', 'key'],
)
checkedOptions<ReadWebhookOptions>(
  'readWebhook',
  { key },
  (options) => readWebhook(new Request('https://app.example', { method: 'POST', body: '{}' }), options),
  ['key'],
)

// Apps
checkedOptions<RunResponseOptions>(
  'runResponse',
  { protocol: 'aiSdk', history: [], stopOnLeave: false, turnRequests: true, pingMs: 1 },
  async (options) => {
    const run = new Agent({ model }).prompt('Hi.')
    await runResponse(run, options).text()
  },
)
checkedOptions<OpenAiAppOptions>(
  'createOpenAiApp',
  {
    agents: { helper: () => new Agent({ model }) },
    authorize: () => true,
    context: () => ({ tenant: 'a' }),
    callerInstructions: 'append',
    callerTools: false,
    cors: ['https://app.example'],
    ...{ maxBodyBytes: 1, bodyTimeoutMs: 1, maxOpenStreams: 1, maxStreams: 1, maxLagMs: 1, pingMs: 1 },
    clientSettings: ['thinking'],
    mediaBase: '/api',
    logger: { warn: act },
  },
  createOpenAiApp,
  ['authorize', 'agents'],
)

// Pages
const answer = async () => new Response('{}', { status: 404, headers: { 'content-type': 'application/problem+json' } })
checkedOptions<RemoteSessionOptions>(
  'remoteSession',
  {
    url: 'http://localhost',
    sessionId: 's',
    fetch: answer,
    headers: { a: 'b' },
    reconnect: { maxRetries: 0, initialDelayMs: 1, maxDelayMs: 1, idleTimeoutMs: 1 },
    clientId: 'a page of its own',
    logger: false,
  },
  remoteSession,
  ['url', 'sessionId'],
)
const { body: _body, strict: _strict, cacheTtl: _ttl, headers: _headers, ...ofClients } = everySetting
const chatOptions: Required<ChatOptions> = {
  ...ofClients,
  ...{ thinking: 'max', model: 'deep', tools: ['files'], signal: new AbortController().signal, metadata: { a: [1] } },
}
const remote = () => remoteSession({ url: 'http://localhost', sessionId: 's', fetch: answer, logger: false })
checkedOptions<ChatOptions>('prompt of a remote session', chatOptions, (options) => void remote().prompt('Hi.', options))
checkedOptions<ChatOptions>('continueLoop of a remote session', chatOptions, (options) => void remote().continueLoop(options))
checkedOptions<CreateChatOptions>('createChat', { schedule: act, smooth: smoothText('line') }, (options) =>
  createChat(new Agent({ model }), options),
)

const parameters = { type: 'object' }
checkedOptions<ClientToolOptions<typeof parameters, object, typeof parameters>>(
  'clientTool',
  {
    ...{ name: 'a', label: 'A', description: 'Does a.', parameters, jsonSchema: parameters, needsApproval: true, timeoutMs: 1 },
    ...{ trust: 'trusted', output: parameters, maxResultChars: 1 },
  },
  (options) => tolerant(() => clientTool(options)),
  ['name', 'description', 'parameters'],
)
checkedOptions<SharedStateOptions<typeof parameters, object>>(
  'sharedState',
  { schema: parameters, initial: {}, maxChars: 100 },
  (options) => sharedState(options as never), // its overloads tell the schemas apart
  ['schema', 'initial'],
)

// Models of the browser
const ai = { LanguageModel: { create: act, availability: async () => 'available' } } as never
checkedOptions<ChromeAiOptions>('chromeAi', { languages: ['en'], onDownload: act, toolUse: 'native', contextWindow: 1, ai }, chromeAi)
const engine = { chat: { completions: { create: act } } } as unknown as ChatEngine
checkedOptions<WebLlmOptions>('webLlm', { model: 'm', contextWindow: 1, media: ['image/*'] }, (options) => webLlm(engine, options))

describe('conversation arguments of an invalid type', () => {
  const uses: [string, (source: never) => unknown][] = [
    ['chatOf', chatOf],
    ['createChat', createChat],
    ['React', inReact],
    ['Vue', inVue],
    ['Svelte', inSvelte],
    ['Solid', inSolid],
    ['runClientTools', (source) => runClientTools(source, {})],
  ]
  it.each(uses)('rejects an invalid conversation in %s', (_, use) => {
    for (const odd of [undefined, null, 7, 'agent', {}, { model }, [], Agent]) {
      expect(() => use(odd as never), String(odd)).toThrow(ConfigError)
      expect(() => use(odd as never), String(odd)).toThrow(/must be an Agent|must be an agent/)
    }
  })
})

it('rejects a listener argument that is not a pool', () => {
  for (const odd of [undefined, null, {}, 'pool']) expect(() => listenWith(odd as never), String(odd)).toThrow(ConfigError)
})
