import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/contract/json.ts'
import { openAiProvider } from '../../../src/providers/openai/provider.ts'
import { chatTools, openai, openaiCompatible, openrouter, openrouterTools } from '../../../src/providers/openai.ts'
import type { Model } from '../../../src/types/model/model.ts'
import { plainRequest, sentBody } from '../model-call.ts'

const read = { name: 'read', description: 'Reads.', parameters: { type: 'object' } }
const bodyOf = ({ provider, config }: Model, changes = {}) => sentBody(provider, plainRequest(config, changes))

describe('hosted tools of Chat Completions', () => {
  it('lists hosted tools before client tools', async () => {
    const { tools } = await bodyOf(openrouter('m', { serverTools: [openrouterTools.webSearch({ maxResults: 3 })] }), { tools: [read] })
    expect(tools).toMatchObject([
      { type: 'openrouter:web_search', parameters: { max_results: 3 } },
      { type: 'function', function: { name: 'read' } },
    ])
  })

  it('sends hosted tools in raw form', async () => {
    const serverTools = [chatTools.groqBrowserSearch(), { type: 'new_tool', beam: 1 }]
    const body = await bodyOf(openaiCompatible('openai/gpt-oss-120b', { backend: 'groq', serverTools }))
    expect(body.tools).toEqual([{ type: 'browser_search' }, { type: 'new_tool', beam: 1 }])
  })

  it('sends hosted tools in separate fields if required, with plugins in one list', async () => {
    const plugins = [openrouterTools.plugin('web'), openrouterTools.plugin('file-parser', { pdf: { engine: 'native' } })]
    expect((await bodyOf(openrouter('m', { serverTools: plugins }))).plugins).toEqual([
      { id: 'web' },
      { id: 'file-parser', pdf: { engine: 'native' } },
    ])
    const serverTools = [chatTools.webSearch({ contextSize: 'low', userLocation: { country: 'DE' } })]
    const model = openai('gpt-5-search-api', { serverTools, reasoning: false, capabilities: { sampling: true } })
    const body = await bodyOf(model, { temperature: 1 })
    expect(body.web_search_options).toEqual({
      search_context_size: 'low',
      user_location: { type: 'approximate', approximate: { country: 'DE' } },
    })
    expect(body).not.toHaveProperty('temperature')
    expect(body).not.toHaveProperty('tools')
  })

  it.each<[string, JsonObject, RegExp]>([
    ['the search that xAI removed', { search_parameters: { mode: 'on' } }, /xaiTools/],
    ['a function', { type: 'function', function: { name: 'f' } }, /tool of the agent/],
    ['an unknown field', { hologram: {} }, /"hologram"/],
    ['an empty entry', {}, /empty/],
    ['allowed and excluded domains together', openrouterTools.webSearch({ allowedDomains: ['a'], excludedDomains: ['b'] }), /set only one/],
    ['a deferred hosted tool', { type: 'openrouter:tool_search', defer_loading: true }, /defer_loading/],
  ])('rejects invalid hosted tools and names them: %s', (_name, tool, words) => {
    expect(() => openrouter('m', { serverTools: [tool] })).toThrow(words)
    expect(() => openAiProvider({ serverTools: [tool] })).toThrow(words)
  })

  it('rejects every hosted tool except search on OpenAI', () => {
    expect(() => openai('m', { serverTools: [chatTools.groqBrowserSearch()] })).toThrow(/openaiResponses/)
  })

  it('keeps hosted tool keys out of errors', async () => {
    const secret = 'mcp-canary-0123456789'
    const fetch: typeof globalThis.fetch = async () =>
      new Response(JSON.stringify({ error: { message: `bad ${secret}` } }), { status: 400 })
    const { provider, config } = openrouter('m', { fetch, serverTools: [{ type: 'mcp', headers: { key: secret } }] })
    const failed = provider.stream(plainRequest(config), () => undefined, new AbortController().signal)
    await expect(failed).rejects.toSatisfy((error) => error instanceof Error && !JSON.stringify([error.message, error]).includes(secret))
  })
})
