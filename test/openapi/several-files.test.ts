import { describe, expect, it } from 'vitest'
import type { OpenApiResolver, OpenApiToolsOptions } from '../../src/openapi/options.ts'
import { fetchOpenApiTools, openApiTools, readOpenApiTools } from '../../src/openapi.ts'
import { memoryWorkspace } from '../../src/tools.ts'
import { json, webServer } from '../adapters/mcp/http-server.ts'

const baseUrl = 'https://api.test'

/** A petstore in five files: paths, an operation, a parameter and schemas that lead back and to each other. */
const petstore: Record<string, string> = {
  'api/openapi.yaml': `openapi: 3.1.0
paths:
  /pets: { $ref: paths/pets.yaml }
  /pets/{id}: { get: { $ref: 'paths/pets.yaml#/x-one' } }
components:
  schemas:
    Id: { type: integer, minimum: 1 }
`,
  'api/paths/pets.yaml': `post:
  operationId: addPet
  requestBody: { content: { application/json: { schema: { $ref: ../../shared/schemas.json#/Pet } } } }
  responses: { 200: { $ref: ../nothing-of-this-is-read.yaml } }
x-one:
  operationId: getPet
  parameters: [{ $ref: 'parameters.yaml#/id' }]
`,
  'api/paths/parameters.yaml': `id: { name: id, in: path, required: true, schema: { $ref: '../openapi.yaml#/components/schemas/Id' } }`,
  'shared/schemas.json': JSON.stringify({
    Pet: {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string' },
        friend: { $ref: '#/Pet' },
        default: { $ref: 'tags/tag.yaml' },
        example: { type: 'string', example: { $ref: 'no-reference.yaml' } },
      },
    },
  }),
  'shared/tags/tag.yaml': 'type: string\nmaxLength: 3\n',
}

/** Reads `files`, and says which. */
function reading(files: Record<string, string | object>): { resolve: OpenApiResolver; read: string[] } {
  const read: string[] = []
  const resolve: OpenApiResolver = async (url) => {
    read.push(url)
    const file = files[url]
    if (file === undefined) throw new Error('no such file')
    return file
  }
  return { resolve, read }
}

const rootOf = (paths: object) => ({ openapi: '3.0.3', paths })
const toolsOf = (document: object, files: Record<string, string | object>, options: OpenApiToolsOptions = {}) =>
  openApiTools(document, { baseUrl, resolve: reading(files).resolve, ...options })
const withBody = (schema: object) => ({ post: { operationId: 'a', requestBody: { content: { 'application/json': { schema } } } } })

