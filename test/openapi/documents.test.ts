import { describe, expect, it } from 'vitest'
import type { OpenApiToolsOptions } from '../../src/openapi/options.ts'
import { fetchOpenApiTools, OpenApiError, openApiTools, readOpenApiTools } from '../../src/openapi.ts'
import { memoryWorkspace } from '../../src/tools.ts'
import { enforceableSchema } from '../../src/validation/enforceable-schema.ts'

const baseUrl = 'https://api.test'

/** A logger, and what it heard. */
function listening() {
  const heard: [string, object][] = []
  return { heard, logger: { warn: (event: string, fields: object) => void heard.push([event, fields]) } }
}

const documentOf = (paths: object, more: object = {}) => ({ openapi: '3.0.3', info: { title: 'T', version: '1' }, paths, ...more })
const schemaOf = async (document: object, options: OpenApiToolsOptions = {}) =>
  (await openApiTools(document, { baseUrl, ...options }))[0]?.parameters as Record<string, unknown>
const bodyOf = async (schema: object, more: object = {}) => {
  const paths = { '/a': { post: { operationId: 'a', requestBody: { content: { 'application/json': { schema } } } } } }
  const { properties, $defs } = (await schemaOf(documentOf(paths, more))) as { properties: { body: object }; $defs?: object }
  return { body: properties.body, ...($defs && { $defs }) }
}
const namesOf = async (document: string | object, options: OpenApiToolsOptions = {}) =>
  (await openApiTools(document, { baseUrl, ...options })).map(({ name }) => name)

const shop = documentOf({
  '/pets': { get: { operationId: 'listPets', tags: ['pet'], summary: 'List' }, post: { operationId: 'addPet', tags: ['pet', 'admin'] } },
  '/users': { get: { operationId: 'listUsers', tags: ['user'], description: 'All users.', summary: 'Users' }, delete: { tags: ['user'] } },
})

describe('operations that become tools', () => {
  it.each<[OpenApiToolsOptions['filter'], string[]]>([
    [undefined, ['listPets', 'addPet', 'listUsers']],
    ['all', ['listPets', 'addPet', 'listUsers']],
    [{ operationIds: ['addPet', 'listUsers'] }, ['addPet', 'listUsers']],
    [{ tags: ['user', 'admin'] }, ['addPet', 'listUsers']],
    [{ pathPrefix: '/pe' }, ['listPets', 'addPet']],
    [{ pathPrefix: '/pets', tags: ['admin'] }, ['addPet']],
    [{ tags: [] }, []],
  ])('applies the filter %j', async (filter, names) => expect(await namesOf(shop, filter === undefined ? {} : { filter })).toEqual(names))

  it('skips unnamed operations with a warning, or generates names', async () => {
    const { heard, logger } = listening()
    expect(await namesOf(shop, { logger, filter: { tags: ['user'] } })).toEqual(['listUsers'])
    expect(heard).toEqual([['openApiOperationsWithoutId', { operations: ['DELETE /users'], count: 1 }]])
    expect(await namesOf(shop, { nameUnnamed: true, namePrefix: 'shop' })).toEqual([
      'shop__listPets',
      'shop__addPet',
      'shop__listUsers',
      'shop__delete_users',
    ])
  })

  it('derives labels, descriptions and approval rules of tools', async () => {
    const tools = await openApiTools(shop, { baseUrl, needsApproval: 'unsafe' })
    expect(tools.map(({ label, description, needsApproval, idempotent }) => [label, description, needsApproval, idempotent])).toEqual([
      ['List', 'List', false, true],
      ['addPet', 'POST /pets', true, undefined],
      ['Users', 'All users.', false, true],
    ])
    const asked: unknown[] = []
    const [, ruled] = await openApiTools(shop, { baseUrl, needsApproval: (...given) => asked.push(given) > 0 })
    expect(typeof ruled?.needsApproval === 'function' && ruled.needsApproval({ a: 1 }, { context: 'c' })).toBe(true)
    expect(asked).toEqual([
      [{ name: 'addPet', operationId: 'addPet', method: 'POST', path: '/pets', tags: ['pet', 'admin'] }, { a: 1 }, { context: 'c' }],
    ])
    expect((await openApiTools(shop, { baseUrl }))[1]?.needsApproval).toBeUndefined()
  })

  it('creates legal, distinct tool names that do not depend on the filter', async () => {
    const long = 'x'.repeat(80)
    const ids = ['a/b', 'a_b', 'a b', long, `${long}y`, 'a_b', '日本', '__proto__', 'constructor', '-']
    const document = documentOf(Object.fromEntries(ids.map((operationId, at) => [`/${at}`, { get: { operationId, tags: [String(at)] } }])))
    const { heard, logger } = listening()
    const names = await namesOf(document, { logger })
    expect(new Set(names).size).toBe(ids.length)
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect([names[1], names[7], names[8]]).toEqual(['a_b', '__proto__', 'constructor'])
    for (const [at, name] of names.entries()) expect(await namesOf(document, { filter: { tags: [String(at)] } })).toEqual([name])
    expect(heard.map(([event]) => event)).toEqual(['openApiOperationIdTwice'])
  })
})

