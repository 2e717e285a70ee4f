/**
 * Programs that need a part which is loaded late, as text: they are run from an installed copy of the package, in Node and in a page.
 * Each puts a promise of its `Outcome` into `globalThis.outcome`.
 */

/** What became of a run. */
export interface Outcome {
  status: string
  error?: { code: string; message: string }
  /** The types of its events, in order. */
  types: string[]
  /** All that a model was sent or will be: requests, and the content of the history, as JSON. */
  transcript: string
}

const prelude = `
import { Agent, defineTool } from 'phi-core'
import { memoryWorkspace } from 'phi-core/tools'
import { scripted } from 'phi-core/testing'

async function outcomeOf(options, requests = () => options.model.provider.requests.map(({ messages }) => messages)) {
  const agent = new Agent(options)
  const run = agent.prompt('Do it.')
  const types = []
  run.subscribe(({ type }) => types.push(type))
  const { status, error } = await run.result
  return { status, error, types, transcript: JSON.stringify([requests(), agent.messages.map(({ content }) => content)]) }
}
`

/** A model that calls one tool and then answers. */
const calling = (name: string, args: object): string =>
  `scripted([{ toolCalls: [{ name: '${name}', arguments: ${JSON.stringify(args)} }] }, { text: 'Done.' }])`

function registryProgram(api: string): string {
  return `${prelude}
import { ProviderRegistry } from 'phi-core/providers'
const cost = { inputPerMillion: 0, outputPerMillion: 0, cacheReadPerMillion: 0, cacheWritePerMillion: 0 }
const config = {
  id: 'm', name: 'm', api: '${api}', provider: 'test', baseUrl: 'http://127.0.0.1:9', reasoning: false,
  contextWindow: 1000, maxTokens: 10, cost, headers: {},
}
const requests = []
const fetch = async (...request) => { requests.push(request); throw new TypeError('no network here') }
const model = new ProviderRegistry().createModel(config, { credentials: 'key', fetch })
const request = {
  model: config, credential: 'key', systemPrompt: '', messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }], timestamp: 1 }],
  tools: [], thinking: 'off', cache: { type: 'auto' },
}
const encoded = model.provider.encode(request).then(() => 'encoded', ({ name, code }) => name + ' ' + code)
globalThis.outcome = encoded.then((outcome) => {
  if (outcome !== 'LoadError loadFailed') throw new Error('encode without the chunk: ' + outcome)
  return outcomeOf({ model }, () => requests)
})
`
}

