import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OpenApiToolsOptions } from '../../src/openapi/options.ts'
import { fetchOpenApiTools, openApiTools } from '../../src/openapi.ts'
import { type Listening, serve } from '../harness/serve.ts'
import { callCases, caseDocument } from '../support/openapi-cases.ts'
import { context, textOf } from '../tools/context.ts'

/** What a server was asked. */
interface Asked {
  method: string
  target: string
  headers: Record<string, string>
  sent: string
}

/** A server that answers with what `answer` makes of a path, and by default with what it was asked; `asked` is all of it. */
async function service(
  answer: (path: string) => Response | undefined | Promise<Response> = () => undefined,
): Promise<Listening & { asked: Asked[] }> {
  const asked: Asked[] = []
  const app = new Hono()
  app.all('*', async ({ req }) => {
    const target = req.raw.url.slice(new URL(req.url).origin.length)
    asked.push({ method: req.method, target, headers: req.header(), sent: await req.text() })
    return (await answer(new URL(req.url).pathname)) ?? Response.json(asked.at(-1))
  })
  const listening = await serve((request) => app.fetch(request))
  return Object.assign(listening, { asked })
}

type Operations = Record<string, object>

/** A document of operations by `method path`, which are their ids too. */
function documentOf(operations: Operations, more: object = {}): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const [place, operation] of Object.entries(operations)) {
    const [method = '', path = ''] = place.split(' ')
    paths[path] = { ...paths[path], [method]: { operationId: place.replace(/[^a-z]+/gi, '_'), ...operation } }
  }
  return { openapi: '3.1.0', info: { title: 'T', version: '1' }, paths, ...more }
}

async function call(operations: Operations, options: OpenApiToolsOptions, args: unknown = {}, more: object = {}, signal?: AbortSignal) {
  const [tool] = await openApiTools(documentOf(operations, more), options)
  const result = await tool?.execute(args as never, context(signal))
  return { text: textOf(result ?? ''), result: result as { isError?: boolean; details?: Record<string, unknown> } }
}

const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC', 'base64')

let home: Listening & { asked: Asked[] }
let other: Listening & { asked: Asked[] }
const endless = () => new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(4096).fill(97)) }))
beforeAll(async () => {
  other = await service()
  home = await service((path) => {
    const redirect = (status: number, location: string) => new Response(null, { status, headers: { location } })
    const answers: Record<string, () => Response | Promise<Response>> = {
      '/missing': () => Response.json({ error: 'no such pet' }, { status: 404 }),
      '/odd': () => new Response('?', { status: 599 }),
      '/none': () => new Response(null, { status: 204 }),
      '/euros': () => new Response('€'.repeat(50_000)),
      '/endless': endless,
      '/silent': () => new Promise(() => undefined),
      '/picture': () => new Response(new Uint8Array(10), { headers: { 'content-type': 'image/png' } }),
      '/pixel': () => new Response(png, { headers: { 'content-type': 'application/pdf' } }),
      '/report': () => new Response('%PDF-1.7 x', { headers: { 'content-type': 'application/pdf' } }),
      '/latin': () => new Response(new Uint8Array([0xe9]), { headers: { 'content-type': 'text/plain; charset=iso-8859-1' } }),
      '/here': () => redirect(302, '/there?x=1'),
      '/away': () => redirect(307, `${other.url}/stolen`),
      '/file': () => redirect(302, 'file:///etc/passwd'),
      '/circle': () => redirect(301, '/circle'),
      '/posted': () => redirect(303, '/result'),
      '/moved': () => redirect(308, '/elsewhere'),
    }
    return answers[path]?.()
  })
})
afterAll(async () => {
  await home[Symbol.asyncDispose]()
  await other[Symbol.asyncDispose]()
})

describe('OpenAPI requests over HTTP', () => {
  it.each(callCases.map((each) => [each.name, each] as const))(
    'sends %s',
    async (name, { method, args, target, headers = {}, sent = '' }) => {
      const tools = await openApiTools(caseDocument(home.url))
      await tools.find((tool) => tool.name === name)?.execute(args as never, context())
      expect(home.asked.at(-1)).toMatchObject({ method: method.toUpperCase(), target, headers, sent })
    },
  )
})

