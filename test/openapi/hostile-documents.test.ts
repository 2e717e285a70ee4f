import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/index.ts'
import { type OpenApiToolsOptions, openApiTools } from '../../src/openapi.ts'
import { play } from '../support/play.ts'

/** What came of one call of `x` by a model: what was sent, what the model was told, and what the log says. */
async function called(path: string, operation: object, args: JsonObject, more: object = {}, options: OpenApiToolsOptions = {}) {
  const sent: string[] = []
  const lines: string[] = []
  const method = 'requestBody' in operation && !('isGet' in operation) ? 'post' : 'get'
  const document = {
    openapi: '3.0.3',
    servers: [{ url: 'https://a.test/v1' }],
    paths: { [path]: { [method]: { operationId: 'x', ...operation } } },
    ...more,
  }
  const tools = await openApiTools(document, {
    fetch: async (url) => {
      sent.push(String(url))
      return new Response('ok')
    },
    logger: { warn: (event) => lines.push(event) },
    ...options,
  })
  const { result, events } = await play([{ toolCalls: [{ name: 'x', arguments: args }] }, { text: 'done' }], { tools })
  const told = events.flatMap((event) => (event.type === 'toolExecutionEnd' ? [JSON.stringify(event.result.content)] : []))
  expect(result.status).toBe('completed')
  return { sent, lines, told: told.join(), tools }
}

const query = (name: string, schema: object, more = {}) => ({ parameters: [{ name, in: 'query', schema, ...more }] })

describe('hostile and odd OpenAPI documents', () => {
  it.each(['/.\t./admin', '/.\n./admin', '/%2\te%2e/admin'])('skips a path that escapes the server path: %j', async (path) => {
    const { tools } = await called(path, {}, {}).catch(() => ({ tools: [] }))
    expect(tools).toEqual([])
  })

  it('rejects arguments that form a dot segment, even around a tab', async () => {
    const { sent, told } = await called('/{a}\t{b}', {}, { a: '.', b: '.' })
    expect(sent).toEqual([])
    expect(told).toContain('must not make a segment')
  })

  it('matches an expensive pattern in bounded time', async () => {
    const { sent, lines } = await called('/q', query('s', { type: 'string', pattern: '^(a+)+$' }), { s: `${'a'.repeat(5000)}!` })
    expect(sent).toHaveLength(0)
    expect(lines).not.toContain('openApiSchemaNotEnforced')
  })

  it('leaves a lookahead pattern to the server', async () => {
    const { sent, lines } = await called('/q', query('s', { type: 'string', pattern: '^(?!b)a+$' }), { s: 'b' })
    expect(sent).toHaveLength(1)
    expect(lines).toContain('openApiSchemaNotEnforced')
  })

  it('leaves exponentially growing references to the server', async () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [
        `s${at}`,
        at === 39
          ? { type: 'object' }
          : { allOf: [{ $ref: `#/components/schemas/s${at + 1}` }, { $ref: `#/components/schemas/s${at + 1}` }] },
      ]),
    )
    const requestBody = { content: { 'application/json': { schema: { $ref: '#/components/schemas/s0' } } } }
    const { sent, lines } = await called('/q', { requestBody }, { body: {} }, { components: { schemas } })
    expect(sent).toHaveLength(1)
    expect(lines).toContain('openApiSchemaNotEnforced')
  })

  it('leaves doubly recursive alternatives to the server', async () => {
    const node = { $ref: '#/components/schemas/Node' }
    const schemas = { Node: { anyOf: [1, 2].map((at) => ({ type: 'object', properties: { c: node }, required: ['c', `no${at}`] })) } }
    const deep = (left: number): JsonObject => (left === 0 ? {} : { c: deep(left - 1) })
    const requestBody = { content: { 'application/json': { schema: node } } }
    const { sent } = await called('/q', { requestBody }, { body: deep(40) }, { components: { schemas } })
    expect(sent).toHaveLength(1)
  })

  it("rejects object fields that override the caller's API key", async () => {
    const components = { securitySchemes: { k: { type: 'apiKey', in: 'query', name: 'api_key' } } }
    const operation = { security: [{ k: [] }], ...query('o', { type: 'object' }) }
    const options = { credentials: { k: 'the-real-key' } }
    const refused = await called('/q', operation, { o: { api_key: 'mine' } }, { components }, options)
    expect(refused.sent).toEqual([])
    expect(refused.told).toContain("must not set 'api_key'")
    expect((await called('/q', operation, { o: { a: 1 } }, { components }, options)).sent).toEqual([
      'https://a.test/v1/q?a=1&api_key=the-real-key',
    ])
  })

  it('serializes a parameter by its content type, text or JSON', async () => {
    const content = (type: string) => ({ schema: undefined, content: { [type]: { schema: {} } } })
    expect((await called('/q', query('f', {}, content('text/plain')), { f: 'abc' })).sent).toEqual(['https://a.test/v1/q?f=abc'])
    expect((await called('/q', query('f', {}, content('application/json')), { f: 'abc' })).sent).toEqual([
      'https://a.test/v1/q?f=%22abc%22',
    ])
  })

  it('warns about unsent cookies and GET bodies', async () => {
    const cookie = { parameters: [{ name: 'sid', in: 'cookie', schema: { type: 'string' } }] }
    expect((await called('/q', cookie, {})).lines).toEqual(['openApiCookiesNotSent'])
    const requestBody = { content: { 'application/json': { schema: { type: 'object' } } } }
    expect((await called('/q', { requestBody, isGet: true }, {})).lines).toEqual(['openApiBodyNotSent'])
  })

  it.each(['default', 'const', 'enum', 'examples', 'example'])('leaves an endlessly nested %s to the server', async (keyword) => {
    let deep: unknown[] = []
    for (let at = 0; at < 9000; at += 1) deep = [deep]
    const { sent, tools, lines } = await called('/q', query('s', { [keyword]: deep }), { s: 'x' })
    expect(sent).toHaveLength(1)
    expect(JSON.stringify(tools[0]?.parameters)).toContain('"s"')
    if (keyword !== 'example') expect(lines).toContain('openApiSchemaNotEnforced')
  })

  it('leaves a very long reference chain to the server', async () => {
    const ref = (at: number) => ({ $ref: `#/components/schemas/s${at}` })
    const schemas = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, at) => [`s${at}`, { properties: { a: ref(at + 1), b: ref(at + 2) } }]),
    )
    const requestBody = { content: { 'application/json': { schema: ref(0) } } }
    const { sent, lines } = await called('/q', { requestBody }, { body: {} }, { components: { schemas } })
    expect(sent).toHaveLength(1)
    expect(lines).toContain('openApiSchemaNotEnforced')
  })
})
