import { describe, expect, it } from 'vitest'
import { parrot } from '../../examples/recipes/models/own-provider.ts'
import { Agent } from '../../src/agent/agent.ts'
import { ProviderRegistry } from '../../src/providers/registry.ts'
import { defineTool } from '../../src/tools/define-tool.ts'
import { faultFetch, streamProviderSuite } from '../../testing/index.ts'

const sse = (...events: object[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
const contentType = 'text/event-stream'
const call = { id: 'c1', name: 'read', args: '{"path":"é"}' }
const calling = sse({ say: 'Ü' }, { say: '🌍' }, { call }, { end: { reason: 'done', tokensIn: 2, tokensOut: 1 } })

streamProviderSuite(
  { describe, expect, it },
  {
    name: 'the provider of the documentation keeps every promise',
    create: (fetch) => parrot('ara-2', { apiKey: 'parrot-key-0123456789', fetch }),
    fixtures: [
      {
        name: 'text and a call',
        body: calling,
        contentType,
        terminal: '"end"',
        expect: { text: 'Ü🌍', toolCalls: [{ id: 'c1', name: 'read', arguments: { path: 'é' } }], stopReason: 'toolUse' },
      },
      { name: 'an error', body: sse({ error: { code: 'overloaded', message: 'Squawk' } }), contentType, expect: { errorCode: 'api' } },
    ],
  },
)

describe('a custom provider', () => {
  it('runs an agent directly and through a provider registry', async () => {
    const response = sse({ say: 'Read.' }, { end: { reason: 'done', tokensIn: 3, tokensOut: 1 } })
    const headers = { 'content-type': contentType }
    const fetch = faultFetch({ body: calling, headers }, { body: response, headers })
    const model = parrot('ara-2', { apiKey: 'parrot-key-0123456789', fetch })
    const registry = new ProviderRegistry({ parrotTalk: () => model.provider })
    const parameters = { type: 'object', properties: { path: { type: 'string' } } }
    const read = defineTool({ name: 'read', description: 'Reads.', parameters, execute: () => 'Polly' })
    const agent = new Agent({ model: registry.createModel(model.config, { credentials: 'parrot-key-0123456789' }), tools: [read] })
    expect(await agent.prompt('Read it').text()).toBe('Read.')
    const { history } = JSON.parse(fetch.calls[1]?.body ?? '')
    expect(history).toEqual([
      { from: 'user', text: 'Read it' },
      { from: 'parrot', text: 'Ü🌍', calls: [{ id: 'c1', name: 'read', args: { path: 'é' } }] },
      { from: 'tool', call: 'c1', text: 'Polly', failed: false },
    ])
  })
})