describe('openApiTools responses', () => {
  it.each([
    ['/missing', '404 Not Found\n\n{"error":"no such pet"}'],
    ['/odd', '599\n\n?'],
    ['/none', '204 No Content\n\n'],
    ['/picture', '200 OK\n\n(10 bytes of image/png, not shown)'],
    ['/latin', '200 OK\n\né'],
  ])('returns status and body: %s', async (path, told) => {
    const { text, result } = await call({ [`get ${path}`]: {} }, { baseUrl: `${home.url}/` })
    expect(text).toBe(`GET ${home.url}${path} → ${told}`)
    expect(result.isError).toBeUndefined()
  })

  it('returns media as blocks with the type detected from their bytes', async () => {
    const { text, result } = await call({ 'get /pixel': {} }, { baseUrl: home.url, maxResponseBytes: 10 })
    expect(text).toContain(`(${png.length} bytes of application/pdf)`)
    expect(result).toMatchObject({ content: [{}, { type: 'image', mimeType: 'image/png', data: png.toString('base64') }] })
    const report = await call({ 'get /report': {} }, { baseUrl: home.url })
    expect(report.result).toMatchObject({ content: [{}, { type: 'file', mimeType: 'application/pdf' }] })
  })

  it('truncates a response at a character boundary after maxResponseBytes', async () => {
    const { text, result } = await call({ 'get /euros': {} }, { baseUrl: home.url, maxResponseBytes: 1000 })
    expect(text).toBe(`GET ${home.url}/euros → 200 OK\n\n${'€'.repeat(333)}\n... [truncated]`)
    expect(result.details).toEqual({ method: 'GET', url: `${home.url}/euros`, status: 200, isTruncated: true })
    const whole = await call({ 'get /euros': {} }, { baseUrl: home.url, maxResponseBytes: 150_000 })
    expect(whole.text.endsWith('€')).toBe(true)
    const byDefault = await call({ 'get /euros': {} }, { baseUrl: home.url })
    expect(byDefault.text.split('\n\n')[1]).toBe(`${'€'.repeat(21_845)}\n... [truncated]`)
  })

  it('stops reading an endless response at maxResponseBytes', async () => {
    const { text } = await call({ 'get /endless': {} }, { baseUrl: home.url, maxResponseBytes: 5 })
    expect(text).toBe(`GET ${home.url}/endless → 200 OK\n\naaaaa\n... [truncated]`)
  })

  it('throws on a timeout and on an abort', async () => {
    await expect(call({ 'get /silent': {} }, { baseUrl: home.url, timeoutMs: 20 })).rejects.toMatchObject({
      code: 'timeout',
      message: `GET ${home.url}/silent did not respond within 20 ms`,
    })
    const controller = new AbortController()
    const cut = call({ 'get /silent': {} }, { baseUrl: home.url }, {}, {}, controller.signal)
    controller.abort()
    await expect(cut).rejects.toMatchObject({ code: 'cancelled' })
  })

  it('reports a failed fetch without the key', async () => {
    const fetch = () => Promise.reject(new TypeError('cannot reach http://x/?key=sk-secret-1'))
    await expect(call({ 'get /a': {} }, { baseUrl: 'http://x', bearer: 'sk-secret-1', fetch })).rejects.toMatchObject({
      code: 'failed',
      message: 'GET http://x/a failed: cannot reach http://x/?key=****',
    })
  })
})

