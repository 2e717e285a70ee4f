import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { callerToken, createModelProxy, type ModelCall, type Upstream } from '../../../../adapters/http/index.ts'
import { ConfigError } from '../../../../src/index.ts'
import { chat, type FakeUpstream, fakeUpstream, proxyTo, secret, serving } from './fake-upstream.ts'

const answering = () => fakeUpstream((_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":1}'))
const upstreamOf = (service: FakeUpstream): Upstream => ({ api: 'openAiCompletions', baseUrl: `${service.url}/v1` })

/** What a server answers to a request that is written by hand: no client would send most of them. */
function raw(url: string, head: string, body = ''): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(Number(port), hostname, () => socket.write(`${head}\r\nconnection: close\r\n\r\n${body}`))
    socket.setEncoding('utf8')
    socket.on('data', (text) => {
      answer += text
    })
    socket.on('end', () => resolve(answer))
    socket.on('error', reject)
  })
}

const body = JSON.stringify({ model: 'm', messages: [] })
const json = `host: proxy.example\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`

describe('proxy paths', () => {
  const paths = [
    '/up/../admin/chat/completions',
    '/up/v1/chat/completions/../../../admin',
    '/up/%2e%2e/admin',
    '/up/%2e%2e%2fadmin',
    '/up/..%2fadmin',
    '/up/..%2Fadmin',
    '/up/%252e%252e%252fadmin',
    '/up/..%5cadmin',
    '/up/..\\admin',
    '/up\\..\\admin',
    '/up/v1/chat%2fcompletions',
    '/up/v1%2f..%2fchat/completions',
    '/up/v1//chat/completions',
    '/up/v1/chat/completions/',
    '/up/v1/chat/completions/extra',
    '/up/v1/chat/completions%00',
    '/up/v1/chat/completions%0d%0aHost:%20evil.example',
    '/up/v1/chat/completions;@canary',
    '/up/@CANARY/chat/completions',
    '/up@CANARY/v1/chat/completions',
    '/up/http://CANARY/chat/completions',
    '/up/http:%2f%2fCANARY/chat/completions',
    '/up/https:/CANARY/v1/chat/completions',
    '//CANARY/v1/chat/completions',
    '/\\CANARY/v1/chat/completions',
    '/up//CANARY/v1/chat/completions',
    '/up:80/v1/chat/completions',
    '/up:80@CANARY/v1/chat/completions',
    '/up/v1/models',
    '/up/v1/files',
    '/up/',
    '/up',
    '/UP/v1/chat/completions',
    '/constructor/v1/chat/completions',
    '/__proto__/v1/chat/completions',
    '/up/v1/fine_tuning/jobs',
    'http://CANARY/up/v1/chat/completions',
    'http://user:pass@CANARY/up/v1/chat/completions',
    'file:///etc/passwd',
    'CANARY:443',
    '*',
  ]

  it.each(paths)('rejects the path %s', async (path) => {
    const [service, canary] = [await answering(), await answering()]
    const url = await serving(proxyTo(upstreamOf(service)).app)
    const target = path.replace('CANARY', new URL(canary.url).host)
    await raw(url, `POST ${target} HTTP/1.1\r\n${json}`, body)
    expect(canary.seen).toEqual([])
    expect(service.seen).toEqual([])
  })

  it('ignores host, query, method and headers sent by the client', async () => {
    const [service, canary] = [await answering(), await answering()]
    const { host } = new URL(canary.url)
    const url = await serving(proxyTo(upstreamOf(service)).app)
    const path = `/up/v1/chat/completions?key=other&api-version=1&alt=json&url=http://${host}&baseUrl=http://${host}#${host}`
    const odd = ['x-forwarded-host', 'x-original-url', 'x-rewrite-url', 'forwarded', 'x-http-method-override', 'x-api-key', 'api-key']
    const headers = odd.map((name) => `${name}: http://${host}/`).join('\r\n')
    const shape = `content-type: application/json\r\ncontent-length: ${body.length}`
    const answer = await raw(url, `POST ${path} HTTP/1.1\r\nhost: ${host}\r\n${shape}\r\n${headers}\r\ncookie: a=b`, body)
    expect(answer).toContain('200 OK')
    expect(canary.seen).toEqual([])
    expect(service.seen).toHaveLength(1)
    expect(service.seen[0]).toMatchObject({ method: 'POST', target: '/v1/chat/completions', body })
    expect(service.seen[0]?.headers).toMatchObject({ host: new URL(service.url).host, authorization: `Bearer ${secret}` })
    expect(JSON.stringify(service.seen)).not.toContain(host)
    for (const name of [...odd, 'cookie']) expect(service.seen[0]?.headers[name]).toBeUndefined()
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD']) {
      const refused = await raw(url, `${method} /up/v1/chat/completions HTTP/1.1\r\nhost: x`)
      expect(refused, method).toContain('405 Method Not Allowed')
    }
    expect(service.seen).toHaveLength(1)
  })

  it('rejects line breaks in a forwarded header', async () => {
    const service = await answering()
    const { app } = proxyTo({ api: 'anthropicMessages', baseUrl: service.url })
    const url = await serving(app)
    await raw(
      url,
      `POST /up/v1/messages HTTP/1.1\r\n${json}\r\nanthropic-version: 1\r\n evil: 2\r\nanthropic-version: 3\rX-Api-Key: mine`,
      body,
    )
    for (const { headers } of service.seen) {
      expect(headers['x-api-key']).toBe(secret)
      expect(headers.evil).toBeUndefined()
    }
  })

  const models = [
    '..',
    '.',
    '../admin',
    'a/../../admin',
    'a//b',
    '%2e%2e',
    'a%2f..%2fadmin',
    'a?x=1',
    'a#b',
    'a\\b',
    'm@evil.example:80/..',
    '',
    ' ',
    'a\u0000',
  ]
  it.each(models)('rejects a model called %j in a path', async (model) => {
    const service = await answering()
    const up: Upstream = { api: 'googleGenerativeAi', baseUrl: service.url }
    const url = await serving(proxyTo(up).app)
    for (const written of [model, encodeURIComponent(model), encodeURIComponent(encodeURIComponent(model))]) {
      const path = `/up/v1beta/models/${written.replaceAll(' ', '%20').replaceAll('\u0000', '%00')}:streamGenerateContent`
      await raw(url, `POST ${path} HTTP/1.1\r\n${json}`, '{"contents":[]}'.padEnd(body.length))
    }
    // A traversal that names a path of the protocol again is that path.
    expect(
      service.seen
        .map(({ target }) => target)
        .filter((target) => !/^\/v1beta\/models\/[\w.-]+(\/[\w-]+)?:streamGenerateContent$/.test(target)),
    ).toEqual([])
  })
})