describe('openApiTools schemas', () => {
  it('converts 3.0 schemas to JSON Schema without read-only fields', async () => {
    expect(
      await bodyOf({
        type: 'object',
        required: ['id', 'name', 'size'],
        properties: {
          id: { type: 'integer', readOnly: true },
          name: { type: 'string', nullable: true, enum: ['a'], example: 'a', xml: {}, 'x-y': 1 },
          size: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
        },
      }),
    ).toEqual({
      body: {
        type: 'object',
        required: ['name', 'size'],
        properties: {
          name: { type: ['string', 'null'], enum: ['a', null], examples: ['a'] },
          size: { type: 'number', exclusiveMinimum: 0, maximum: 9 },
        },
      },
    })
  })

  it('keeps circular references finite, under unique names', async () => {
    const schemas = {
      Node: {
        type: 'object',
        properties: { next: { $ref: '#/components/schemas/Node' }, constructor: { $ref: '#/components/schemas/constructor' } },
      },
      constructor: { type: 'string' },
    }
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/Node' }, constructor: { $ref: '#/$defs/schema_constructor' } } }
    expect(await bodyOf({ $ref: '#/components/schemas/Node' }, { components: { schemas } })).toEqual({
      body: node,
      $defs: { Node: node, schema_constructor: { type: 'string' } },
    })
  })

  it('warns once about unenforceable keywords and omits them', async () => {
    const { heard, logger } = listening()
    const schemas = {
      A: { $ref: '#/components/schemas/B' },
      B: { $ref: '#/components/schemas/A' },
      C: { $ref: '#/components/schemas/D', title: 'c' },
      D: { $ref: '#/components/schemas/C', title: 'd' },
    }
    const refs = [
      '#/components/schemas/A',
      '#/components/schemas/C',
      '#/nowhere',
      'other.yaml#/A',
      'https://10.0.0.1/a.json',
      '#/__proto__',
    ]
    const schema = { type: 'any', pattern: '(?<', allOf: refs.map(($ref) => ({ $ref })), enum: [], required: true, strange: 1 }
    const operation = (operationId: string) => ({ post: { operationId, requestBody: { content: { 'application/json': { schema } } } } })
    const document = { ...documentOf({ '/a': operation('a'), '/b': operation('b') }, { components: { schemas } }), openapi: '3.1.0' }
    const tools = await openApiTools(document, { baseUrl, logger })
    expect(heard).toEqual([])
    for (const tool of tools) enforceableSchema(tool.parameters as never)
    expect(heard).toHaveLength(1)
    expect(heard[0]).toMatchObject([
      'openApiSchemaNotEnforced',
      { tool: 'a', parts: expect.arrayContaining(['strange', 'type', '$ref #/nowhere']) },
    ])
  })

  it('omits values that JSON cannot represent', async () => {
    const self: unknown[] = []
    self.push(self)
    let doubled: unknown = 'x'
    for (let at = 0; at < 60; at += 1) doubled = [doubled, doubled]
    const body = { type: 'array', default: self, example: doubled, enum: [doubled], const: { a: [null, undefined, 1] } }
    expect(await bodyOf(body)).toEqual({ body: { type: 'array', const: { a: [null, undefined, 1] } } })
  })

  it('resolves thousands of colliding names quickly', async () => {
    const parameters = Array.from({ length: 4_000 }, (_, at) => ({
      name: `${String.fromCodePoint(0x4e00 + at)}`,
      in: 'query',
      schema: {},
    }))
    const schemas = Object.fromEntries(Array.from({ length: 7_000 }, (_, at) => [`s${at}`, { a: { title: String(at) } }]))
    const refs = Object.keys(schemas).map((name) => ({ $ref: `#/x/${name}/a` }))
    const requestBody = { content: { 'application/json': { schema: { allOf: refs } } } }
    const schema = await schemaOf(documentOf({ '/a': { post: { operationId: 'a', parameters, requestBody } } }, { x: schemas }))
    expect(Object.keys(schema.properties as object)).toHaveLength(4_001)
    expect(Object.keys(schema.$defs as object)).toHaveLength(7_000)
  })

  it('stops following very long reference chains', async () => {
    const chain = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`c${at}`, { $ref: `#/c${at + 1}/x` }]))
    expect((await bodyOf({ $ref: '#/c0' }, chain)).body).toEqual({})
  })

  it('warns about credentials for unknown schemes', async () => {
    const { heard, logger } = listening()
    await openApiTools(shop, { baseUrl, logger, credentials: { petKey: 'sk-1234' }, filter: { tags: ['pet'] } })
    expect(heard).toEqual([['openApiSchemeNotFound', { credentials: ['petKey'], schemes: [] }]])
  })

  it('converts hostile schemas quickly', async () => {
    const self: Record<string, unknown> = { type: 'object' }
    self.properties = { a: self, b: self }
    const wide = Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [`p${at}`, { type: 'string' }]))
    let deep: object = { type: 'string' }
    for (let at = 0; at < 5_000; at += 1) deep = { type: 'array', items: deep }
    let doubled: object = { type: 'string' }
    for (let at = 0; at < 60; at += 1) doubled = { type: 'object', properties: { a: doubled, b: doubled } }
    const named = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"toString":{"type":"number"}},"required":["__proto__"]}',
    )
    for (const schema of [self, { type: 'object', properties: wide }, deep, doubled, named, 7, [], null]) {
      const { body } = await bodyOf(schema as object)
      enforceableSchema({ type: 'object', properties: { body } })
    }
    expect(Object.keys(((await bodyOf(named)).body as { properties: object }).properties)).toEqual(['__proto__', 'toString'])
  })
})

