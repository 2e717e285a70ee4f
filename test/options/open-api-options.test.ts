import { describe, expect, it } from 'vitest'
import type { OpenApiToolsOptions } from '../../src/openapi/options.ts'
import { fetchOpenApiTools, openApiTools, readOpenApiTools } from '../../src/openapi.ts'
import { memoryWorkspace } from '../../src/tools.ts'
import { checkedOptions } from './surface.ts'

const paths = { '/a': { get: { operationId: 'a' } } }
const document = { openapi: '3.1.0', info: {}, paths, servers: [{ url: 'https://{host}.test', variables: { host: { default: 'a' } } }] }
const fetch = async () => Response.json(document)

const sample: { [Name in keyof Required<OpenApiToolsOptions>]: Required<OpenApiToolsOptions>[Name] } = {
  filter: { operationIds: ['a'], tags: ['b'], pathPrefix: '/' },
  baseUrl: 'https://b.test',
  serverVariables: { host: 'b' },
  bearer: 'sk-1234',
  apiKey: { header: 'X-Key', value: 'sk-1234' },
  credentials: { key: 'sk-1234', basic: { username: 'ann', password: 'pw' } },
  headers: { 'X-A': 'b' },
  timeoutMs: 5,
  maxResponseBytes: 5,
  maxYamlChars: 5,
  resolve: async () => ({}),
  namePrefix: 'p',
  nameUnnamed: true,
  needsApproval: 'unsafe',
  fetch,
  logger: { warn: () => undefined },
}

checkedOptions('openApiTools', sample, (options) => openApiTools(document, options))
const workspace = memoryWorkspace({ 'a.json': JSON.stringify(document) })
checkedOptions('readOpenApiTools', { ...sample, workspace }, (options) => readOpenApiTools('a.json', options), ['workspace'])

describe('options of OpenAPI tools', () => {
  it.each([
    [{ maxDocumentBytes: 0 }, 'maxDocumentBytes is 0'],
    [{ signal: new AbortController() }, 'signal is '],
    [{ timeoutMs: '5' }, 'timeoutMs is "5"'],
    [{ maxDocumentByte: 5 }, 'Did you mean maxDocumentBytes?'],
    [null, 'options is null'],
  ])('validates fetch options: %j', async (options, message) => {
    const given = options === null ? null : { fetch, ...options }
    const error: unknown = await fetchOpenApiTools('https://docs.test/', given as never).catch((thrown) => thrown)
    expect(error).toMatchObject({ code: 'invalidOption', message: expect.stringContaining(message) })
  })

  it.each<[OpenApiToolsOptions, RegExp]>([
    [{ baseUrl: '/api' }, /baseUrl is "\/api"; it must be an absolute http or https URL/],
    [{ baseUrl: 'https://ann:pw@x.test' }, /^baseUrl contains credentials/],
    [{ baseUrl: 'file:///x' }, /baseUrl uses file:/],
    [{ baseUrl: 'https://x.test?key=sk-1234' }, /^baseUrl has a query/],
    [{ headers: { 'X-A': 'a\r\nb' } }, /headers\."X-A" cannot be sent/],
    [{ apiKey: { header: 'a b', value: 'sk-1234' } }, /apiKey\.header is a text; it must be the name of a header/],
    [{ filter: { tag: ['a'] } as never }, /tag .*Did you mean tags\?/],
    [{ serverVariables: { host: 7 as never } }, /serverVariables\.host is 7/],
  ])('validates tool options: %j', async (options, message) => {
    const error: unknown = await openApiTools(document, options).catch((thrown) => thrown)
    expect(error).toMatchObject({ code: 'invalidOption', message: expect.stringMatching(message) })
    expect(String(error)).not.toMatch(/sk-1234|ann:pw/)
  })
})
