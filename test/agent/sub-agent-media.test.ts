import { describe, expect, it } from 'vitest'
import { type SubAgentOptions, SubAgentTool } from '../../src/agents.ts'
import { Agent, type AgentOptions, textOf } from '../../src/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { tool } from '../support/play.ts'

const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3])
const inline = btoa(String.fromCharCode(...png))
const picture = { type: 'image' as const, mimeType: 'image/png', url: 'https://a.example/a.png' }

const sse = (part: object) =>
  new Response(`data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP' }] })}\n\n`, {
    headers: { 'content-type': 'text/event-stream' },
  })

/** A sub-agent on Gemini, which fetches nothing itself, with a tool that shows a picture by its address. */
async function look(options: Partial<AgentOptions>, own: Partial<SubAgentOptions> = {}) {
  const bodies: string[] = []
  const answers = [{ functionCall: { name: 'show', args: {} } }, { text: 'A bee.' }]
  const send: typeof fetch = async (_url, init) => sse(answers[bodies.push(String(init?.body)) - 1] ?? { text: '' })
  const show = tool('show', () => ({ content: [picture] }))
  const model = google('gemini-2.0-flash', { apiKey: 'k', fetch: send })
  const viewer = new SubAgentTool({ name: 'viewer', description: 'Looks.', model, tools: [show], logger: false, ...own })
  const script = [{ toolCalls: [{ name: 'viewer', arguments: { task: 'Look.' } }] }, { text: 'done' }]
  const { messages } = await new Agent({ model: scripted(script), tools: [viewer], ...options }).prompt('go').result
  const told = messages.flatMap((message) => (message.role === 'toolResult' ? [textOf(message.content)] : []))
  return { bodies, told: told.join('\n') }
}

describe('media of a sub-agent', () => {
  it("uses the parent run's resolveMedia unless it has its own", async () => {
    const { bodies, told } = await look({ resolveMedia: () => png })
    expect(bodies[1]).toContain(inline)
    expect(told).toBe('A bee.')
    const own = await look({ resolveMedia: () => png }, { resolveMedia: () => new Uint8Array([...png, 9]) })
    expect(own.bodies[1]).not.toContain(`"${inline}"`)
    expect(own.told).toBe('A bee.')
  })

  it('inherits requireMedia from the parent run unless it sets its own', async () => {
    const { bodies, told } = await look({ requireMedia: true })
    expect(bodies).toHaveLength(1)
    expect(told).toContain('does not fetch')
    expect((await look({ requireMedia: true }, { requireMedia: false })).told).toBe('A bee.')
  })
})
