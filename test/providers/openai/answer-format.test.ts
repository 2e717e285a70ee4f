import { describe, expect, it } from 'vitest'
import { Agent } from '../../../src/agent/agent.ts'
import type { ResponseFormat } from '../../../src/contract/model/request-settings.ts'
import { type BackendName, openai, openaiCompatible } from '../../../src/providers/openai.ts'
import type { Model } from '../../../src/types/model/model.ts'
import type { StreamRequest } from '../../../src/types/model/provider.ts'
import { answering, sse } from '../bytes.ts'
import { chunk, requestFor } from './call.ts'

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const format: ResponseFormat = { type: 'jsonSchema', name: 'place', schema }
const look = { name: 'look', description: 'Looks.', parameters: { type: 'object' } }

async function encoded(model: Model, more: Partial<StreamRequest>) {
  const { body, warnings } = await model.provider.encode(requestFor(model, more))
  return { body: JSON.parse(body), warnings }
}

describe('structured output', () => {
  it('sends a schema with its name', async () => {
    const { body } = await encoded(openai('gpt-6-sol'), { responseFormat: format })
    expect(body.response_format).toEqual({ type: 'json_schema', json_schema: { name: 'place', schema } })
    expect(body).not.toHaveProperty('tools')
  })

  it('closes every object if strict', async () => {
    const { body } = await encoded(openai('gpt-6-sol'), { responseFormat: { ...format, strict: true } })
    const strict = { name: 'place', strict: true, schema: { ...schema, additionalProperties: false } }
    expect(body.response_format).toEqual({ type: 'json_schema', json_schema: strict })
    const loose = await encoded(openai('gpt-6-sol'), { responseFormat: { ...format, strict: false } })
    expect(loose.body.response_format.json_schema).toEqual({ name: 'place', strict: false, schema })
  })

  it('sends JSON mode and mentions JSON in the conversation', async () => {
    const model = openai('gpt-4o')
    const { body } = await encoded(model, { responseFormat: { type: 'jsonObject' }, systemPrompt: 'Be brief.' })
    expect(body.response_format).toEqual({ type: 'json_object' })
    expect(body.messages[0]).toMatchObject({ content: 'Be brief.\n\nRespond with a JSON object.' })
    const alone = await encoded(model, { responseFormat: { type: 'jsonObject' } })
    expect(alone.body.messages[0].content).toBe('Respond with a JSON object.')
    const said = await encoded(model, { responseFormat: { type: 'jsonObject' }, systemPrompt: 'Use json.' })
    expect(said.body.messages[0].content).toBe('Use json.')
  })

  it('sends no response format for text', async () => {
    const model = openai('gpt-4o')
    expect((await encoded(model, { responseFormat: { type: 'text' } })).body).toEqual((await encoded(model, {})).body)
  })

  it('sends a schema to LM Studio, which has no JSON mode', async () => {
    const { body } = await encoded(openaiCompatible('m', { backend: 'lmstudio' }), { responseFormat: { type: 'jsonObject' } })
    expect(body.response_format).toMatchObject({ type: 'json_schema', json_schema: { schema: { type: 'object' } } })
  })

  it.each<BackendName>(['deepseek', 'zai'])('forces an answer tool on %s, which supports no schemas', async (backend) => {
    const model = openaiCompatible('m', { backend })
    const { body, warnings } = await encoded(model, { responseFormat: format, thinking: 'high' })
    expect(body).toMatchObject({
      tools: [{ function: { name: 'respond_json', parameters: schema } }],
      tool_choice: { type: 'function', function: { name: 'respond_json' } },
      thinking: { type: 'disabled' },
    })
    expect(body).not.toHaveProperty('response_format')
    expect(warnings.join()).toMatch(/thinking switched off/)
    const beside = await encoded(model, { responseFormat: format, tools: [look] })
    expect(beside.body.tool_choice).toBe('required')
  })

  it("uses the model's capabilities", async () => {
    const model = openaiCompatible('m', { baseUrl: 'http://127.0.0.1:9', capabilities: { jsonSchema: false, forcedToolChoice: false } })
    const { body, warnings } = await encoded(model, { responseFormat: format })
    expect(body.tools).toHaveLength(1)
    expect(body).not.toHaveProperty('tool_choice')
    expect(warnings.join()).toMatch(/cannot enforce/)
  })
})

it('ends an agent run with an answer tool after one call', async () => {
  const call = (args: string, more = {}) => chunk({ tool_calls: [{ index: 0, function: { arguments: args }, ...more }] })
  const start = chunk({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'respond_json', arguments: '' } }] })
  const bytes = sse(start, call('{"city":'), call('"Oslo"}'), chunk({}, 'tool_calls'), '[DONE]')
  const model = openaiCompatible('m', { backend: 'deepseek', fetch: answering([bytes]) })
  const result = await new Agent({ model, responseFormat: format }).prompt('Where?').result
  expect(result).toMatchObject({ status: 'completed', text: '{"city":"Oslo"}' })
  expect(result.messages.at(-1)).toMatchObject({ stopReason: 'stop' })
})