describe('allowed models', () => {
  const allow = { up: ['gpt-6-mini', 'gpt-5*'] }
  const bodies: Record<string, string> = {
    another: '{"model":"gpt-6"}',
    'no model': '{"messages":[]}',
    'a model with the same prefix': '{"model":"gpt-6-mini-pro"}',
    'a list instead of a string': '{"model":["gpt-6-mini"]}',
    'a duplicate key': '{"model":"gpt-6","model":"gpt-6-mini"}',
    'a duplicate key, escaped once': '{"model":"gpt-6-mini","\\u006dodel":"gpt-6"}',
    'a second key in another case': '{"model":"gpt-6-mini","Model":"gpt-6"}',
    'only a key in another case': '{"MODEL":"gpt-6"}',
    'a duplicate key after a nested one': '{"a":{"model":"x"},"b":["\\\\",{"model":"y"},"\\""],"model":"gpt-6-mini","model":"gpt-6"}',
    'a fallback model': '{"model":"gpt-6-mini","models":["gpt-6-mini","gpt-6"]}',
    'a fallback model in an object': '{"model":"gpt-6-mini","fallbacks":[{"model":"gpt-6"}]}',
    'a model of a hosted tool': '{"model":"gpt-6-mini","tools":[{"type":"advisor","model":"gpt-6"}]}',
    'a model of a hosted plugin': '{"model":"gpt-6-mini","plugins":[{"id":"web"},{"id":"fusion","model":"gpt-6"}]}',
    'several models of a plugin': '{"model":"gpt-6-mini","plugins":[{"id":"fusion","analysis_models":["gpt-6-mini","gpt-6"]}]}',
    'a model of a plugin, in another case': '{"model":"gpt-6-mini","plugins":[{"id":"fusion","Model":"gpt-6"}]}',
    'a model in the parameters of a hosted tool':
      '{"model":"gpt-6-mini","tools":[{"type":"openrouter:image_generation","parameters":{"model":"gpt-6"}}]}',
    'a model nested in a plugin': '{"model":"gpt-6-mini","plugins":[{"id":"fusion","config":{"judges":[{"judge_model":"gpt-6"}]}}]}',
    'a key in camel case': '{"model":"gpt-6-mini","tools":[{"type":"advisor","advisorModel":"gpt-6"}]}',
    'a model id': '{"model":"gpt-6-mini","tools":[{"type":"advisor","model_id":"gpt-6"}]}',
    'a model in gateway options': '{"model":"gpt-6-mini","providerOptions":{"gateway":{"models":["gpt-6"]}}}',
    'a model in a nested body': '{"model":"gpt-6-mini","extra_body":{"model":"gpt-6"}}',
    'a fallback for a full context': '{"model":"gpt-6-mini","context_window_fallbacks":[{"gpt-6-mini":["gpt-6"]}]}',
    'a model in a namespace tool':
      '{"model":"gpt-6-mini","tools":[{"type":"namespace","name":"n","tools":[{"type":"advisor","model":"gpt-6"}]}]}',
    'a model in a tool that is not a function':
      '{"model":"gpt-6-mini","tools":[{"type":"openrouter:fusion","function":{"model":"gpt-6"},"parameters":{"models":["gpt-6"]}}]}',
    'a tool with a duplicate model key': '{"model":"gpt-6-mini","tools":[{"type":"advisor","model":"gpt-6","model":"gpt-6-mini"}]}',
    'a duplicate tools key, escaped once': '{"model":"gpt-6-mini","x":{"too\\u006cs":[{"model":"gpt-6"}],"tools":[]}}',
    'a model below a million brackets': `{"model":"gpt-6-mini","models":${'['.repeat(1_000_000)}"gpt-6"${']'.repeat(1_000_000)}}`,
    'a wildcard': '{"model":"gpt-5*"}',
    'a path': '{"model":"gpt-5/../gpt-6"}',
    'a suffix after a slash': '{"model":"gpt-5/gpt-6"}',
    'invalid JSON': '{"model":"gpt-6-mini",}',
    'a list as body': '[{"model":"gpt-6-mini"}]',
    'JSON with a BOM': '\uFEFF{"model":"gpt-6-mini"}',
  }
  it.each(Object.entries(bodies))('rejects a disallowed model: %s', async (_, text) => {
    const service = await answering()
    const { app } = proxyTo(upstreamOf(service), { allow })
    const response = await app.request('/up/chat/completions', chat(text))
    expect([400, 404]).toContain(response.status)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(service.seen).toEqual([])
  })

  it.each([
    '{"model":"gpt-6-mini"}',
    '{"model":"gpt-5.1-codex","messages":[{"model":"x"}],"tools":[{"type":"function","function":{"name":"model"}}]}',
    '{"model":"gpt-6-mini","plugins":[{"id":"web","engine":"exa"},{"id":"fusion","model":"gpt-5"}]}',
    '{"model":"gpt-6-mini","tools":[{"type":"openrouter:image_generation","parameters":{"model":"gpt-5"}}]}',
    '{"model":"gpt-6-mini","tools":[{"type":"function","name":"rent","parameters":{"properties":{"model":{"type":"string"},"Model":{}}}}]}',
    '{"model":"gpt-6-mini","tools":[{"type":"function","function":{"name":"rent","parameters":{"properties":{"model":{}}}}}]}',
    '{"model":"gpt-6-mini","tools":[{"name":"rent","input_schema":{"properties":{"car_model":{"type":"string"}}}}]}',
    '{"model":"gpt-6-mini","tools":[{"functionDeclarations":[{"name":"rent","parameters":{"properties":{"model":{"type":"string"}}}}]}]}',
    '{"model":"gpt-6-mini","toolConfig":{"tools":[{"toolSpec":{"name":"rent","inputSchema":{"json":{"properties":{"model":{}}}}}}]}}',
    '{"model":"gpt-6-mini","input":[{"type":"function_call","model":{"a":1}}],"metadata":{"model":"x"}}',
    '{"model":"gpt-6-mini","response_format":{"type":"json_schema","json_schema":{"schema":{"properties":{"model":{"type":"string"}}}}}}',
    '{"model":"gpt-6-mini","output_config":{"format":{"type":"json_schema","schema":{"properties":{"models":{"type":"array"}}}}}}',
    '{"model":"gpt-6-mini","generationConfig":{"responseJsonSchema":{"properties":{"model":{"type":"string"}}}}}',
    '{ "messages" : [ "\\"model\\":" ] , "model" : "gpt-6-mini" , "n" : 1e2, "models": ["gpt-5"] }',
  ])('accepts %s, byte for byte', async (text) => {
    const service = await answering()
    const { app } = proxyTo(upstreamOf(service), { allow })
    expect((await app.request('/up/chat/completions', chat(text))).status).toBe(200)
    expect(service.seen[0]?.body).toBe(text)
  })

  it('decides by caller and request with a function', async () => {
    const service = await answering()
    const calls: ModelCall[] = []
    const decide = (call: ModelCall): boolean => {
      calls.push(call)
      return call.identity === 'ann' && call.body.stream !== false
    }
    const { app } = proxyTo(upstreamOf(service), { allow: { up: decide } })
    const ask = (user: string, sent: object) => app.request('/up/chat/completions', chat(sent, { headers: { 'x-user': user } }))
    expect((await ask('ann', { model: 'm' })).status).toBe(200)
    expect((await ask('bob', { model: 'm' })).status).toBe(404)
    expect((await ask('ann', { model: 'm', stream: false })).status).toBe(404)
    expect(calls[0]).toEqual({ identity: 'ann', upstream: 'up', models: ['m'], body: { model: 'm' } })
    expect(service.seen).toHaveLength(1)
  })
})

