import type { ResponseCreateParamsNonStreaming } from 'openai/resources/responses/responses'
import { describe, expect, it } from 'vitest'
import { textOf } from '../../../../src/index.ts'
import { clientTool } from '../../../../src/tools.ts'
import { deployTool, served } from './served.ts'

describe('OpenAI responses', () => {
  it('continues from the previous response, an earlier one or a conversation', async () => {
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

  it('streams the events that the official client expects', async () => {
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

  it.each([false, true])('requests approval of an agent call and runs it once approved (stream: %s)', async (isStreamed) => {
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

  it.each([false, true])('waits for the results of declared client tools (stream: %s)', async (isStreamed) => {
    const setTheme = clientTool({
      name: 'set_theme',
      description: 'Sets it.',
      parameters: { type: 'object', properties: { theme: { type: 'string' } } },
    })
    const heard: unknown[] = []
    const { client } = served(
      ({ messages }) => {
        const results = messages.flatMap((message) => (message.role === 'toolResult' ? [textOf(message.content)] : []))
        heard.push(results.length)
        if (results.length === 2) return { text: results.join(', ') }
        return {
          toolCalls: [
            { id: 'a', name: 'set_theme', arguments: { theme: 'dark' } },
            { id: 'b', name: 'locate', arguments: {} },
          ],
        }
      },
      { tools: [setTheme], choices: { clientTools: ['locate'] } },
    )
    const locate = {
      type: 'function' as const,
      name: 'locate',
      description: 'Says where.',
      parameters: { type: 'object' },
      strict: false,
    }
    const ask = async (body: Pick<ResponseCreateParamsNonStreaming, 'input' | 'previous_response_id'>) => {
      const whole = { model: 'helper', conversation: body.previous_response_id === undefined ? 'page' : null, tools: [locate], ...body }
      return isStreamed ? client.responses.stream({ ...whole }).finalResponse() : client.responses.create(whole)
    }
    const first = await ask({ input: 'Make it dark here.' })
    const calls = first.output.map((item) => (item.type === 'function_call' ? [item.call_id, item.name, item.arguments] : item.type))
    expect(calls).toEqual([
      ['a', 'set_theme', '{"theme":"dark"}'],
      ['b', 'locate', '{}'],
    ])
    const output = (call_id: string, said: string) => ({ type: 'function_call_output' as const, call_id, output: said })
    const second = await ask({ previous_response_id: first.id, input: [output('a', 'it is dark'), output('b', 'Oslo')] })
    expect([second.output_text, heard]).toEqual(['it is dark, Oslo', [0, 2]])
  })

  it('rejects a result without a pending call and an undeclared tool', async () => {
    const setTheme = clientTool({ name: 'set_theme', description: 'Sets it.', parameters: { type: 'object', properties: {} } })
    const { client } = served(() => ({ toolCalls: [{ id: 'a', name: 'set_theme', arguments: {} }] }), { tools: [setTheme] })
    const first = await client.responses.create({ model: 'helper', input: 'Go.' })
    const other = { type: 'function_call_output' as const, call_id: 'other', output: 'x' }
    const model = 'helper'
    await expect(client.responses.create({ model, previous_response_id: first.id, input: [other] })).rejects.toMatchObject({ status: 404 })
    const evil = { type: 'function' as const, name: 'evil', parameters: {}, strict: false }
    await expect(client.responses.create({ model, conversation: 'new', input: 'Go.', tools: [evil] })).rejects.toMatchObject({
      status: 403,
    })
  })
})
