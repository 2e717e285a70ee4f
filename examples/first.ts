import { Agent, defineTool } from 'phi-core'
import { modelFromEnv } from 'phi-core/env'

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const weather = defineTool({ name: 'weather', description: 'Current weather.', parameters, execute: ({ city }) => `${city}: 4 °C, rain` })
const agent = new Agent({ model: await modelFromEnv(), tools: [weather] })
for await (const text of agent.prompt('Do I need a coat in Oslo?').textStream) process.stdout.write(text)
