import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fileSessionStore } from '../adapters/node/index.ts'
import { parseConfig } from '../src/config.ts'
import {
  Agent,
  AgentBusyError,
  type AgentOptions,
  ConfigError,
  defineTool,
  fileContent,
  imageContent,
  memorySessionStore,
  ProviderError,
} from '../src/index.ts'
import { fallback, uploadFile } from '../src/models.ts'
import { type AnthropicOptions, anthropic } from '../src/providers/anthropic/index.ts'
import { local, openai } from '../src/providers/openai.ts'
import { scripted } from '../src/providers/scripted/index.ts'

// What goes wrong in the first hour with the package, and the sentence that a newcomer reads: what failed, with which value, what to do
// next.

type Fetch = NonNullable<AnthropicOptions['fetch']>
const answering =
  (status: number, body: unknown, type = 'application/json'): Fetch =>
  async () =>
    new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers: { 'content-type': type } })
const refusing = (type: string, message: string) => ({ type: 'error', error: { type, message } })
const failing =
  (error: Error): Fetch =>
  async () =>
    Promise.reject(error)
const page = (title: string) => `<!doctype html>\n<html><head><title>${title}</title></head><body>nginx</body></html>`

const model = scripted(() => ({ text: 'ok' }))
const parameters = { type: 'object', properties: {} } as const
const add = { name: 'add', description: 'Adds.', parameters, execute: () => '3' }
const agentWith = (options: object) => new Agent({ model, ...options } as AgentOptions)
const saying = (block: object) => agentWith({}).prompt({ role: 'user', content: [block] } as never)
const ask = (fetch: Fetch, options: object = {}) =>
  new Agent({ model: anthropic('claude-sonnet-4-6', { apiKey: 'k', fetch, ...options }), retry: false, logger: false }).prompt('hi').text()

