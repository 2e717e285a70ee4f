import { describe, expect, it } from 'vitest'
import { forwardToSession } from '../../adapters/cloudflare/index.ts'
import { createAgentApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { bashTool } from '../../adapters/node/index.ts'
import type { SqlPool } from '../../adapters/postgres/index.ts'
import { postgresLiveSessions } from '../../adapters/postgres/index.ts'
import { applyProfile, composeSystemPrompt, minimalPrompt, profileDefaults, SubAgentTool } from '../../src/agents.ts'
import { eventEncoder } from '../../src/client.ts'
import { PartialJson, parsePartialJson } from '../../src/context.ts'
import {
  Agent,
  ConfigError,
  defineTool,
  fileContent,
  memorySessionStore,
  parseOutput,
  type RequestSettings,
  resumeAgent,
  type SessionStore,
} from '../../src/index.ts'
import { createBudget } from '../../src/loop.ts'
import { limited, limiter } from '../../src/models.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { ProviderRegistry } from '../../src/providers/registry.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { createLineDecoder, createSseDecoder, defineProvider } from '../../src/providers.ts'
import {
  deleteAllSessions,
  exportAllSessions,
  exportSession,
  exportSessionLines,
  importSession,
  logSessionStore,
  messagesWithBytes,
  pruneSessions,
  replayEvents,
  scopedSessionStore,
  sessionJournal,
  withEvents,
  withTaskHooks,
} from '../../src/session.ts'
import { listFilesTool, memoryWorkspace, searchTool, ToolRegistry, toolSearch } from '../../src/tools.ts'
import { agUiEncoder } from '../../src/ui/ag-ui.ts'
import { toUiMessages, uiMessageEncoder } from '../../src/ui/ai-sdk.ts'
import { context as toolContext } from '../tools/context.ts'

const act = () => undefined
const as = <T = never>(value: unknown): T => value as T
const request = new Request('http://localhost/')
const result = { messages: [], status: 'completed' as const }
const asked = (settings: RequestSettings) => new Agent({ model: scripted([]) }).prompt('x', settings)
const codec = { encode: act, decoder: act }

/** What is wrong, what is done, and what the error must say. */
const wrong: [string, () => unknown, RegExp][] = [
  [
    'a hook of tasks that is misspelt',
    () => withTaskHooks(memorySessionStore(), as({ aftertask: act })),
    /aftertask.*Did you mean afterTask\?/,
  ],
  ['the driver of a store', () => logSessionStore(as('./dir')), /driver is "\.\/dir"; it must be a log driver, such as memoryDriver\(\)/],
  ['an option of an encoder for useChat', () => uiMessageEncoder(as({ restates: true })), /restates.*Did you mean restate\?/],
  ['an option of messages for useChat', () => toUiMessages([], as({ costs: act })), /costs.*Did you mean cost\?/],
  ['an option of an encoder for AG-UI', () => agUiEncoder(as({ threadID: 't' })), /threadID.*Did you mean threadId\?/],
  ['the history of an encoder', () => agUiEncoder(as({ history: 'x' })), /history is "x"/],
  ['an option of our own encoder', () => eventEncoder(as({ turnRequest: true })), /turnRequest.*Did you mean turnRequests\?/],
  ['a budget of nothing', () => createBudget(as(null)), /options is null/],
  ['a misspelt budget limit', () => createBudget(as({ maxCosts: 1 })), /maxCosts.*Did you mean maxCost\?/],
  ['an invalid budget limit', () => createBudget({ maxCost: Number.NaN }), /maxCost is NaN/],
  ['the parent of a budget', () => createBudget({}, as({})), /parent is an object/],
  ['files of a workspace', () => memoryWorkspace(as(null)), /files is null/],
  ['the content of a file', () => memoryWorkspace({ 'a.txt': as(7) }), /files\.a\.txt is 7/],
  ['a profile', () => profileDefaults(as('x')), /profile is "x"/],
  ['a part of a profile', () => applyProfile(as({ maxTokens: '5' }), {}), /profile\.maxTokens is "5"/],
  ['an unknown part of a profile', () => applyProfile(as({ maxToken: 5 }), {}), /maxToken.*Did you mean maxTokens\?/],
  ['options for a profile', () => applyProfile({}, as(null)), /options is null/],
  ['a prompt strategy', () => composeSystemPrompt(as(null), {}), /strategy is null/],
  ['blocks of a prompt strategy', () => composeSystemPrompt(as({ blocks: [null] }), {}), /strategy\.blocks\[0\] is null/],
  ['a text of a prompt', () => composeSystemPrompt(minimalPrompt, { task: as(7) }), /content\.task is 7/],
  ['the workspace of a prompt', () => composeSystemPrompt(minimalPrompt, {}, { workspace: as('.') }), /workspace is "\."/],
  ['the source of parseOutput', () => parseOutput(as(null), {}), /from is null/],
  ['the schema of parseOutput', () => parseOutput(as(result), as('x')), /schema is "x"/],
  [
    'an option of parseOutput',
    () => parseOutput(as(result), {}, as({ schemaValidators: act })),
    /schemaValidators.*Did you mean schemaValidator\?/,
  ],
  ['tools of a registry', () => new ToolRegistry(as(7)), /tools is 7/],
  ['a tool of a registry', () => new ToolRegistry().register(as({ name: 'x' })), /tool\.description/],
  ['tools to be searched', () => toolSearch(as('x')), /tools is "x"/],
  ['a tool to be searched', () => toolSearch(as([{ name: 'x' }])), /tools\[0\]\.description/],
  ['the limiter of a model', () => limited(scripted([]), as(undefined)), /limiter is undefined/],
  ['limiter options instead of a limiter', () => limited(scripted([]), as({ concurrency: 1 })), /limiter is an object/],
  ['the maximum wait of a call', () => limited(scripted([]), limiter(), { maxWaitMs: -1 }), /maxWaitMs is -1/],
  ['a non-JSON body value', () => new Agent({ model: scripted([]), body: as({ seed: () => 1 }) }), /body\.seed is a function/],
  [
    'a non-finite number in a body',
    () => new Agent({ model: scripted([]) }).prompt('x', { body: { seed: Number.NaN } }),
    /body\.seed is NaN/,
  ],
  ['a header that cannot be sent', () => asked({ headers: { 'a b': 'x' } }), /headers\."a b" cannot be sent/],
  [
    'a header with a line break, without its value',
    () => asked({ headers: { 'x-token': 'secret\nx' } }),
    /headers\."x-token" cannot be sent(?!.*secret)/,
  ],
  ['headers of a factory', () => anthropic('claude', { apiKey: 'k', headers: { '': 'x' } }), /headers\."" cannot be sent/],
  ['an empty stop sequence', () => asked({ stopSequences: ['a', ''] }), /stopSequences\[1\] is empty/],
  ['an empty list of allowed tools', () => asked({ toolChoice: { allowed: [] } }), /allowed is empty/],
  [
    'a choice of tools',
    () => asked({ toolChoice: as('any') }),
    /toolChoice is "any"; it must be "auto", "none", "required", \{ tool \} or \{ allowed \}/,
  ],
  ['the path of elements()', () => new Agent({ model: scripted([]) }).prompt('x').elements(as(5)), /path\[0\] is 5/],
  ['a piece of JSON', () => new PartialJson().push(as(5)), /piece is 5/],
  ['the beginning of JSON', () => parsePartialJson(as(null)), /piece is null/],
  ['an option of a file', () => fileContent(new Blob(['a']), as({ mimetype: 'text/plain' })), /mimetype.*Did you mean mimeType\?/],
  ['loaders of a registry', () => new ProviderRegistry(as(null)), /loaders is null/],
  ['a loader of a registry', () => new ProviderRegistry().register('x', as(7)), /loader is 7/],
  ['a configuration', () => new ProviderRegistry().createModel(as(null)), /config is null/],
  ['a configuration without a protocol', () => new ProviderRegistry().createModel(as({ id: 'm' })), /config\.api is undefined/],
  ['a provider of nothing', () => defineProvider(as(undefined)), /options is undefined/],
  [
    'the codec of a provider',
    () => defineProvider(as({ api: 'x', service: 'X', codec: {} })),
    /codec is an object.*a codec, with encode and decoder\(\)/,
  ],
  [
    'a misspelt part of a provider',
    () => defineProvider(as({ api: 'x', service: 'X', codec, transports: {} })),
    /Did you mean transport\?/,
  ],
  ['a limit of frames', () => createSseDecoder(act, { maxBufferChars: Number.NaN }), /maxBufferChars is NaN/],
  ['a limit of lines', () => createLineDecoder(act, as({ maxBufferChar: 5 })), /Did you mean maxBufferChars\?/],
  ['the options of forwardToSession', () => forwardToSession(request, as(undefined)), /options is undefined/],
  ['the sessions of forwardToSession', () => forwardToSession(request, as({ sessionId: 's', path: '/' })), /sessions is undefined/],
  ['the request of forwardToSession', () => forwardToSession(as({}), as({ sessions: { getByName: act } })), /request is an object/],
]

it.each(wrong)('throws before any effect, naming option and value: %s', async (_what, make, said) => {
  const error = await (async () => make())().then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ConfigError)
  expect(String(error)).toMatch(said)
})

