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

// What goes wrong in the first hour with the package, and the sentence that a newcomer reads: what failed, with which value, what to do next.

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

describe('a mistake in the program is told where it is made', () => {
  it.each<[string, () => unknown, string]>([
    [
      'no key',
      () => agentWith({ model: anthropic('claude-sonnet-4-6') }).prompt('hi'),
      'The key of model "claude-sonnet-4-6" is missing. No variable is read by itself: pass apiKey: process.env.ANTHROPIC_API_KEY, or use',
    ],
    ['a key in quotes', () => anthropic('m', { apiKey: '"sk-x"' }), 'apiKey has quotes around it. Pass the key alone'],
    [
      'a key with the word that stands before it in a header',
      () => openai('m', { apiKey: 'Bearer sk-x' }),
      'apiKey has a word before it. Pass the key alone',
    ],
    [
      'an address without a scheme',
      () => anthropic('m', { apiKey: 'k', baseUrl: '127.0.0.1:7801' }),
      'baseUrl "127.0.0.1:7801" is not an absolute URL. Begin it with https:// or http://',
    ],
    [
      'the id of a model in place of a model',
      () => agentWith({ model: 'claude-sonnet-4-6' }),
      'model is "claude-sonnet-4-6"; it must be what a factory makes',
    ],
    [
      'a model that nobody has waited for',
      () => agentWith({ model: Promise.resolve(model) }),
      'model is a promise (await it first); it must be what a factory makes',
    ],
    [
      'the id of a model in a list of models',
      () => fallback([model, 'gpt-5'] as never),
      'models[1] is "gpt-5"; it must be a model, as a factory makes it.',
    ],
    ['servers for tools', () => agentWith({ mcpServers: {} }), 'mcpServers (an object) is no option. Did you mean tools?'],
    ['a message in a script', () => scripted([{ content: 'hi' }] as never), 'content ("hi") is no option of script[0]. Did you mean text?'],
    ['a setting out of range', () => agentWith({ temperature: 5 }), 'temperature is 5; it must be'],
    [
      'no object schema',
      () => defineTool({ ...add, parameters: z.string() } as never),
      'Tool "add": parameters must be an object schema ("type": "object" at the root, as z.object({ … }) makes it).',
    ],
    [
      'a date in a schema',
      () => defineTool({ ...add, parameters: z.object({ at: z.date() }) } as never),
      'take a text, such as z.iso.datetime().transform((text) => new Date(text)).',
    ],
    [
      'a schema of zod 3',
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
      'inputSchema (an object) is no option of Tool "add". Did you mean parameters?',
    ],
    [
      'needApproval',
      () => defineTool({ ...add, needApproval: true } as never),
      'needApproval (true) is no option of Tool "add". Did you mean needsApproval?',
    ],
    ['no execute', () => defineTool({ ...add, execute: undefined } as never), 'Tool "add" needs an execute function.'],
    [
      'a name with a blank',
      () => defineTool({ ...add, name: 'my tool!' }),
      'Tool name "my tool!": use 1 to 64 letters, digits, "_" or "-".',
    ],
    [
      'two tools of one name',
      () => agentWith({ tools: [defineTool(add), defineTool(add)] }),
      'Two tools are called "add"; tool names must be unique.',
    ],
    [
      "a tool in OpenAI's form",
      () => agentWith({ tools: [{ type: 'function', function: add }] }),
      "tools[0] is a tool in the form of OpenAI's API",
    ],
    [
      "tools in the AI SDK's form",
      () => agentWith({ tools: { add: { ...add, name: undefined } } }),
      'tools has its tools by their names, as the AI SDK does. Here it is a list: [defineTool({ name: "add", … }), …].',
    ],
    [
      'a tool of the service',
      () => agentWith({ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }),
      'tools[0] is a tool of the service (type "web_search_20250305"). Give it to the factory of the model, as serverTools.',
    ],
    [
      'a directory as a store',
      () => agentWith({ session: './sessions' }),
      'it must be a session store, such as fileSessionStore("./sessions")',
    ],
    ['a store of files without a directory', () => fileSessionStore(undefined as never), 'as in fileSessionStore("./sessions")'],
    ['maxTurns at the top', () => agentWith({ maxTurns: 3 }), 'maxTurns (3) is no option. Did you mean limits.maxTurns?'],
    ['maxTurn', () => agentWith({ limits: { maxTurn: 3 } }), 'maxTurn (3) is no option of limits. Did you mean maxTurns?'],
    ['system', () => agentWith({ system: 'x' }), 'system ("x") is no option. Did you mean systemPrompt?'],
    ['instructions', () => agentWith({ instructions: 'x' }), 'instructions ("x") is no option. Did you mean systemPrompt?'],
    [
      'a limit of money without prices',
      () => agentWith({ model: openai('mine', { apiKey: 'k' }), limits: { maxCost: 1 } }),
      'limits.maxCost is 1, but the model "mine" has no prices. Pass catalogue of phi-core/models, or cost, to its factory; or no maxCost.',
    ],
    ['an id with a blank', () => agentWith({ sessionId: 'a b/c' }), 'sessionId is "a b/c"; it must be an id of 1 to 200 characters'],
    [
      'a store under another name',
      () => agentWith({ sessionStore: memorySessionStore() }),
      'sessionStore (an object) is no option. Did you mean session?',
    ],
    [
      'a number as signal',
      () => agentWith({}).prompt('x', { signal: 5000 } as never),
      'signal is 5000; it must be an AbortSignal, such as controller.signal.',
    ],
    ['a word that is none', () => agentWith({ thinking: 'meduim' }), 'Did you mean medium?'],
    [
      'the role of others',
      () => agentWith({}).prompt([{ role: 'tool', content: 'x' }] as never),
      'prompt[0].role is "tool"; it must be "user" or "assistant" or "toolResult" or "extension". Did you mean toolResult?',
    ],
    [
      'no message',
      () => agentWith({}).prompt(5 as never),
      "prompt is 5; it must be a text, or a message such as { role: 'user', content: 'hi' }.",
    ],
    ['the name of an event for a listener', () => agentWith({}).subscribe('text' as never), 'listener is "text"; it must be a function.'],
    ['the factory without an id', () => anthropic({ apiKey: 'k' } as never), 'id is an object; it must be the id of a model.'],
    ['stop', () => agentWith({ stop: ['x'] }), 'stop (a list) is no option. Did you mean stopSequences?'],
    [
      'the fields of a zod object',
      () => defineTool({ ...add, parameters: { city: z.string() } } as never),
      '("type": "object" at the root, as z.object({ … }) makes it).',
    ],
    ['a script of texts', () => scripted(['hi'] as never), 'script[0] is "hi"; it must be an answer, such as { text: \'hi\' }.'],
    ['an empty prompt', () => agentWith({}).prompt(''), 'The prompt is empty. Pass some text or an image.'],
    [
      'a block in place of a message',
      () => agentWith({}).prompt([{ type: 'image', data: '', mimeType: 'image/png' }] as never),
      'prompt[0] is a block of type "image", not a message. Put blocks into one: { role: \'user\', content: [ … ] }.',
    ],
    [
      'a data: address',
      () => saying({ type: 'image', data: 'data:image/png;base64,iVBORw0KGgo=', mimeType: 'image/png' }),
      'prompt.content[0].data begins with "data:". Give the base64 alone',
    ],
    [
      'an address as data',
      () => saying({ type: 'image', data: 'https://example.com/a.png', mimeType: 'image/png' }),
      'prompt.content[0].data is an address. Give an https one as url, else the bytes as base64.',
    ],
    [
      'a path as data',
      () => saying({ type: 'file', data: 'file:///a.pdf', mimeType: 'application/pdf' }),
      'prompt.content[0].data is an address. Give an https one as url, else the bytes as base64.',
    ],
    [
      'an empty file',
      () => saying({ type: 'file', data: '', mimeType: 'application/pdf' }),
      'prompt.content[0].data is empty: there is nothing to send.',
    ],
    [
      "OpenAI's picture",
      () => saying({ type: 'image_url', image_url: { url: 'https://x.test/y.png' } }),
      "prompt.content[0] is a block of type \"image_url\", which others have. Here it is { type: 'image', url: 'https://…', mimeType: 'image/png' }",
    ],
    [
      "Anthropic's result",
      () => saying({ type: 'tool_result', tool_use_id: 'x', content: 'y' }),
      "Here it is a message: { role: 'toolResult', ",
    ],
  ])('%s', (_, make, sentence) => {
    expect(make).toThrow(sentence)
  })

  it('a second prompt during a run', async () => {
    const agent = agentWith({})
    const run = agent.prompt('one')
    expect(() => agent.prompt('two')).toThrow(
      'An Agent is one conversation, and this one is already running. Make an Agent for each person or chat. ' +
        'In this conversation, use steer() or followUp(), abort() it, or await run.result first.',
    )
    await run.result
  })

  it.each([
    [fileContent, 'file is "report.pdf"; it must be a Blob, a File or bytes. Read it first, such as with readFile of node:fs/promises.'],
    [imageContent, 'file is "report.pdf"; it must be a Blob, a File or bytes.'],
    [(path: never) => uploadFile(anthropic('m', { apiKey: 'k' }), path), 'file is "report.pdf"; it must be a Blob, a File or bytes.'],
  ])('the name of a file in place of the file: %#', async (take, sentence) => {
    await expect(take('report.pdf' as never)).rejects.toThrow(sentence)
  })

  it('bytes that nobody knows', async () => {
    const sentence = 'The file has no known type: neither its bytes nor its name say it. Pass mimeType.'
    await expect(fileContent(new Uint8Array([1, 2, 3]))).rejects.toThrow(sentence)
  })

  it('an empty file of a page', async () => {
    await expect(fileContent(new Blob([], { type: 'application/pdf' }))).rejects.toThrow('The file is empty: there is nothing to send.')
  })

  it('text without brackets says that it is a method', async () => {
    const run = agentWith({}).prompt('hi')
    expect(run.text.name).toBe('text() is a method: await run.text()')
    expect(await run.text()).toBe('ok')
  })
})