describe('invalid OpenAPI documents', () => {
  it.each<[string | object, string, RegExp]>([
    ['{"openapi"', 'invalidDocument', /not valid JSON/],
    ['{openapi: [}', 'invalidDocument', /not valid YAML/],
    [`openapi: 3.1.0\nx: ${'y'.repeat(16 * 1024 * 1024)}`, 'invalidDocument', /convert it to JSON/],
    ['a: [', 'invalidDocument', /not valid YAML/],
    ['a: &a [*a, *a]\nb: *x', 'invalidDocument', /not valid YAML/],
    ['', 'invalidDocument', /is not an object/],
    ['[]', 'invalidDocument', /is not an object/],
    [{}, 'invalidDocument', /no "openapi" version/],
    [{ swagger: '2.0' }, 'unsupportedVersion', /^Swagger 2\.0 is an unsupported version: use OpenAPI 3\.0 or 3\.1.*npx swagger2openapi/],
    [documentOf({}), 'invalidDocument', /has no operation/],
    [{ openapi: '3.1.0', webhooks: {} }, 'invalidDocument', /has no operation/],
    [documentOf({ '/a': { get: {}, put: {} } }), 'invalidDocument', /2 operations, none with an operationId: pass nameUnnamed: true/],
    [
      documentOf({ '/a': { get: { operationId: 'a', parameters: [{ $ref: '#/b' }] } } }, { servers: [{ url: baseUrl }] }),
      'invalidDocument',
      /parameter of GET \/a.*"#\/b"/,
    ],
    [
      documentOf({ '/a': { post: { operationId: 'a', requestBody: { $ref: 'b.yaml' } } } }, { servers: [{ url: baseUrl }] }),
      'invalidDocument',
      /body of POST \/a is in another file, "b\.yaml".*npx @redocly/,
    ],
    [shop, 'noServer', /lists no server: pass baseUrl/],
    [documentOf(shop.paths, { servers: [{ url: '/v1' }] }), 'noServer', /"\/v1" is not an absolute URL/],
    [documentOf(shop.paths, { servers: [{ url: 'file:///etc' }] }), 'noServer', /file:/],
    [documentOf(shop.paths, { servers: [{ url: 'https://ann:pw@x.test' }] }), 'noServer', /^(?!.*pw@).*credentials/],
    [documentOf(shop.paths, { servers: [{ url: 'https://{host}' }] }), 'noServer', /\{host\}/],
  ])('rejects an invalid document %#', async (document, code, message) => {
    const error: unknown = await openApiTools(document).catch((thrown) => thrown)
    expect(OpenApiError.isInstance(error)).toBe(true)
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) })
  })

  it('rejects alias bombs, deep nesting and very many keys', async () => {
    const bomb = ['a0: &a0 [x, x]', ...Array.from({ length: 40 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}]`)].join('\n')
    await expect(openApiTools(`openapi: 3.0.0\n${bomb}`)).rejects.toMatchObject({ code: 'invalidDocument' })
    const deep = `${'['.repeat(100_000)}`
    await expect(openApiTools(`{"openapi":"3.0.0","x":${deep}`)).rejects.toMatchObject({ code: 'invalidDocument' })
    await expect(openApiTools(`openapi: 3.0.0\nx: ${deep}`)).rejects.toMatchObject({ code: 'invalidDocument' })
  })

  it('skips invalid paths', async () => {
    const { heard, logger } = listening()
    const paths = ['@evil.test/', '//evil.test/..', '/a/%2E%2e/b', 'x-note', '/ok', '/nothing']
    const items = Object.fromEntries(
      paths.map((path, at) => [path, path === '/nothing' ? { $ref: '#/x' } : { get: { operationId: `o${at}` }, trace: {} }]),
    )
    expect(await namesOf(documentOf(items), { logger })).toEqual(['o4'])
    expect(heard.map(([, fields]) => Object.values(fields)[0])).toEqual([
      '@evil.test/',
      '//evil.test/..',
      '/a/%2E%2e/b',
      'TRACE /ok',
      '/nothing',
    ])
  })
})

describe('the source of an OpenAPI document', () => {
  const json = JSON.stringify(documentOf(shop.paths, { servers: [{ url: '/v1' }] }))
  const servedFrom =
    (text: string, status = 200) =>
    async () =>
      new Response(text, { status })
  const places = async (url: string, document: object) => {
    const asked: string[] = []
    const fetch = async (input: RequestInfo | URL) => {
      asked.push(String(input))
      return new Response(JSON.stringify(document))
    }
    const [tool] = await fetchOpenApiTools(url, { fetch, bearer: 'sk-1234' })
    await tool?.execute({}, { signal: new AbortController().signal } as never)
    return asked[1]
  }

  it('reads a file of a workspace', async () => {
    const workspace = memoryWorkspace({ 'api.json': `\uFEFF${json}` })
    expect((await readOpenApiTools('api.json', { workspace, baseUrl })).map(({ name }) => name)).toEqual([
      'listPets',
      'addPet',
      'listUsers',
    ])
    await expect(readOpenApiTools('none.json', { workspace })).rejects.toMatchObject({ code: 'notFound' })
  })

  it('fetches a URL and resolves its servers against it', async () => {
    expect(await places('https://docs.test/a/openapi.json', JSON.parse(json))).toBe('https://docs.test/v1/pets')
    expect(await places('https://docs.test/a/openapi.json', shop)).toBe('https://docs.test/pets')
    expect(await places('http://127.0.0.1/openapi.json', documentOf(shop.paths, { servers: [{ url: 'http://localhost/v2' }] }))).toBe(
      'http://localhost/v2/pets',
    )
  })

  it.each([
    '2130706433',
    '0x7f.1',
    '[::ffff:127.0.0.1]',
    '①②⑦.0.0.1',
    'localhost.',
    '169.254.169.254',
    '10.1.2.3',
    '172.20.0.1',
    '192.168.0.1',
    '[::1]',
    '[fd00::1]',
    'db.internal',
  ])('rejects a private server for a public document: %s', async (host) => {
    const document = documentOf(shop.paths, { servers: [{ url: `http://${host}/` }] })
    await expect(places('https://docs.test/', document)).rejects.toMatchObject({
      code: 'noServer',
      message: expect.stringContaining('your private network'),
    })
    expect(await namesOf(document)).toHaveLength(3)
  })

  it('fetches without credentials, within size and time limits', async () => {
    const calls: RequestInit[] = []
    const fetch = async (_: unknown, init?: RequestInit) => {
      calls.push(init ?? {})
      return new Response(json)
    }
    await fetchOpenApiTools('https://docs.test/', { fetch, bearer: 'sk-1234', headers: { 'x-a': 'sk-5678' } })
    expect(JSON.stringify(calls)).not.toContain('sk-')
    const url = 'https://docs.test/api?key=sk-1234'
    for (const [options, why] of [
      [{ fetch: servedFrom('no', 404) }, '404 Not Found'],
      [{ fetch: servedFrom(json), maxDocumentBytes: 10 }, 'larger than 10 bytes'],
      [{ fetch: () => new Promise<Response>(() => undefined), timeoutMs: 5 }, 'within 5 ms'],
    ] as const) {
      const error: unknown = await fetchOpenApiTools(url, options).catch((thrown) => thrown)
      expect(error).toMatchObject({ code: 'unavailable', message: expect.stringContaining(why) })
      expect(String(error)).not.toContain('sk-1234')
    }
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(fetchOpenApiTools(url, { fetch: servedFrom(json), signal })).rejects.toThrow('enough')
  })

  it('skips an operation without a usable server and keeps the others', async () => {
    const { heard, logger } = listening()
    const paths = { ...shop.paths, '/users': { ...(shop.paths as Record<string, object>)['/users'], servers: [{ url: '/v2' }] } }
    const tools = await openApiTools(documentOf(paths, { servers: [{ url: baseUrl }] }), { logger })
    expect(tools.map(({ name }) => name)).toEqual(['listPets', 'addPet'])
    expect(heard.at(-1)).toMatchObject(['openApiOperationWithoutServer', { operation: 'GET /users' }])
  })

  it('skips a broken operation and keeps the others', async () => {
    const { heard, logger } = listening()
    const broken = {
      '/bodies': { post: { operationId: 'a', requestBody: { $ref: 'b.yaml' } } },
      '/params': { get: { operationId: 'b', parameters: [null] } },
    }
    const tools = await openApiTools(documentOf({ ...broken, ...shop.paths }), { logger, baseUrl })
    expect(tools.map(({ name }) => name)).toEqual((await openApiTools(shop, { baseUrl })).map(({ name }) => name))
    const skipped = heard.filter(([event]) => event === 'openApiOperationSkipped')
    expect(skipped).toMatchObject([
      ['openApiOperationSkipped', { operation: 'POST /bodies', why: expect.stringContaining('b.yaml') }],
      ['openApiOperationSkipped', { operation: 'GET /params' }],
    ])
  })

  it('rejects YAML that would block the thread, unless allowed by maxYamlChars', async () => {
    const head = 'openapi: 3.1.0\npaths: { /a: { get: { operationId: a } } }\n'
    const long = head + '#'.repeat(1_048_577 - head.length)
    await expect(openApiTools(long, { baseUrl })).rejects.toMatchObject({
      name: 'OpenApiError',
      code: 'invalidDocument',
      message: expect.stringMatching(/1048577 characters of YAML.*convert it to JSON.*maxYamlChars/),
    })
    expect(await namesOf(long.slice(0, -1))).toEqual(['a'])
    expect(await namesOf(long, { maxYamlChars: long.length })).toEqual(['a'])
    await expect(openApiTools(head, { baseUrl, maxYamlChars: 10 })).rejects.toThrow('maxYamlChars')
    const fetch = async () => new Response(long)
    expect(await fetchOpenApiTools(`${baseUrl}/api.yaml`, { fetch, maxYamlChars: long.length })).toHaveLength(1)
    const workspace = memoryWorkspace({ 'api.yaml': long })
    expect(await readOpenApiTools('api.yaml', { workspace, baseUrl, maxYamlChars: long.length })).toHaveLength(1)
  })

  it('parses YAML flow syntax that begins with a brace', async () => {
    const paths = '{ /a: { get: { operationId: a } } }'
    const [tool] = await openApiTools(`{ openapi: 3.1.0, servers: [{ url: "${baseUrl}" }], paths: ${paths} }`)
    expect(tool?.name).toBe('a')
  })
})