it('treats an undefined budget limit as no limit', () => {
  const budget = createBudget({ maxCost: as(undefined), maxDurationMs: as(undefined) })
  expect(budget.exceeded()).toBeUndefined()
})

const pool: SqlPool = { query: async () => ({ rows: [] }) }
/** Nothing, where nothing is allowed. */
const orNull = (store: SessionStore | undefined): SessionStore => store ?? as(null)

/** What takes a session store. */
const takingAStore: [string, (store: SessionStore) => unknown][] = [
  ['resumeAgent', (store) => resumeAgent(store, 'a', { model: scripted([]) })],
  ['Agent', (store) => new Agent({ model: scripted([]), session: orNull(store) })],
  ['SubAgentTool', (store) => new SubAgentTool({ name: 'a', description: 'a', model: scripted([]), session: orNull(store) })],
  ['exportSession', (store) => exportSession(store, 'a')],
  ['exportSessionLines', (store) => exportSessionLines(store, 'a').next()],
  ['exportAllSessions', (store) => exportAllSessions(store).next()],
  ['importSession', (store) => importSession(store, 'x')],
  ['pruneSessions', (store) => pruneSessions(store, { olderThan: 1 })],
  ['deleteAllSessions', (store) => deleteAllSessions(store)],
  ['scopedSessionStore', (store) => scopedSessionStore(store, 'me')],
  ['withEvents', (store) => withEvents(store)],
  ['withTaskHooks', (store) => withTaskHooks(store, {})],
  ['sessionJournal', (store) => sessionJournal(store)],
  ['messagesWithBytes', (store) => messagesWithBytes(store, 'a', [])],
  ['replayEvents', (store) => replayEvents(store, 'a').next()],
  ['memoryLiveSessions', (store) => memoryLiveSessions({ store, agent: as(act) })],
  ['postgresLiveSessions', (store) => postgresLiveSessions({ pool, store: orNull(store), agent: as(act) })],
]