describe('authorization of proxy callers', () => {
  it.each([false, undefined, '', 0, null, {}, 'x'.repeat(2000), '\ud800'])('responds with 401 if authorize returns %j', async (said) => {
    const service = await answering()
    const { app } = proxyTo(upstreamOf(service), { authorize: () => said as boolean })
    for (const path of ['/up/chat/completions', '/up/other']) expect((await app.request(path, chat())).status).toBe(401)
    expect(service.seen).toEqual([])
  })

  it('responds with an error if authorize throws and hides its message', async () => {
    const service = await answering()
    const logged: unknown[] = []
    const authorize = () => {
      throw new Error('database at postgres://admin:hunter2@db')
    }
    const { app } = proxyTo(upstreamOf(service), { authorize, logger: { warn: (...line) => logged.push(line) } })
    const response = await app.request('/up/chat/completions', chat())
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('hunter2')
    expect(logged).toEqual([['proxyFailed', { message: 'Error' }]])
    expect(service.seen).toEqual([])
  })

  it('reads the key sent by each model factory with callerToken', () => {
    const token = (headers: Record<string, string>) => callerToken(new Request('http://x', { headers }))
    expect(token({ authorization: 'Bearer abc' })).toBe('abc')
    expect(token({ 'x-api-key': 'abc' })).toBe('abc')
    expect(token({ 'x-goog-api-key': 'abc' })).toBe('abc')
    expect(token({ 'api-key': 'abc' })).toBe('abc')
    expect(token({ authorization: 'Basic abc' })).toBeUndefined()
    expect(token({})).toBeUndefined()
  })

  it('allows listed origins and exposes the headers of errors', async () => {
    const service = await answering()
    const { app } = proxyTo(upstreamOf(service), { cors: ['https://app.example'], allow: { up: ['m'] } })
    const headers = { origin: 'https://app.example', 'access-control-request-headers': 'content-type,authorization,x-api-key' }
    const preflight = await app.request('/up/chat/completions', { method: 'OPTIONS', headers })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('https://app.example')
    expect(preflight.headers.get('access-control-allow-headers')).toBe(headers['access-control-request-headers'])
    for (const model of ['m', 'other']) {
      const response = await app.request('/up/chat/completions', chat({ model }, { headers }))
      expect(response.status).toBe(model === 'm' ? 200 : 404)
      expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example')
      // All that is passed on can be read, the id of a request at Azure too.
      expect(response.headers.get('access-control-expose-headers')?.split(',')).toEqual(
        expect.arrayContaining(['retry-after', 'apim-request-id']),
      )
    }
    for (const origin of [
      'https://evil.example',
      'https://app.example.evil.example',
      'http://app.example',
      'null',
      'https://app.example:444',
    ]) {
      const refused = await app.request('/up/chat/completions', chat({ model: 'm' }, { headers: { origin } }))
      expect(refused.status, origin).toBe(403)
      expect(refused.headers.get('access-control-allow-origin')).toBeNull()
    }
    const own = await app.request(
      'http://own.example/up/chat/completions',
      chat({ model: 'm' }, { headers: { origin: 'http://own.example' } }),
    )
    expect(own.status).toBe(200)
    expect(service.seen).toHaveLength(2)
  })
})