/** By what is loaded: a source, or a package. */
export const lateChunkPrograms: Readonly<Record<string, string>> = {
  'src/validation/schema-interpreter.ts': `${prelude}
const parameters = { type: 'object', properties: { id: { type: 'string', pattern: '^a' } }, required: ['id'] }
const tool = defineTool({ name: 'look', description: 'Looks.', parameters, execute: () => 'executed' })
globalThis.outcome = outcomeOf({ model: ${calling('look', { id: 'a1' })}, tools: [tool] })
`,
  'src/loop/background/background-work.ts': `${prelude}
import { SubAgentTool } from 'phi-core/agents'
const child = new SubAgentTool({ name: 'child', description: 'Helps.', model: scripted([{ text: 'Helped.' }]), background: true })
globalThis.outcome = outcomeOf({ model: ${calling('child', { task: 'Help.' })}, tools: [child] })
`,
  'src/stream/partial-outputs.ts': `${prelude}
async function read() {
  const run = new Agent({ model: scripted([{ text: '{"a": 1}' }]), responseFormat: { type: 'jsonObject' } }).prompt('Do it.')
  const types = []
  run.subscribe(({ type }) => types.push(type))
  let error
  try {
    for await (const value of run.partial()) if (value.a === 2) break
  } catch ({ code, message }) {
    error = { code, message }
  }
  const { status, text } = await run.result
  // The run itself goes on.
  return { status: error && status === 'completed' ? 'error' : status, error, types, transcript: text }
}
globalThis.outcome = read()
`,
  'src/loop/calls/repair/repair-arguments.ts': `${prelude}
const inner = ${calling('load', {})}
const { provider } = inner
const broken = async (...request) => {
  const message = await provider.stream(...request)
  for (const block of message.content) if (block.type === 'toolCall') Object.assign(block, { invalidArguments: '{"a":1,}' })
  return message
}
const model = { ...inner, provider: { api: provider.api, encode: (request) => provider.encode(request), stream: broken } }
const tool = defineTool({ name: 'load', description: 'Loads.', parameters: { type: 'object' }, execute: () => 'executed' })
globalThis.outcome = outcomeOf({ model, tools: [tool] }, () => provider.requests.map(({ messages }) => messages))
`,
  'src/loop/capture/capture-request.ts': `${prelude}
globalThis.outcome = outcomeOf({ model: scripted([{ text: 'Done.' }]), captureTurnRequests: true })
`,
  'src/loop/calls/offload/write-result.ts': `${prelude}
const tool = defineTool({ name: 'load', description: 'Loads.', parameters: { type: 'object' }, execute: () => 'x'.repeat(100) })
globalThis.outcome = outcomeOf({ model: ${calling('load', {})}, tools: [tool], offload: { over: 10, workspace: memoryWorkspace() } })
`,
  re2js: `${prelude}
import { searchTool } from 'phi-core/tools'
const workspace = memoryWorkspace({ 'a.txt': 'one' })
globalThis.outcome = outcomeOf({ model: ${calling('search', { pattern: 'o.e' })}, tools: [searchTool({ workspace })] })
`,
  yaml: `${prelude}
import { openApiTools } from 'phi-core/openapi'
const tool = defineTool({
  name: 'load', description: 'Loads.', parameters: { type: 'object' }, execute: async () => (await openApiTools('openapi: 3.1.0')).length,
})
globalThis.outcome = outcomeOf({ model: ${calling('load', {})}, tools: [tool] })
`,
  'src/loop/view/index.ts': `${prelude}
import { revertTool } from 'phi-core/tools'
globalThis.outcome = outcomeOf({ model: scripted([{ text: 'Done.' }]), tools: [revertTool()] })
`,
  'src/context/tokens/media-tokens.ts': `${prelude}
const messages = [{ role: 'user', content: [{ type: 'image', mimeType: 'image/png', url: 'https://a.example/a.png' }] }]
globalThis.outcome = outcomeOf({ model: scripted([{ text: 'Done.' }]), messages })
`,
  'src/providers/kit/optional/schema/fit-schema.ts': `${prelude}
import { anthropic } from 'phi-core/providers/anthropic'
const requests = []
const fetch = async (...request) => { requests.push(request); throw new TypeError('no network here') }
const parameters = { type: 'object', properties: { count: { type: 'integer', minimum: 1 } } }
const tool = defineTool({ name: 'count', description: 'Counts.', parameters, execute: () => 'executed' })
globalThis.outcome = outcomeOf({ model: anthropic('claude-sonnet-5', { apiKey: 'key', fetch }), tools: [tool] }, () => requests)
`,
  'src/providers/kit/optional/media/media-part.ts': `${prelude}
import { anthropic } from 'phi-core/providers/anthropic'
const requests = []
const fetch = async (...request) => { requests.push(request); throw new TypeError('no network here') }
const messages = [{ role: 'user', content: [{ type: 'image', mimeType: 'image/png', url: 'https://a.example/a.png' }] }]
globalThis.outcome = outcomeOf({ model: anthropic('claude-sonnet-5', { apiKey: 'key', fetch }), messages }, () => requests)
`,
  'src/providers/anthropic/index.ts': registryProgram('anthropicMessages'),
  'src/providers/openai/chat-chunk.ts': registryProgram('openAiCompletions'),
  'src/providers/openai-responses/both-services.ts': registryProgram('azureOpenAiResponses'),
  'src/providers/google/both-services.ts': registryProgram('googleVertex'),
  'src/providers/bedrock/index.ts': registryProgram('bedrockConverseStream'),
}

/** What `guardProgram` reports. */
export interface GuardOutcome {
  approved: Outcome
  denied: Outcome
  rejected: Outcome
  unauthorized: Outcome
  calls: string[]
}

/**
 * All that guards a run, with a model that another server plays (`MODEL`): a call that is retried, approved and seen by a hook; one that is
 * denied; an input that a filter refuses; a key that is refused. Needs no part that is loaded late.
 */
export const guardProgram = `
import { Agent, defineTool } from 'phi-core'
import { anthropic } from 'phi-core/providers/anthropic'
const baseUrl = (globalThis.location?.origin ?? process.env.MODEL) + '/model'
const calls = []
const parameters = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] }
const add = defineTool({
  name: 'add', description: 'Adds.', parameters, needsApproval: true,
  execute: ({ a, b }) => { calls.push('executed'); return String(a + b) },
})
const filter = (text) => text.includes('secret') ? { type: 'reject', reason: 'a secret' } : { type: 'warn', warning: 'careful' }
async function outcomeOf(prompt, decide) {
  const agent = new Agent({
    model: anthropic('claude-sonnet-4-6', { apiKey: 'test-key', baseUrl }), tools: [add], inputFilters: [filter],
    hooks: { beforeToolExecution: ({ toolName }) => { calls.push('hook ' + toolName) } },
    retry: { maxRetries: 1, initialDelayMs: 1, backoffMultiplier: 1, maxDelayMs: 1 },
  })
  const run = agent.prompt(prompt)
  const types = []
  run.subscribe((event) => {
    types.push(event.type)
    if (event.type === 'approvalRequested') decide(run, event)
  })
  const { status, error } = await run.result
  return { status, error, types, transcript: JSON.stringify(agent.messages) }
}
async function main() {
  const approved = await outcomeOf('Add.', (run, event) => run.approve(event))
  const denied = await outcomeOf('Add.', (run, event) => run.deny(event.toolCallId, 'not today'))
  const rejected = await outcomeOf('a secret', () => {})
  const unauthorized = await outcomeOf('Add.', () => {})
  return { approved, denied, rejected, unauthorized, calls }
}
globalThis.outcome = main()
`