describe('openApiTools arguments', () => {
  const pet = { 'get /pets/{petId}/x': { parameters: [{ name: 'petId', in: 'path', required: true }] } }
  it.each([
    [{}, "missing required path param 'petId'"],
    [null, "missing required path param 'petId'"],
    [[], 'params must be an object'],
    ['x', 'params must be an object'],
    [{ petId: '' }, "path param 'petId' must not be empty"],
    [{ petId: [] }, "path param 'petId' must not be empty"],
    [{ petId: '.' }, 'a path param must not make a segment "." or ".."'],
    [{ petId: '..' }, 'a path param must not make a segment "." or ".."'],
  ])('rejects invalid arguments before the request: %j', async (args, why) => {
    const before = home.asked.length
    const { text, result } = await call(pet, { baseUrl: home.url }, args)
    expect([text, result.isError, home.asked.length]).toEqual([`Error: ${why}`, true, before])
  })

  it('prevents header injection and changes of protected headers', async () => {
    const names = ['X-Ok', 'Authorization', 'Host', 'Cookie', 'X-HTTP-Method-Override', 'Content-Length', 'X-Key', 'bad name', 'X-Mine']
    const operation = { 'get /h': { parameters: names.map((name) => ({ name, in: 'header', required: true, schema: {} })) } }
    const options = { baseUrl: home.url, apiKey: { header: 'X-Key', value: 'sk-right' }, headers: { 'x-mine': 'mine' } }
    const [tool] = await openApiTools(documentOf(operation), options)
    expect(tool?.parameters).toEqual({ type: 'object', properties: { 'X-Ok': {} }, required: ['X-Ok'], additionalProperties: false })
    const args = Object.fromEntries(names.map((name) => [name, 'evil']))
    await call(operation, options, args)
    expect(home.asked.at(-1)?.headers).toMatchObject({ 'x-ok': 'evil', 'x-key': 'sk-right', 'x-mine': 'mine' })
    expect(JSON.stringify(home.asked.at(-1)?.headers).match(/evil/g)).toHaveLength(1)
    for (const value of ['a\r\nX-Evil: 1', 'a\nb', 'a\0', '€']) {
      expect((await call(operation, options, { 'X-Ok': value })).text).toBe("Error: header param 'X-Ok' must be one line of Latin text")
    }
  })
})

describe('openApiTools credentials', () => {
  const securitySchemes = {
    inHeader: { type: 'apiKey', in: 'header', name: 'X-Api' },
    inQuery: { type: 'apiKey', in: 'query', name: 'key' },
    inCookie: { type: 'apiKey', in: 'cookie', name: 'sid' },
    basic: { type: 'http', scheme: 'basic' },
    token: { $ref: '#/components/securitySchemes/bearer' },
    bearer: { type: 'http', scheme: 'bearer' },
    oauth: { type: 'oauth2', flows: {} },
    digest: { type: 'http', scheme: 'Digest' },
  }
  const asked = async (security: object[], credentials: OpenApiToolsOptions['credentials'], root: object[] = []) => {
    const operation = { 'get /c': security.length === 0 ? {} : { security } }
    const { text, result } = await call(
      operation,
      { baseUrl: home.url, ...(credentials && { credentials }) },
      {},
      { components: { securitySchemes }, security: root },
    )
    return { text, result, ...(home.asked.at(-1) as Asked) }
  }

  it.each([
    ['inHeader', 'sk-1234', { headers: { 'x-api': 'sk-1234' } }],
    ['inQuery', 'sk&12 34', { target: '/c?key=sk%2612%2034' }],
    ['inCookie', 'sk-1234', { headers: { cookie: 'sid=sk-1234' } }],
    ['basic', { username: 'ann', password: 'pä55' }, { headers: { authorization: 'Basic YW5uOnDDpDU1' } }],
    ['token', 'sk-1234', { headers: { authorization: 'Bearer sk-1234' } }],
    ['oauth', async () => 'sk-1234', { headers: { authorization: 'Bearer sk-1234' } }],
    ['digest', 'sk-1234', { headers: { authorization: 'Digest sk-1234' } }],
  ])('sends a credential as the scheme %s specifies, and redacts it elsewhere', async (name, credential, expected) => {
    const found = await asked([{ [name]: [] }], { [name]: credential })
    expect(found).toMatchObject(expected)
    const shown = found.text + JSON.stringify(found.result)
    for (const secret of ['sk-1234', 'sk&12 34', 'sk%2612%2034', 'pä55', 'YW5uOnDDpDU1']) expect(shown).not.toContain(secret)
    expect(shown).toContain('****')
  })

  it('sends credentials only to operations that require them', async () => {
    const credentials = { inHeader: 'sk-1234', inQuery: 'sk-5678' }
    const both = await asked([{ basic: [] }, { inHeader: [], inQuery: [] }], credentials)
    expect(both).toMatchObject({ target: '/c?key=sk-5678', headers: { 'x-api': 'sk-1234' } })
    expect((await asked([{ inHeader: [], basic: [] }], credentials)).headers['x-api']).toBeUndefined()
    expect((await asked([], credentials)).headers['x-api']).toBeUndefined()
    expect((await asked([], credentials, [{ inHeader: [] }])).headers['x-api']).toBe('sk-1234')
    expect((await asked([{}], credentials, [{ inHeader: [] }])).headers['x-api']).toBeUndefined()
  })

  it('hides credentials from inspection and serialization', async () => {
    const options = {
      baseUrl: home.url,
      bearer: 'sk-bearer-1',
      apiKey: { header: 'X-K', value: 'sk-key-22' },
      headers: { 'X-Token': 'sk-head-3' },
    }
    const [tool] = await openApiTools(documentOf({ 'get /c': {} }), options)
    const { inspect } = await import('node:util')
    const { text, result } = await call({ 'get /c': {} }, options)
    expect(home.asked.at(-1)?.headers).toMatchObject({ authorization: 'Bearer sk-bearer-1', 'x-k': 'sk-key-22', 'x-token': 'sk-head-3' })
    expect(inspect(tool, { depth: 9, showHidden: true }) + JSON.stringify([tool, result]) + text).not.toMatch(/sk-(bearer|key|head)/)
    expect(text).toContain('"authorization":"Bearer ****"')
    const misspelt = openApiTools(documentOf({}), { bearerx: 'sk-bearer-1' } as never)
    await expect(misspelt).rejects.toThrow(/^bearerx \(a text\) is not an option\. Did you mean bearer\?$/)
  })
})