describe.each(takingAStore)('%s', (_, call) => {
  it.each([
    ['a path', './dir'],
    ['nothing', undefined],
    ['another object', {}],
  ])('suggests a session store in place of %s', async (_kind, value) => {
    const failure = await Promise.resolve()
      .then(() => call(as(value)))
      .catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ConfigError)
    expect(String(failure)).toMatch(/(store|session) is ("\.\/dir"|undefined|null|an object); it must be a session store, such as /)
    expect(String(failure)).toContain('fileSessionStore("./sessions") of phi-core/node, or memorySessionStore(), with ')
  })
})

describe('a timeout above the platform limit', () => {
  const workspace = memoryWorkspace({ 'a.txt': 'needle' })
  const long = [Number.POSITIVE_INFINITY, 2 ** 31, 1e300]

  it('lets a search and a listing finish with a very long timeout', async () => {
    for (const timeoutMs of long) {
      const found = await searchTool({ workspace, timeoutMs }).execute({ pattern: 'needle' }, toolContext())
      expect(JSON.stringify(found)).toContain('a.txt:1:needle')
      expect(JSON.stringify(await listFilesTool({ workspace, timeoutMs }).execute({}, toolContext()))).toContain('a.txt')
    }
  })

  it('lets a command finish with a very long timeout', async () => {
    for (const timeoutMs of long.filter(Number.isFinite)) {
      const bash = bashTool({ root: process.cwd(), sandbox: 'none', timeoutMs, needsApproval: false })
      expect(JSON.stringify(await bash.execute({ command: 'sleep 0.05; echo done' }, toolContext()))).toContain('done')
    }
  })

  it('does not flood a client with keep-alive comments', async () => {
    const execute = () => new Promise<string>((resolve) => setTimeout(resolve, 50, 'x'))
    const wait = defineTool({ name: 'wait', description: 'Waits.', parameters: { type: 'object' }, execute })
    const model = scripted([{ toolCalls: [{ name: 'wait', arguments: {} }] }, { text: 'ok' }])
    const app = createAgentApp({
      authorize: () => true,
      agent: () => new Agent({ model, tools: [wait] }),
      pingMs: Number.POSITIVE_INFINITY,
    })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"prompt":"go"}' }
    const response = await app.request('/runs', init)
    expect((await response.text()).split('\n').filter((line) => line === ':')).toEqual([])
  })
})