describe('an OpenAPI document in several files', () => {
  it('bundles paths, operations, parameters and schemas, reading each file once', async () => {
    const workspace = memoryWorkspace(petstore)
    const { resolve, read } = reading(petstore)
    const [add, get] = await readOpenApiTools('api/openapi.yaml', { workspace, baseUrl, resolve })
    const pet = {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string' },
        friend: { $ref: '#/$defs/Pet' },
        default: { $ref: '#/$defs/tag' },
        example: { type: 'string', examples: [{ $ref: 'no-reference.yaml' }] },
      },
    }
    expect(add).toMatchObject({ name: 'addPet', parameters: { properties: { body: pet } } })
    expect(add?.parameters).toMatchObject({ $defs: { Pet: pet, tag: { type: 'string', maxLength: 3 } } })
    expect(get).toMatchObject({
      name: 'getPet',
      parameters: { properties: { id: { type: 'integer', minimum: 1 } }, required: ['id'] },
    })
    expect(read.toSorted()).toEqual(['api/paths/parameters.yaml', 'api/paths/pets.yaml', 'shared/schemas.json', 'shared/tags/tag.yaml'])
  })

  it('resolves each file over HTTP relative to its parent', async () => {
    const { url, heard } = await webServer((one, response) => {
      if (one.url === '/v1/openapi.json') return json(response, rootOf({ '/a': { $ref: 'paths/a.json' } }))
      if (one.url === '/v1/paths/a.json') return json(response, withBody({ $ref: '../schemas.json#/A' }))
      if (one.url === '/v1/schemas.json') return json(response, { A: { type: 'string', pattern: '^a' } })
      return json(response, {})
    })
    const resolve: OpenApiResolver = async (address, { signal }) => (await fetch(address, { signal })).text()
    const [tool] = await fetchOpenApiTools(`${url}/v1/openapi.json`, { resolve })
    expect(tool?.parameters).toMatchObject({ properties: { body: { type: 'string', pattern: '^a' } } })
    await tool?.execute({ body: 'abc' }, { signal: new AbortController().signal } as never)
    expect(heard.at(-1)).toMatchObject({ method: 'POST', url: '/a' })
  })

  it('creates all tools from a document with 659 files', async () => {
    const files: Record<string, object> = { 'paths.yaml': {} }
    for (let at = 0; at < 659; at += 1) {
      Object.assign(files['paths.yaml'] ?? {}, { [`/p${at}`]: { $ref: `p/${at}.yaml` } })
      const schema = { type: 'object', properties: { n: { const: at } } }
      files[`p/${at}.yaml`] = { post: { operationId: `o${at}`, requestBody: { content: { 'application/json': { schema } } } } }
    }
    const tools = await toolsOf(rootOf({ $ref: 'paths.yaml' }), files)
    expect(tools).toHaveLength(659)
    for (const [at, tool] of tools.entries()) {
      expect(tool.parameters).toMatchObject({ properties: { body: { properties: { n: { const: at } } } } })
    }
  })

  it('follows references across files and back', async () => {
    const files = {
      'a.yaml': '$ref: b.yaml#/item',
      'b.yaml': { item: { $ref: 'c.yaml' }, deep: { $ref: 'c.yaml#/x' } },
      'c.yaml': {
        ...withBody({ $ref: 'b.yaml#/deep/inner' }),
        x: { inner: { $ref: '#/x/node' }, node: { items: { $ref: 'c.yaml#/x/node' } } },
      },
    }
    const [tool] = await toolsOf(rootOf({ '/a': { $ref: 'a.yaml' } }), files)
    expect(tool?.parameters).toMatchObject({ properties: { body: { items: { $ref: '#/$defs/node' } } } })
  })

  it('leaves the passed objects unmodified', async () => {
    const document = rootOf({ '/a': { $ref: 'a.yaml' } })
    const file = withBody({ $ref: '#/x' })
    const before = JSON.stringify([document, file])
    await toolsOf(document, { 'a.yaml': Object.assign(file, { x: { type: 'string' } }) })
    expect(JSON.stringify([document, { post: file.post }])).toBe(before)
  })

  it('skips only the operation with a missing reference, and names the file', async () => {
    const warned: object[] = []
    const logger = { warn: (_event: string, fields: object) => void warned.push(fields) }
    const files = { 'a.yaml': { get: { operationId: 'ok' }, post: { operationId: 'bad', requestBody: { $ref: '#/nothing' } } } }
    const tools = await toolsOf(rootOf({ '/a': { $ref: 'a.yaml' } }), files, { logger })
    expect(tools.map(({ name }) => name)).toEqual(['ok'])
    expect(warned).toMatchObject([{ operation: 'POST /a', why: expect.stringMatching(/without a target, "a\.yaml#\/nothing": fix/) }])
  })
})