describe('secrets echoed by a server', () => {
  const told = async (secret: string, response: () => Response, maxResponseBytes = 1000) =>
    (await call({ 'get /a': {} }, { baseUrl: 'http://x', bearer: secret, maxResponseBytes, fetch: async () => response() })).text

  it('redacts an echoed secret completely in a truncated response', async () => {
    const secret = 'sk-0123456789abcdef'
    const text = await told(secret, () => new Response(`${secret} `.repeat(200)))
    expect(text.replaceAll('****', '')).not.toMatch(/s|sk/)
    expect(text.endsWith('\n... [truncated]')).toBe(true)
    const long = await told(secret, () => new Response('a'.repeat(5000)))
    expect(long).toContain(`\n\n${'a'.repeat(1000)}\n... [truncated]`)
  })

  it('redacts an echoed secret in JSON, and without surrounding spaces', async () => {
    expect(await told('pa"ss\\word1', () => Response.json({ heard: 'pa"ss\\word1' }))).not.toContain('word1')
    expect(await told(' sk-spaced ', () => new Response('[sk-spaced]'))).not.toContain('spaced')
  })

  it('redacts an echoed secret in a truncated redirect', async () => {
    const location = `https://other.test/?${'a'.repeat(960)}&k=sk-0123456789abcdef`
    expect(await told('sk-0123456789abcdef', () => new Response(null, { status: 302, headers: { location } }))).not.toContain('sk-0')
  })
})

describe('multipart/form-data', () => {
  const file = { $ref: '#/components/schemas/File' }
  const components = { components: { schemas: { File: { type: 'string', format: 'binary' } } } }
  const properties = {
    title: { type: 'string' },
    tags: { type: 'array', items: { type: 'string' } },
    meta: { type: 'object' },
    notes: file,
    pages: { type: 'array', items: file },
    page: { type: 'string' },
  }
  const encoding = { page: { contentType: 'text/html' } }
  const content = { 'multipart/form-data': { schema: { type: 'object', properties }, encoding } }
  const sentForm = () => {
    const { headers, sent } = home.asked.at(-1) ?? {}
    return new Response(sent ?? '', { headers: { 'content-type': headers?.['content-type'] ?? '' } }).formData()
  }
  const upload = { 'post /upload': { requestBody: { content } } }

  it('sends strings, list items, JSON objects and named files as parts', async () => {
    const body = { title: 'T', tags: ['a', 'b'], meta: { n: 1 }, notes: 'hello', pages: ['1', '2'], page: '<p>' }
    await call(upload, { baseUrl: home.url, bearer: 'sk-bearer-1' }, { body }, components)
    expect(home.asked.at(-1)?.headers.authorization).toBe('Bearer sk-bearer-1')
    const form = await sentForm()
    const parts = await Promise.all(
      Array.from(form, async ([name, part]) => [name, ...(typeof part === 'string' ? [part] : [await part.text(), part.name, part.type])]),
    )
    expect(parts).toEqual([
      ['title', 'T'],
      ['tags', 'a'],
      ['tags', 'b'],
      ['meta', '{"n":1}', 'meta', 'application/json'],
      ['notes', 'hello', 'notes', 'application/octet-stream'],
      ['pages', '1', 'pages', 'application/octet-stream'],
      ['pages', '2', 'pages', 'application/octet-stream'],
      ['page', '<p>', 'page', 'text/html'],
    ])
  })

  it('escapes values, so none becomes a separate part', async () => {
    const evil = 'x\r\n--boundary\r\ncontent-disposition: form-data; name="admin"\r\n\r\n1'
    await call(upload, { baseUrl: home.url }, { body: { title: evil, 'a"\r\nb: c': '1' } }, components)
    const form = await sentForm()
    expect([...form.keys()]).toHaveLength(2)
    expect(form.get('admin')).toBeNull()
  })

  it('sends multipart only without JSON and form alternatives', async () => {
    const other = { requestBody: { content: { ...content, 'application/x-www-form-urlencoded': { schema: { type: 'object' } } } } }
    await call({ 'post /upload': other }, { baseUrl: home.url }, { body: { title: 'T' } }, components)
    expect(home.asked.at(-1)).toMatchObject({ headers: { 'content-type': 'application/x-www-form-urlencoded' }, sent: 'title=T' })
  })
})

