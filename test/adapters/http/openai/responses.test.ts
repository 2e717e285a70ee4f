import type { ResponseCreateParamsNonStreaming } from 'openai/resources/responses/responses'
import { describe, expect, it } from 'vitest'
import { deployTool, served } from './served.ts'

describe('responses', () => {
  it('go on from the response before, from an earlier one, and in a conversation', async () => {
    const { client } = served(({ messages }) => ({ text: `${messages.filter(({ role }) => role === 'user').length}` }))
    const model = 'helper'
    const first = await client.responses.create({ model, input: 'one' })
    const second = await client.responses.create({ model, input: 'two', previous_response_id: first.id })
    const other = await client.responses.create({ model, input: 'two again', previous_response_id: first.id })
    const third = await client.responses.create({ model, input: 'three', previous_response_id: second.id })
    expect([first, second, other, third].map(({ output_text, status }) => [output_text, status])).toEqual([
      ['1', 'completed'],
      ['2', 'completed'],
      ['2', 'completed'],
      ['3', 'completed'],
    ])
    const fourth = await client.responses.create({ model, input: 'more', conversation: third.conversation?.id ?? '' })
    expect(fourth.output_text).toBe('4')
  })

  it('stream the events that the official client knows', async () => {
    const { client } = served([{ thinking: 'Hm.', text: ['It is ', 'noon.'] }])
    const stream = client.responses.stream({ model: 'helper', input: 'What time is it?' })
    const types: string[] = []
    for await (const event of stream) if (types.at(-1) !== event.type) types.push(event.type)
    expect(types).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    const { output_text: text, output } = await stream.finalResponse()
    expect([text, output.map(({ type }) => type)]).toEqual(['It is noon.', ['reasoning', 'message']])
  })

  it.each([false, true])('ask about a call of the agent, which runs once the caller says yes (stream: %s)', async (isStreamed) => {
    const { deploy, done } = deployTool()
    const script = [{ toolCalls: [{ name: 'deploy', arguments: { version: '2' } }] }, { text: 'Done.' }]
    const { client } = served(script, { tools: [deploy] })
    const ask = async (body: Pick<ResponseCreateParamsNonStreaming, 'model' | 'input' | 'previous_response_id'>) =>
      isStreamed ? client.responses.stream({ ...body }).finalResponse() : client.responses.create(body)
    const first = await ask({ model: 'helper', input: 'Deploy 2.' })
    const [request] = first.output
    expect(request).toMatchObject({ type: 'mcp_approval_request', name: 'deploy', arguments: '{"version":"2"}', server_label: 'helper' })
    expect(done).toEqual([])
    const second = await ask({
      model: 'helper',
      previous_response_id: first.id,
      input: [{ type: 'mcp_approval_response', approval_request_id: request?.id ?? '', approve: true }],
    })
    expect([second.output.map(({ type }) => type), done]).toEqual([['message'], ['2']])
  })
})