describe('a multi-file document without resolve', () => {
  it.each<[object, RegExp]>([
    [
      { '/a': { $ref: 'a.yaml' }, '/b': { get: { $ref: 'b.yaml#/get' } } },
      /several files \(2 paths or operations, such as \/a in "a\.yaml"\): bundle it into one file \(npx @redocly\/cli bundle.*pass resolve/,
    ],
    [
      { $ref: 'https://ann:sk-1234@files.test/paths.yaml?key=sk-1234#/x' },
      /several files \(paths in "https:\/\/files\.test\/paths\.yaml#\/x"\): bundle/,
    ],
    [{ '/a': withBody({ $ref: 'pet.yaml' }) }, /body of POST \/a is in another file, "pet\.yaml": bundle it/],
  ])('rejects a multi-file document and names the bundle command: %#', async (paths, message) => {
    await expect(openApiTools(rootOf(paths), { baseUrl })).rejects.toMatchObject({
      name: 'OpenApiError',
      code: 'invalidDocument',
      message: expect.stringMatching(message),
    })
  })

  it('ignores external references outside the filter', async () => {
    const paths = { '/a': { get: { operationId: 'a' } }, '/b': { $ref: 'b.yaml' } }
    expect(await openApiTools(rootOf(paths), { baseUrl, filter: { pathPrefix: '/a' } })).toMatchObject([{ name: 'a' }])
  })
})

describe('referenced files of an OpenAPI document', () => {
  const failing = (files: Record<string, string | object>, ref = 'a.yaml', options: OpenApiToolsOptions = {}) =>
    toolsOf(rootOf({ '/a': { $ref: ref } }), files, options).then(
      () => 'no error',
      (error: unknown) => error,
    )

  it.each<[string, Record<string, string | object>, string, string]>([
    ['a.yaml', {}, 'unavailable', 'The file "a.yaml" of the OpenAPI document is unavailable: no such file'],
    ['a.yaml', { 'a.yaml': '{"a' }, 'invalidDocument', 'The file "a.yaml" of the OpenAPI document is not valid JSON'],
    ['a.yaml', { 'a.yaml': 7 as never }, 'invalidDocument', 'resolve must return its text or an object'],
    ['../a.yaml', {}, 'invalidDocument', `"../a.yaml", which is above the document's folder`],
    ['%2e%2e/a.yaml', {}, 'invalidDocument', "above the document's folder"],
    ['http://files.test/a.yaml', {}, 'invalidDocument', 'http://files.test/a.yaml'],
    ['https://10.0.0.1/a.yaml?key=sk-1234', {}, 'invalidDocument', 'another private network'],
    ['file:///etc/passwd', {}, 'invalidDocument', 'which is not allowed'],
    ['https://ann:sk-1234@files.test/a.yaml', {}, 'invalidDocument', 'which is not allowed'],
  ])('rejects %s %#', async (ref, files, code, words) => {
    const error = await failing(files, ref)
    expect(error).toMatchObject({ name: 'OpenApiError', code, message: expect.stringContaining(words) })
    expect(String(error)).not.toContain('sk-1234')
  })

  it("applies a web document's network rules to its files", async () => {
    const from = async (url: string, ref: string) => {
      const { resolve, read } = reading({})
      const document = JSON.stringify(rootOf({ '/a': { $ref: ref } }))
      await fetchOpenApiTools(url, { resolve, fetch: async () => new Response(document) }).catch(() => undefined)
      return read
    }
    expect(await from('https://docs.test/v1/api.json', '../a.json')).toEqual(['https://docs.test/a.json'])
    expect(await from('http://10.0.0.1/api.json', 'a.json')).toEqual(['http://10.0.0.1/a.json'])
    expect(await from('https://docs.test/api.json', 'https://files.test/a.json')).toEqual(['https://files.test/a.json'])
    for (const ref of ['http://docs.test/a.json', 'http://localhost/a.json', 'https://10.0.0.1/a.json', 'https://[::1]/a', 'data:,{}'])
      expect(await from('https://docs.test/api.json', ref)).toEqual([])
  })

  it('limits the number, depth and size of files', async () => {
    const nested: OpenApiResolver = async (url) => ({
      get: {
        operationId: 'a',
        parameters: [{ name: 'p', in: 'query', schema: { items: { $ref: `${Number.parseInt(url, 10) + 1}.yaml` } } }],
      },
      items: { $ref: `${Number.parseInt(url, 10) + 1}.yaml` },
    })
    expect(await failing({}, '0.yaml', { resolve: nested })).toMatchObject({
      code: 'invalidDocument',
      message: expect.stringContaining('a chain of more than 100 files'),
    })
    const wide = Object.fromEntries(Array.from({ length: 5_001 }, (_, at) => [`/p${at}`, { $ref: `${at}.yaml` }]))
    const many = openApiTools(rootOf(wide), { resolve: async () => ({}) })
    await expect(many).rejects.toMatchObject({ code: 'invalidDocument', message: expect.stringContaining('more than 5000 files') })
    const large = openApiTools(rootOf({ '/a': { $ref: 'a' }, '/b': { $ref: 'b' } }), {
      resolve: async () => `{"x":"${'y'.repeat(40_000_000)}"}`,
    })
    await expect(large).rejects.toMatchObject({ code: 'invalidDocument', message: expect.stringContaining('67108864 characters') })
  })

  it('stops after timeoutMs or an abort, and aborts pending reads', async () => {
    const signals: AbortSignal[] = []
    const hangs: OpenApiResolver = (_, { signal }) => {
      signals.push(signal)
      return new Promise(() => undefined)
    }
    expect(await failing({}, 'a.yaml', { resolve: hangs, timeoutMs: 5 })).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('within 5 ms'),
    })
    const own = new AbortController()
    const document = JSON.stringify(rootOf({ '/a': { $ref: 'a' }, '/b': { $ref: 'b' } }))
    const resolve: OpenApiResolver = (url, context) => {
      if (url.endsWith('b')) own.abort(new Error('enough'))
      return hangs(url, context)
    }
    const fetching = fetchOpenApiTools('https://docs.test/', { resolve, signal: own.signal, fetch: async () => new Response(document) })
    await expect(fetching).rejects.toThrow('enough')
    expect(signals).toHaveLength(3)
    expect(signals.every(({ aborted }) => aborted)).toBe(true)
  })
})
