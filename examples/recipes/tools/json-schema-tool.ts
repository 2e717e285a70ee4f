import { defineTool } from 'phi-core'

/** A JSON Schema has no TypeScript type, so pass the type of the arguments as a type parameter. */
export const weather = defineTool<{ city: string; days?: number }>({
  name: 'weather',
  description: 'The weather forecast of a city.',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string', minLength: 1 }, days: { type: 'integer', minimum: 1, maximum: 7 } },
    required: ['city'],
    additionalProperties: false,
  },
  idempotent: true,
  execute: ({ city, days = 1 }, { signal, update }) => {
    signal.throwIfAborted()
    update({ content: [{ type: 'text', text: 'asking the service' }] }) // shown in the UI; never sent to the model
    return { content: [{ type: 'text', text: `${city}: rain for ${days} day(s)` }], details: { city, days } }
  },
})
