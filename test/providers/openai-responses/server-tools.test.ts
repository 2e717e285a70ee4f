import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/contract/json.ts'
import { azure } from '../../../src/providers/azure/index.ts'
import { openaiResponses, openaiTools, xaiTools } from '../../../src/providers/openai-responses/index.ts'
import { bodyFor, request } from './call.ts'

const search = openaiTools.webSearch({ allowedDomains: ['example.org'], contextSize: 'low', userLocation: { country: 'DE' } })
const tool = { name: 'find', description: 'Finds', parameters: { type: 'object' } }

describe('hosted tools of Responses', () => {
  it('sends hosted tools after client tools and requests their results', async () => {
    const serverTools = [search, openaiTools.fileSearch({ vectorStoreIds: ['vs_1'] }), openaiTools.codeInterpreter()]
    const body = await bodyFor(openaiResponses('gpt-6-sol', { serverTools }), { tools: [tool] })
    expect(body.tools).toEqual([
      expect.objectContaining({ type: 'function', name: 'find' }),
      {
        type: 'web_search',
        filters: { allowed_domains: ['example.org'] },
        search_context_size: 'low',
        user_location: { type: 'approximate', country: 'DE' },
      },
      { type: 'file_search', vector_store_ids: ['vs_1'] },
      { type: 'code_interpreter', container: { type: 'auto' } },
    ])
    expect(body.include).toEqual([
      'reasoning.encrypted_content',
      'web_search_call.action.sources',
      'file_search_call.results',
      'code_interpreter_call.outputs',
    ])
  })

  it('declares hosted tools of xAI in its format', async () => {
    const serverTools = [
      xaiTools.webSearch({ excludedDomains: ['a.example'] }),
      xaiTools.xSearch({ allowedHandles: ['xai'], fromDate: '2026-01-31' }),
    ]
    const grok = openaiResponses('grok-4.3', { provider: 'xai', baseUrl: 'https://api.x.ai/v1', serverTools })
    const body = await bodyFor(grok)
    expect(body.tools).toEqual([
      { type: 'web_search', excluded_domains: ['a.example'] },
      { type: 'x_search', allowed_x_handles: ['xai'], from_date: '2026-01-31' },
    ])
    expect(JSON.stringify(body.include ?? [])).not.toContain('web_search')
  })

  it('raises the effort "minimal" for a search', async () => {
    const model = openaiResponses('gpt-5', { serverTools: [search] })
    const asked = request(model, { thinking: 'minimal' })
    const { body, warnings } = await Promise.resolve(model.provider.encode(asked))
    expect(JSON.parse(body).reasoning).toMatchObject({ effort: 'low' })
    expect(warnings).toEqual([expect.stringContaining('"minimal"')])
    const plain = openaiResponses('gpt-5')
    const encoded = await Promise.resolve(plain.provider.encode(request(plain, { thinking: 'minimal' })))
    expect(JSON.parse(encoded.body).reasoning).toMatchObject({ effort: 'minimal' })
  })

  it('generates images with the configured Azure deployment', async () => {
    const model = azure('d', {
      resource: 'r',
      imageDeployment: 'painter',
      serverTools: [openaiTools.imageGeneration({ partialImages: 2 })],
    })
    const { headers, body } = await Promise.resolve(model.provider.encode(request(model)))
    expect(headers).toMatchObject({ 'x-ms-oai-image-generation-deployment': 'painter' })
    expect(JSON.parse(body).tools).toEqual([{ type: 'image_generation', partial_images: 2 }])
  })

  it.each<[string, JsonObject]>([
    ['no type', {}],
    ['computer', { type: 'computer' }],
    ['custom', { type: 'custom', name: 'x' }],
    ['shell', { type: 'shell', environment: { type: 'local' } }],
    ['tool_search', { type: 'tool_search', execution: 'client' }],
    ['allowed and excluded', { type: 'web_search', allowed_domains: ['a'], excluded_domains: ['b'] }],
    ['server_label', { type: 'mcp', server_url: 'https://a.example' }],
    ['connector_id', { type: 'mcp', server_label: 'shop' }],
  ])('rejects unsupported hosted tools and names them: %s', (words, declared) => {
    expect(() => openaiResponses('gpt-6-sol', { serverTools: [declared] })).toThrow(words)
    expect(() => azure('d', { resource: 'r', serverTools: [declared] })).toThrow(words)
  })

  it('keeps the key of an MCP server out of the configuration', async () => {
    const serverTools = [openaiTools.mcp({ label: 'shop', url: 'https://mcp.example/', authorization: 'secret-mcp-key' })]
    const model = openaiResponses('gpt-6-sol', { serverTools })
    expect(JSON.stringify(model.config)).not.toContain('secret-mcp-key')
    expect((await bodyFor(model)).tools).toMatchObject([{ type: 'mcp', authorization: 'secret-mcp-key', require_approval: 'always' }])
  })
})
