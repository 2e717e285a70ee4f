import { Agent, type Model, ProviderError, parseOutput } from 'phi-core'
import * as z from 'zod'

const forecast = z.object({ city: z.string(), degrees: z.number(), rain: z.boolean() })

/** Returns a typed and validated value. `output` is undefined if the response does not match the schema. */
export async function forecastFor(model: Model, city: string): Promise<string> {
  const agent = new Agent({ model, responseFormat: forecast })
  const { output } = await agent.prompt(`Weather in ${city}?`).result
  if (output === undefined) return 'No forecast.'
  return `${output.degrees} degrees, ${output.rain ? 'rain' : 'dry'}`
}

// #region run
/** Uses a JSON Schema for one run, with its type as a type parameter, and reports what does not match. */
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
