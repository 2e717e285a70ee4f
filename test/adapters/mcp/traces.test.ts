import { describe, expect, it, onTestFinished } from 'vitest'
import { connectMcp, mcpTools } from '../../../adapters/mcp/index.ts'
import { traceAgent } from '../../../adapters/otel/index.ts'
import { Agent } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { memoryTracer } from '../otel/spans.ts'
import { json, mcpAnswer, webServer } from './http-server.ts'

async function agentAt(url: string): Promise<Agent> {
  const tools = await mcpTools(await connectMcp({ url }))
  onTestFinished(() => tools.close())
  return new Agent({ model: scripted([{ toolCalls: [{ name: 'act', arguments: {} }] }, { text: 'done' }]), tools })
}

const server = () =>
  webServer((heard, response) => {
    const answer = mcpAnswer(heard)
    if (heard.method === 'GET') response.writeHead(405).end()
    else if (answer === undefined) response.writeHead(202).end()
    else json(response, answer)
  })

describe('MCP calls of a traced run', () => {
  it('sends the span in _meta and the header and records the tool kind', async () => {
    const { url, heard } = await server()
    const agent = await agentAt(url)
    const { tracer, spans } = memoryTracer()
    traceAgent(agent, { tracer })
    await agent.prompt('go').text()
    const span = spans().find(({ name }) => name === 'execute_tool act')
    const { traceId, spanId } = span?.spanContext() ?? {}
    const traceparent = `00-${traceId}-${spanId}-01`
    expect(span?.attributes['gen_ai.tool.description']).toBe('MCP tool (no description)')
    const call = heard.find(({ body }) => body.method === 'tools/call')
    expect(call).toMatchObject({ headers: { traceparent }, body: { params: { _meta: { traceparent } } } })
    expect(heard.filter(({ headers }) => headers.traceparent !== undefined)).toEqual([call])
  })

  it('sends no trace context outside a traced run', async () => {
    const { url, heard } = await server()
    await (await agentAt(url)).prompt('go').text()
    expect(JSON.stringify(heard)).not.toContain('traceparent')
  })
})
