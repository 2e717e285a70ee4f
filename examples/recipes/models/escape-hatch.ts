import { Agent } from 'phi-core'
import { openrouter } from 'phi-core/providers/openai'

export async function ownFields(write: (line: string) => void): Promise<void> {
  // Replaces the provider: prints the request, and responds.
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    const { transforms, provider } = JSON.parse(String(init?.body))
    write(JSON.stringify({ transforms, provider, title: new Headers(init?.headers).get('x-title') }))
    const chunk = { choices: [{ index: 0, delta: { content: 'Hello.' }, finish_reason: 'stop' }] }
    return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } })
  }
  // Fields without a phi-core option: for every request, and for one.
  const body = { transforms: ['middle-out'], provider: { sort: 'price' } }
  const agent = new Agent({ model: openrouter('openai/gpt-5.4', { apiKey: 'test-key', fetch, body }) })
  await agent.prompt('Hi.').result
  const once = { body: { provider: { only: ['azure'] } }, headers: { 'x-title': 'Once' } }
  write(await agent.prompt('Hi again.', once).text())
  try {
    agent.prompt('And?', { body: { model: 'another' } })
  } catch (error) {
    write(String(error))
  }
}
