import { Agent, defineTool } from 'phi-core'
import { scripted } from 'phi-core/testing'
import { expect, it } from 'vitest'

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const weather = defineTool({ name: 'weather', description: 'Current weather.', parameters, execute: ({ city }) => `${city}: 4 °C, rain` })

it('calls the tool and sends its result to the model', async () => {
  const model = scripted([{ toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' } }] }, { text: 'Yes, take a coat.' }])
  const agent = new Agent({ model, tools: [weather] })

  const result = await agent.prompt('Do I need a coat in Oslo?').result

  expect(result).toMatchObject({ status: 'completed', text: 'Yes, take a coat.' })
  expect(model.provider.requests).toHaveLength(2)
  expect(model.provider.requests[1]?.messages.at(-1)).toMatchObject({
    role: 'toolResult',
    content: [{ type: 'text', text: 'Oslo: 4 °C, rain' }],
  })
})
