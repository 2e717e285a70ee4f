import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { Agent, defineTool } from '../../../src/index.ts'
import { openaiResponses, openaiTools } from '../../../src/providers/openai-responses/index.ts'
import type { InputItem } from './grammar.ts'

type Item = Record<string, unknown>

const list = { id: 'mcpl_1', type: 'mcp_list_tools', server_label: 'shop', tools: [], error: null }
const thought = (id: string): Item => ({ id, type: 'reasoning', summary: [], encrypted_content: 'ZW5j' })
const search = { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'tea', sources: [] } }
const request = (id: string): Item => ({
  id,
  type: 'mcp_approval_request',
  server_label: 'shop',
  name: 'buy',
  arguments: `{"sku":"${id}"}`,
})
const call = (id: string): Item => ({ id, type: 'function_call', call_id: `c_${id}`, name: 'stock', arguments: '{}', status: 'completed' })
const bought = {
  ...request('mcpr_1'),
  id: 'mcp_1',
  type: 'mcp_call',
  approval_request_id: 'mcpr_1',
  output: 'ok',
  error: null,
  status: 'completed',
}
const said = (text: string): Item => ({
  id: `msg_${text.length}`,
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
})

function streamOf(items: readonly Item[]): string {
  const events = items.flatMap((item, output_index) => [
    { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress' } },
    { type: 'response.output_item.done', output_index, item },
  ])
  const completed = { type: 'response.completed', response: { status: 'completed', usage: { input_tokens: 1, output_tokens: 1 } } }
  return [...events, completed].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

let server: Server | undefined
afterEach(() => server?.close())

/** A service that gives these answers one after the other, and the inputs it was sent. */
async function serving(answers: readonly (readonly Item[])[]): Promise<{ baseUrl: string; inputs: InputItem[][] }> {
  const inputs: InputItem[][] = []
  server = createServer(async (asked, response) => {
    let body = ''
    for await (const chunk of asked) body += chunk
    inputs.push(JSON.parse(body).input)
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(streamOf(answers[inputs.length - 1] ?? []))
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, inputs }
}

const stock = defineTool({ name: 'stock', description: 'Counts', parameters: { type: 'object', properties: {} }, execute: () => '7' })

/** What was sent of the items, without what says nothing. */
const sent = (items: readonly Item[] | undefined) =>
  items?.map(({ status, ...item }) => (item.type === 'function_call' ? item : { ...item, ...(status !== undefined && { status }) }))

describe('turns that mix hosted tools and client tools', () => {
  it('sends all items back in order over three requests', async () => {
    const one = [list, thought('rs_1'), search, thought('rs_2'), call('fc_1')]
    const two = [thought('rs_3'), request('mcpr_1'), request('mcpr_2')]
    const three = [bought, said('Bought one.')]
    const { baseUrl, inputs } = await serving([one, two, three])
    const serverTools = [openaiTools.webSearch(), openaiTools.mcp({ label: 'shop', url: 'https://mcp.example/' })]
    const agent = new Agent({ model: openaiResponses('gpt-test', { baseUrl, apiKey: 'k', serverTools }), tools: [stock] })
    const run = agent.prompt('Buy tea.')
    const asked: string[] = []
    for await (const event of run) {
      if (event.type !== 'approvalRequested') continue
      asked.push(event.toolName)
      if (event.toolCallId === 'mcpr_1') run.approve(event)
      else run.deny(event.toolCallId, 'one is enough')
    }
    const result = await run.result
    expect(result).toMatchObject({ status: 'completed', text: 'Bought one.' })
    expect(asked).toEqual(['mcp.shop.buy', 'mcp.shop.buy'])
    expect(sent(inputs[1]?.slice(1))).toEqual([...(sent(one) ?? []), { type: 'function_call_output', call_id: 'c_fc_1', output: '7' }])
    expect(inputs[2]?.slice(1 + one.length + 1)).toEqual([
      ...two,
      { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true },
      expect.objectContaining({
        type: 'mcp_approval_response',
        approval_request_id: 'mcpr_2',
        approve: false,
        reason: expect.stringContaining('one is enough'),
      }),
    ])
    expect(inputs).toHaveLength(3)
    const tools = result.messages
      .flatMap((message) => (message.role === 'assistant' ? message.content : []))
      .filter(({ type }) => type === 'serviceTool')
    expect(tools).toMatchObject([
      { id: 'ws_1', status: 'done' },
      { id: 'mcpr_1', needsApproval: true },
      { id: 'mcpr_2', needsApproval: true },
      { id: 'mcpr_1', status: 'done', output: 'ok' },
    ])
  })
})