it('a key of an agent file that is misspelt is told with its line', async () => {
  const { warnings } = await parseConfig('[agent]\nsystem_promt = "x"\n', 'toml')
  expect(warnings).toMatchObject([
    { message: 'agent.system_promt is not read: there is no such key. Did you mean system_prompt?', line: 2, column: 1 },
  ])
})

describe('a failure of the service says what to do', () => {
  it.each<[string, Fetch, string]>([
    [
      'a wrong key',
      answering(401, refusing('authentication_error', 'invalid x-api-key')),
      'Anthropic rejected the API key at https://api.anthropic.com/v1/messages (401). Check the key and what it may access.',
    ],
    [
      'a country or model that is not open to the account',
      answering(403, refusing('permission_error', 'Country, region, or territory not supported')),
      'Anthropic refused access at https://api.anthropic.com/v1/messages (403): Country, region, or territory not supported. Check the key and what it may access.',
    ],
    [
      'an address of something else',
      answering(405, { detail: 'Method Not Allowed' }),
      'Anthropic found nothing at https://api.anthropic.com/v1/messages (405): Method Not Allowed. Check the model id and baseUrl.',
    ],
    [
      'a wrong model',
      answering(404, refusing('not_found_error', 'model: missing')),
      'Anthropic found nothing at https://api.anthropic.com/v1/messages (404): model: missing. Check the model id and baseUrl.',
    ],
    [
      'too many requests',
      answering(429, refusing('rate_limit_error', 'Slow down')),
      'Anthropic is limiting the rate of requests (429): Slow down. Wait before asking again, ask less often, or raise the limit of the account.',
    ],
    [
      'no credit',
      answering(429, { error: { code: 'insufficient_quota', message: 'You exceeded your current quota' } }),
      'the quota or credit of this account is used up (429): You exceeded your current quota. Check its plan and billing.',
    ],
    [
      'overload',
      answering(529, refusing('overloaded_error', 'Overloaded')),
      'Anthropic reported an error (529): Overloaded. Such errors pass: ask again later.',
    ],
    [
      'no such host',
      failing(new TypeError('fetch failed', { cause: new Error('getaddrinfo ENOTFOUND api.invalid') })),
      'Anthropic could not be reached at https://api.anthropic.com: fetch failed (getaddrinfo ENOTFOUND api.invalid). Check the network and baseUrl.',
    ],
    [
      'a login page',
      answering(200, page('Sign in'), 'text/html; charset=utf-8'),
      'Anthropic answered with a web page (text/html) in place of a stream. Check baseUrl, and whether something on the way asks for a login.',
    ],
    [
      'a page of a server on the way',
      answering(404, page('404 Not found'), 'text/html'),
      'Anthropic found nothing at https://api.anthropic.com/v1/messages (404): a web page called "404 Not found", which is not of the API. Check the model id and baseUrl.',
    ],
    [
      'a page without a title',
      answering(503, '<html><body>down</body></html>', 'text/html'),
      'Anthropic reported an error (503): a web page, which is not of the API. Such errors pass: ask again later.',
    ],
  ])('%s', async (_, fetch, sentence) => {
    await expect(ask(fetch)).rejects.toThrow(sentence)
  })

  it.each([401, 404])('a refusal (%i) names the address without what may be secret in it', async (status) => {
    const baseUrl = 'https://ada:s3cret-word@proxy.test/v9?key=s3cret-key#s3cret-part'
    const model = anthropic('m', { apiKey: 'k', baseUrl, fetch: answering(status, {}) })
    const { error } = await new Agent({ model, logger: false, retry: { maxRetries: 0 } }).prompt('hi').result
    expect(error?.message).toContain(` at https://proxy.test/v9`)
    expect(error?.message).not.toContain('s3cret')
    expect(error?.message).not.toContain('?')
  })

  it('names a page in the package, whatever folder the program runs in', () => {
    const errors = [new AgentBusyError(), new ProviderError('rateLimited', 'x'), new ConfigError('invalidOption', 'x')]
    for (const { hint } of errors) {
      const [, page = '', anchor = ''] = /node_modules\/phi-core\/(docs\/\S+\.md)#(\w+)\.$/.exec(hint) ?? []
      expect(readFileSync(page, 'utf8').toLowerCase()).toContain(`\n### ${anchor}\n`)
    }
  })

  it('a login page is not asked for again', async () => {
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

  it('a service that says nothing', async () => {
    const silent: Fetch = async () => new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } })
    await expect(ask(silent, { firstByteTimeoutMs: 20, idleTimeoutMs: 20 })).rejects.toThrow(
      /^Anthropic sent nothing for 20 ms \((firstByte|idle)TimeoutMs\)\. Raise that limit where the model is made, or set it to false\.$/,
    )
  })

  it('a connection that breaks', async () => {
    const body = new ReadableStream({
      start: (controller) => controller.error(new TypeError('terminated', { cause: new Error('other side closed') })),
    })
    const broken: Fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    await expect(ask(broken)).rejects.toThrow(
      'The connection to Anthropic broke: terminated (other side closed). Such breaks pass: ask again.',
    )
  })

  it('a local server that does not run, asked once', async () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    const calls: unknown[] = []
    const fetch: Fetch = async (...args) => {
      calls.push(args)
      throw new TypeError('fetch failed', { cause: refused })
    }
    const agent = new Agent({ model: local('qwen3', { fetch }), logger: false })
    await expect(agent.prompt('hi').text()).rejects.toThrow(
      'The local server is not running: nothing listens at http://localhost:11434. Start it (ollama serve), or check baseUrl.',
    )
    expect(calls).toHaveLength(1)
  })

  it('a local server that breaks off, in a sentence that reads as one', async () => {
    const fetch: Fetch = async () =>
      new Response('data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n', { headers: { 'content-type': 'text/event-stream' } })
    const agent = new Agent({ model: local('qwen3', { fetch }), logger: false, retry: { maxRetries: 0 } })
    await expect(agent.prompt('hi').text()).rejects.toThrow('The answer of the local server ended without finish_reason')
  })
})