describe('openApiTools redirects', () => {
  const follow = (method: string, path: string) => call({ [`${method} ${path}`]: {} }, { baseUrl: home.url, bearer: 'sk-bearer-1' })

  it('follows redirects within the origin for read requests', async () => {
    expect((await follow('get', '/here')).text).toContain('"target":"/there?x=1"')
    expect(home.asked.at(-1)?.headers.authorization).toBe('Bearer sk-bearer-1')
    expect((await follow('post', '/posted')).text).toContain('"method":"GET","target":"/result"')
  })

  it.each([
    ['get', '/away', '307 Temporary Redirect'],
    ['get', '/file', '302 Found'],
    ['get', '/circle', '301 Moved Permanently'],
    ['post', '/moved', '308 Permanent Redirect'],
  ])('reports a redirect of %s %s instead of following it', async (method, path, status) => {
    const before = other.asked.length
    const { text } = await follow(method, path)
    expect(text).toMatch(new RegExp(`→ ${status}\n\n\n\n\\(A redirect to .*, which was not followed\\.\\)$`))
    expect(other.asked.length).toBe(before)
  })

  it("resolves a document's servers relative to its final URL", async () => {
    const document = JSON.stringify(documentOf({ 'get /a': {} }, { servers: [{ url: 'v1' }] }))
    await using docs = await service((path) => {
      if (path === '/old.json') return new Response(null, { status: 301, headers: { location: '/new/api.json?key=sk-1' } })
      return path === '/new/api.json' ? new Response(document) : undefined
    })
    const [tool] = await fetchOpenApiTools(`${docs.url}/old.json`)
    expect(textOf((await tool?.execute({}, context())) ?? '')).toContain('"target":"/new/v1/a"')
  })

  it.each(['/away', '/file', '/circle'])('rejects a document redirect to another origin: %s', async (path) => {
    const before = other.asked.length
    const error: unknown = await fetchOpenApiTools(home.url + path).catch((thrown) => thrown)
    expect(error).toMatchObject({
      name: 'OpenApiError',
      code: 'unavailable',
      message: expect.stringMatching(/redirects to .*not followed/),
    })
    expect(other.asked.length).toBe(before)
  })

  it('rejects an opaque document redirect, and reveals no key', async () => {
    const hidden = Object.defineProperty(new Response(null), 'type', { value: 'opaqueredirect' })
    await expect(fetchOpenApiTools(home.url, { fetch: async () => hidden })).rejects.toThrow('not followed')
    const away = new Response(null, { status: 302, headers: { location: 'https://me:sk-pass@other.test/a?key=sk-query' } })
    const error: unknown = await fetchOpenApiTools(home.url, { fetch: async () => away }).catch((thrown) => thrown)
    expect(String(error)).toContain('https://other.test/a')
    expect(String(error)).not.toContain('sk-')
  })
})
