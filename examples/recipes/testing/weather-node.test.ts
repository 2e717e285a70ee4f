import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Agent, defineTool, textOf } from 'phi-core'
import { scripted } from 'phi-core/testing'

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const weather = defineTool({ name: 'weather', description: 'Current weather.', parameters, execute: ({ city }) => `${city}: 4 °C, rain` })

test('calls the tool and sends its result to the model', async () => {
  const model = scripted([{ toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' } }] }, { text: 'Yes, take a coat.' }])
  const agent = new Agent({ model, tools: [weather] })

  const { status, text } = await agent.prompt('Do I need a coat in Oslo?').result

  assert.equal(status, 'completed')
  assert.equal(text, 'Yes, take a coat.')
  const last = model.provider.requests[1]?.messages.at(-1)
  assert.ok(last?.role === 'toolResult')
  assert.equal(textOf(last.content), 'Oslo: 4 °C, rain')
})