describe('error messages for programming mistakes', () => {
  it.each<[string, () => unknown, string]>([
    [
      'a missing API key',
      () => agentWith({ model: anthropic('claude-sonnet-4-6') }).prompt('hi'),
      'The key of model "claude-sonnet-4-6" is missing. Environment variables are not read automatically: pass apiKey: process.env.ANTHROPIC_API_KEY, or use',
    ],
    ['an API key in quotes', () => anthropic('m', { apiKey: '"sk-x"' }), 'apiKey has quotes around it. Pass only the key'],
    ['an API key with the Bearer prefix', () => openai('m', { apiKey: 'Bearer sk-x' }), 'apiKey has a word before it. Pass only the key'],
    [
      'a base URL without a scheme',
      () => anthropic('m', { apiKey: 'k', baseUrl: '127.0.0.1:7801' }),
      'baseUrl "127.0.0.1:7801" is not an absolute URL. Pass a URL with https:// or http://',
    ],
    [
      'a model id in place of a model',
      () => agentWith({ model: 'claude-sonnet-4-6' }),
      'model is "claude-sonnet-4-6"; it must be a model from a factory',
    ],
    [
      'a model promise that was not awaited',
      () => agentWith({ model: Promise.resolve(model) }),
      'model is a promise (await it first); it must be a model from a factory',
    ],
    [
      'a model id in a list of models',
      () => fallback([model, 'gpt-5'] as never),
      'models[1] is "gpt-5"; it must be a model from a factory.',
    ],
    ['mcpServers', () => agentWith({ mcpServers: {} }), 'mcpServers (an object) is not an option. Did you mean tools?'],
    [
      'a message as a scripted response',
      () => scripted([{ content: 'hi' }] as never),
      'content ("hi") is not an option of script[0]. Did you mean text?',
    ],
    ['a setting out of range', () => agentWith({ temperature: 5 }), 'temperature is 5; it must be'],
    [
      'a schema without an object root',
      () => defineTool({ ...add, parameters: z.string() } as never),
      'Tool "add": parameters must be an object schema with "type": "object" at the root, such as z.object({ … }).',
    ],
    [
      'a date in a schema',
      () => defineTool({ ...add, parameters: z.object({ at: z.date() }) } as never),
      'take a text, such as z.iso.datetime().transform((text) => new Date(text)).',
    ],
    [
      'a zod 3 schema',
      () =>
        defineTool({
          ...add,
          parameters: { _def: {}, parse: () => 1, '~standard': { version: 1, vendor: 'zod', validate: () => ({ value: 1 }) } },
        } as never),
      'Pass one as "jsonSchema", or use zod 4.2 or newer.',
    ],
    [
      'inputSchema',
      () => defineTool({ ...add, parameters: undefined, inputSchema: parameters } as never),
      'inputSchema (an object) is not an option of Tool "add". Did you mean parameters?',
    ],
    [
      'needApproval',
      () => defineTool({ ...add, needApproval: true } as never),
      'needApproval (true) is not an option of Tool "add". Did you mean needsApproval?',
    ],
    ['a tool without execute', () => defineTool({ ...add, execute: undefined } as never), 'Tool "add" needs an execute function.'],
    [
      'a tool name with a space',
      () => defineTool({ ...add, name: 'my tool!' }),
      'Invalid tool name "my tool!": use 1 to 64 letters, digits, "_" or "-".',
    ],
    [
      'two tools with the same name',
      () => agentWith({ tools: [defineTool(add), defineTool(add)] }),
      'Two tools are named "add". Give each tool a unique name.',
    ],
    ['a tool in OpenAI format', () => agentWith({ tools: [{ type: 'function', function: add }] }), "tools[0] is a tool in OpenAI's format"],
    [
      'tools in AI SDK format',
      () => agentWith({ tools: { add: { ...add, name: undefined } } }),
      'tools is an object of tools by name, as in the AI SDK. Pass a list: [defineTool({ name: "add", … }), …].',
    ],
    [
      'a hosted tool among client tools',
      () => agentWith({ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }),
      'tools[0] is a provider-executed tool (type "web_search_20250305"). Pass it to the model factory as serverTools.',
    ],
    [
      'a directory as a store',
      () => agentWith({ session: './sessions' }),
      'it must be a session store, such as fileSessionStore("./sessions")',
    ],
    ['a file store without a directory', () => fileSessionStore(undefined as never), 'as in fileSessionStore("./sessions")'],
    ['maxTurns outside limits', () => agentWith({ maxTurns: 3 }), 'maxTurns (3) is not an option. Did you mean limits.maxTurns?'],
    ['maxTurn', () => agentWith({ limits: { maxTurn: 3 } }), 'maxTurn (3) is not an option of limits. Did you mean maxTurns?'],
    ['system', () => agentWith({ system: 'x' }), 'system ("x") is not an option. Did you mean systemPrompt?'],
    ['instructions', () => agentWith({ instructions: 'x' }), 'instructions ("x") is not an option. Did you mean systemPrompt?'],
    [
      'a cost limit without prices',
      () => agentWith({ model: openai('mine', { apiKey: 'k' }), limits: { maxCost: 1 } }),
      'limits.maxCost is 1, but the model "mine" has no prices. Pass catalogue of phi-core/models, or cost, to its factory; or no maxCost.',
    ],
    ['a session id with a space', () => agentWith({ sessionId: 'a b/c' }), 'sessionId is "a b/c"; it must be an id of 1 to 200 characters'],
    [
      'a store under another option name',
      () => agentWith({ sessionStore: memorySessionStore() }),
      'sessionStore (an object) is not an option. Did you mean session?',
    ],
    [
      'a number as signal',
      () => agentWith({}).prompt('x', { signal: 5000 } as never),
      'signal is 5000; it must be an AbortSignal, such as controller.signal.',
    ],
    ['a misspelled enum value', () => agentWith({ thinking: 'meduim' }), 'Did you mean medium?'],
    [
      'a message role of another library',
      () => agentWith({}).prompt([{ role: 'tool', content: 'x' }] as never),
      'prompt[0].role is "tool"; it must be "user" or "assistant" or "toolResult" or "extension". Did you mean toolResult?',
    ],
    [
      'a number as prompt',
      () => agentWith({}).prompt(5 as never),
      "prompt is 5; it must be a text, or a message such as { role: 'user', content: 'hi' }.",
    ],
    ['an event name as listener', () => agentWith({}).subscribe('text' as never), 'listener is "text"; it must be a function.'],
    ['a factory call without a model id', () => anthropic({ apiKey: 'k' } as never), 'id is an object; it must be the id of a model.'],
    ['stop', () => agentWith({ stop: ['x'] }), 'stop (a list) is not an option. Did you mean stopSequences?'],
    [
      'zod fields without z.object',
      () => defineTool({ ...add, parameters: { city: z.string() } } as never),
      'with "type": "object" at the root, such as z.object({ … }).',
    ],
    [
      'strings as scripted responses',
      () => scripted(['hi'] as never),
      'script[0] is "hi"; it must be an answer, such as { text: \'hi\' }.',
    ],
    ['an empty prompt', () => agentWith({}).prompt(''), 'The prompt is empty. Pass text or an image.'],
    [
      'a content block in place of a message',
      () => agentWith({}).prompt([{ type: 'image', data: '', mimeType: 'image/png' }] as never),
      'prompt[0] is a block of type "image", not a message. Wrap it in a message: { role: \'user\', content: [ … ] }.',
    ],
    [
      'a data: URL',
      () => saying({ type: 'image', data: 'data:image/png;base64,iVBORw0KGgo=', mimeType: 'image/png' }),
      'prompt.content[0].data begins with "data:". Pass only the base64',
    ],
    [
      'a URL as data',
      () => saying({ type: 'image', data: 'https://example.com/a.png', mimeType: 'image/png' }),
      'prompt.content[0].data is a URL. Pass an https URL as url, or the bytes as base64.',
    ],
    [
      'a file URL as data',
      () => saying({ type: 'file', data: 'file:///a.pdf', mimeType: 'application/pdf' }),
      'prompt.content[0].data is a URL. Pass an https URL as url, or the bytes as base64.',
    ],
    [
      'an empty file',
      () => saying({ type: 'file', data: '', mimeType: 'application/pdf' }),
      'prompt.content[0].data is empty. Pass a file with content.',
    ],
    [
      'an OpenAI image block',
      () => saying({ type: 'image_url', image_url: { url: 'https://x.test/y.png' } }),
      "prompt.content[0] is a block of type \"image_url\", which other libraries use. Use { type: 'image', url: 'https://…', mimeType: 'image/png' }",
    ],
    [
      'an Anthropic tool result',
      () => saying({ type: 'tool_result', tool_use_id: 'x', content: 'y' }),
      "Use a message: { role: 'toolResult', ",
    ],
  ])('rejects %s', (_, make, sentence) => {
    expect(make).toThrow(sentence)
  })

  it('explains a second prompt during a run', async () => {
    const agent = agentWith({})
    const run = agent.prompt('one')
    expect(() => agent.prompt('two')).toThrow(
      'This agent is already running. An Agent is one conversation: create one per user or chat. ' +
        'Within one conversation, call steer(), followUp() or abort(), or await run.result first.',
    )
    await run.result
  })

  it.each([
    [fileContent, 'file is "report.pdf"; it must be a Blob, a File or bytes. Read it first, such as with readFile of node:fs/promises.'],
    [imageContent, 'file is "report.pdf"; it must be a Blob, a File or bytes.'],
    [(path: never) => uploadFile(anthropic('m', { apiKey: 'k' }), path), 'file is "report.pdf"; it must be a Blob, a File or bytes.'],
  ])('explains a file name passed in place of a file: %#', async (take, sentence) => {
    await expect(take('report.pdf' as never)).rejects.toThrow(sentence)
  })

  it('asks for mimeType if bytes have an unknown type', async () => {
    const sentence = 'The file has no detectable type. Pass mimeType.'
    await expect(fileContent(new Uint8Array([1, 2, 3]))).rejects.toThrow(sentence)
  })

  it('rejects an empty Blob', async () => {
    await expect(fileContent(new Blob([], { type: 'application/pdf' }))).rejects.toThrow('The file is empty. Pass a file with content.')
  })

  it('explains that text is a method when called without parentheses', async () => {
    const run = agentWith({}).prompt('hi')
    expect(run.text.name).toBe('text() is a method: await run.text()')
    expect(await run.text()).toBe('ok')
  })
})