describe('proxied request bodies', () => {
  const send = async (init: RequestInit, options = {}) => {
    const service = await answering()
    const { app } = proxyTo(upstreamOf(service), options)
    const response = await app.request('/up/chat/completions', init)
    const problem: { code: string } = await response.json()
    return { status: response.status, code: problem.code, calls: service.seen.length }
  }

  it('rejects bodies that are not valid JSON', async () => {
    const form = chat(undefined, { headers: { 'content-type': 'text/plain' } })
    expect(await send(form)).toMatchObject({ status: 415, code: 'unsupportedMediaType', calls: 0 })
    const packed = chat(undefined, { headers: { 'content-encoding': 'gzip' } })
    expect(await send(packed)).toMatchObject({ status: 415, code: 'unsupportedMediaType', calls: 0 })
    const latin1 = { ...chat(), body: new Uint8Array([...Buffer.from('{"model":"'), 0xe4, ...Buffer.from('"}')]) }
    expect(await send(latin1)).toMatchObject({ status: 400, code: 'invalidBody', calls: 0 })
    expect(await send({ ...chat(), body: null })).toMatchObject({ status: 400, code: 'invalidBody', calls: 0 })
  })

  it('rejects more than maxBodyBytes regardless of the content length', async () => {
    const long = { model: 'm', messages: ['x'.repeat(2000)] }
    expect(await send(chat(long), { maxBodyBytes: 1000 })).toMatchObject({ status: 413, code: 'bodyTooLarge', calls: 0 })
    const stream = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(600).fill(32)) })
    const endless = { ...chat(), body: stream, duplex: 'half' }
    expect(await send(endless, { maxBodyBytes: 1000 })).toMatchObject({ status: 413, code: 'bodyTooLarge', calls: 0 })
  })

  it('times out after idleTimeoutMs', async () => {
    const never = { ...chat(), body: new ReadableStream(), duplex: 'half' }
    expect(await send(never, { idleTimeoutMs: 20 })).toMatchObject({ status: 408, code: 'bodyTooSlow', calls: 0 })
  })
})

