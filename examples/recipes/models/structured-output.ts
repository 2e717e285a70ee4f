import { Agent, type Model, ProviderError, parseOutput } from 'phi-core'
import * as z from 'zod'

const forecast = z.object({ city: z.string(), degrees: z.number(), rain: z.boolean() })

/** The answer as a value: `degrees` is a number, for the compiler and in fact. There is none where the answer does not fit. */
export async function forecastFor(model: Model, city: string): Promise<string> {
  const agent = new Agent({ model, responseFormat: forecast })
  const { output } = await agent.prompt(`Weather in ${city}?`).result
  if (output === undefined) return 'No forecast.'
  return `${output.degrees} degrees, ${output.rain ? 'rain' : 'dry'}`
}

// #region run
/** One run of an agent that otherwise answers in text, and what is wrong with its answer. A JSON Schema names no type, so it is given beside it. */
export async function tagsOf(agent: Agent, text: string): Promise<string[] | string> {
  const schema = {
    title: 'tags',
    type: 'object',
    properties: { tags: { type: 'array', items: { type: 'string' } } },
    required: ['tags'],
    additionalProperties: false,
  }
  const result = await agent.prompt(`Tag this: ${text}`, { responseFormat: schema }).result
  try {
    return (await parseOutput<{ tags: string[] }>(result, schema)).tags
  } catch (error) {
    if (ProviderError.isInstance(error) && error.code === 'schemaMismatch') return `No tags. ${error.message}`
    throw error
  }
}
// #endregion run