it('suggests the correct key for a misspelled key, with its line', async () => {
  const { warnings } = await parseConfig('[agent]\nsystem_promt = "x"\n', 'toml')
  expect(warnings).toMatchObject([
    { message: 'agent.system_promt is ignored: the key does not exist. Did you mean system_prompt?', line: 2, column: 1 },
  ])
})

describe('error messages for provider failures', () => {
  it.each<[string, Fetch, string]>([
    [
      'a wrong API key',
      answering(401, refusing('authentication_error', 'invalid x-api-key')),
      'Anthropic rejected the API key at https://api.anthropic.com/v1/messages (401). Check the key and its permissions.',
    ],
    [
      'an unsupported country or model',
      answering(403, refusing('permission_error', 'Country, region, or territory not supported')),
      'Anthropic refused access at https://api.anthropic.com/v1/messages (403): Country, region, or territory not supported. Check the key and its permissions.',
    ],
    [
      'a base URL of another server',
      answering(405, { detail: 'Method Not Allowed' }),
      'Anthropic found nothing at https://api.anthropic.com/v1/messages (405): Method Not Allowed. Check the model id and baseUrl.',
    ],
    [
      'an unknown model',
      answering(404, refusing('not_found_error', 'model: missing')),
      'Anthropic found nothing at https://api.anthropic.com/v1/messages (404): model: missing. Check the model id and baseUrl.',
    ],
    [
      'too many requests',
      answering(429, refusing('rate_limit_error', 'Slow down')),
      "Anthropic is rate limiting requests (429): Slow down. Wait before you retry, send fewer requests, or raise the account's limit.",
    ],
    [
      'an exhausted quota',
      answering(429, { error: { code: 'insufficient_quota', message: 'You exceeded your current quota' } }),
      'quota or credit is used up (429): You exceeded your current quota. Check its plan and billing.',
    ],
    [
      'an overloaded provider',
      answering(529, refusing('overloaded_error', 'Overloaded')),
      'Anthropic reported an error (529): Overloaded. The error is temporary. Retry later.',
    ],
    [
      'an unknown host',
      failing(new TypeError('fetch failed', { cause: new Error('getaddrinfo ENOTFOUND api.invalid') })),
      'Anthropic could not be reached at https://api.anthropic.com: fetch failed (getaddrinfo ENOTFOUND api.invalid). Check the network and baseUrl.',
    ],
    [
      'a login page',
      answering(200, page('Sign in'), 'text/html; charset=utf-8'),
      'Anthropic returned a web page (text/html) instead of a stream. Check baseUrl, and whether a proxy requires sign-in.',
    ],
    [
      'an error page of a proxy',
      answering(404, page('404 Not found'), 'text/html'),
      'Anthropic found nothing at https://api.anthropic.com/v1/messages (404): a web page called "404 Not found", which is not of the API. Check the model id and baseUrl.',
    ],
    [
      'an error page without a title',
      answering(503, '<html><body>down</body></html>', 'text/html'),
      'Anthropic reported an error (503): a web page, which is not of the API. The error is temporary. Retry later.',
    ],
  ])('explains %s', async (_, fetch, sentence) => {
    await expect(ask(fetch)).rejects.toThrow(sentence)
  })

  it.each([401, 404])('redacts credentials in the URL of a refused request: %i', async (status) => {
    const baseUrl = 'https://ada:s3cret-word@proxy.test/v9?key=s3cret-key#s3cret-part'
    const model = anthropic('m', { apiKey: 'k', baseUrl, fetch: answering(status, {}) })
    const { error } = await new Agent({ model, logger: false, retry: { maxRetries: 0 } }).prompt('hi').result
    expect(error?.message).toContain(` at https://proxy.test/v9`)
    expect(error?.message).not.toContain('s3cret')
    expect(error?.message).not.toContain('?')
  })

  it('has a hint that names a page and section of the docs in the package', () => {
    const errors = [new AgentBusyError(), new ProviderError('rateLimited', 'x'), new ConfigError('invalidOption', 'x')]
    const { files }: { files: string[] } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(files).toContain('docs')
    for (const { hint } of errors) {
      expect(hint).not.toContain('node_modules')
      const [, page = '', anchor = ''] = /^See (docs\/\S+\.md)#(\w+) in the phi-core package for causes and fixes\.$/.exec(hint) ?? []
      expect(readFileSync(page, 'utf8').toLowerCase()).toContain(`\n### ${anchor}\n`)
    }
  })

  it('does not retry after receiving a login page', async () => {
    const calls: unknown[] = []
    const answer = answering(200, page('Sign in'), 'text/html')
    const counted: Fetch = async (...args) => {
      calls.push(args)
      return answer(...args)
    }
    const agent = new Agent({ model: anthropic('m', { apiKey: 'k', fetch: counted }), logger: false })
    await expect(agent.prompt('hi').text()).rejects.toThrow('web page')
    expect(calls).toHaveLength(1)
  })

  it('names the timeout option when the provider sends nothing', async () => {
    const silent: Fetch = async () => new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } })
    await expect(ask(silent, { firstByteTimeoutMs: 20, idleTimeoutMs: 20 })).rejects.toThrow(
      /^Anthropic sent nothing for 20 ms \((firstByte|idle)TimeoutMs\)\. Raise that limit in the model factory, or set it to false\.$/,
    )
  })

  it('reports a broken connection with its cause', async () => {
    const body = new ReadableStream({
      start: (controller) => controller.error(new TypeError('terminated', { cause: new Error('other side closed') })),
    })
    const broken: Fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    await expect(ask(broken)).rejects.toThrow('The connection to Anthropic was lost: terminated (other side closed). Retry.')
  })

  it('reports a local server that is not running, without a retry', async () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    const calls: unknown[] = []
    const fetch: Fetch = async (...args) => {
      calls.push(args)
      throw new TypeError('fetch failed', { cause: refused })
    }
    const agent = new Agent({ model: local('qwen3', { fetch }), logger: false })
    await expect(agent.prompt('hi').text()).rejects.toThrow(
      'The local server is not running at http://localhost:11434. Start it (ollama serve), or check baseUrl.',
    )
    expect(calls).toHaveLength(1)
  })

  it('reports an incomplete response of a local server', async () => {
    const fetch: Fetch = async () =>
      new Response('data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n', { headers: { 'content-type': 'text/event-stream' } })
    const agent = new Agent({ model: local('qwen3', { fetch }), logger: false, retry: { maxRetries: 0 } })
    await expect(agent.prompt('hi').text()).rejects.toThrow('The response of the local server ended without finish_reason')
  })
})