describe('invalid proxy options', () => {
  const good = { api: 'openAiCompletions', apiKey: 'k' } as const
  const make = (upstream: object, rest: object = {}) =>
    createModelProxy({ upstreams: { up: upstream as never }, authorize: () => true, allow: { up: ['*'] }, budget: 'unlimited', ...rest })
  const wrong: [string, object, object?][] = [
    ['upstreams.up.apiKey', { api: 'openAiCompletions' }],
    ['upstreams.up.apiKey', { ...good, apiKey: ' ' }],
    ['upstreams.up.apiKey', { ...good, apiKey: '"hunter2"' }],
    ['upstreams.up.apiKey', { ...good, apiKey: 'hunter2\n' }],
    ['upstreams.up.apiKey', { ...good, apiKey: 'hunter2\nX-Other: 1' }],
    ['upstreams.up.api', { ...good, api: 'scripted' }],
    ['upstreams.up.baseUrl', { ...good, api: 'azureOpenAiResponses' }],
    ['upstreams.up.baseUrl', { ...good, api: 'googleVertex', baseUrl: 'https://aiplatform.googleapis.com' }],
    ['upstreams.up.baseUrl', { ...good, baseUrl: 'api.example.com' }],
    ['upstreams.up.baseUrl', { ...good, baseUrl: 'file:///etc' }],
    ['upstreams.up.baseUrl', { ...good, baseUrl: 'https://user:hunter2@api.example.com' }],
    ['upstreams.up.passHeaders[0]', { ...good, passHeaders: ['Authorization'] }],
    ['upstreams.up.passHeaders[0]', { ...good, passHeaders: ['cookie'] }],
    ['upstreams.up.passHeaders[1]', { ...good, passHeaders: ['anthropic-beta', 'Host'] }],
    ['upstreams.up.passHeaders[0]', { ...good, passHeaders: ['x-a\r\nb'] }],
    ['upstreams.up.region', { ...good, region: 'us-east-1' }],
    ['allow.up', good, { allow: {} }],
    ['allow.other', good, { allow: { up: ['*'], other: ['*'] } }],
    ['allow.up', good, { allow: { up: '*' } }],
    ['authorize', good, { authorize: undefined }],
    ['budget', good, { budget: undefined }],
    ['budget.windows[0].ms', good, { budget: { windows: [{ requests: 1 }] } }],
    ['budget.windows[0].request', good, { budget: { windows: [{ ms: 60_000, request: 1 }] } }],
    ['cors[0]', good, { cors: ['*'] }],
    ['cors[0]', good, { cors: ['https://app.example/'] }],
    ['counter', good, { counter: new Map() }],
  ]
  it.each(wrong)('throws an error that contains the option name: %s', (name, upstream, rest) => {
    let thrown: unknown
    try {
      make(upstream, rest)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(ConfigError)
    expect(String(thrown).replace(/ \(.*?\) is not an option of /, ' ')).toContain(name.split('.').at(-1))
    expect(String(thrown)).not.toContain('hunter2')
  })

  it('throws if an upstream name cannot be part of a path', () => {
    const make = (name: string) =>
      createModelProxy({ upstreams: { [name]: good }, authorize: () => true, allow: { [name]: ['*'] }, budget: 'unlimited' })
    for (const name of ['a/b', '..', ':id', '*', '', 'a b']) expect(() => make(name), name).toThrow(ConfigError)
  })
})
