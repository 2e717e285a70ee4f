import { Ajv2020 } from 'ajv/dist/2020.js'
import { fieldIn, type JsonSchema } from '../../src/contract/json.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { azure } from '../../src/providers/azure/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { google } from '../../src/providers/google/index.ts'
import type { dialects } from '../../src/providers/kit/optional/schema/dialects.ts'
import { openaiCompatible } from '../../src/providers/openai/compatible.ts'
import { openai } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import { vertex } from '../../src/providers/vertex/index.ts'
import type { Model } from '../../src/types/model/model.ts'
import { plainRequest } from './model-call.ts'

/** A wire: a model of it, where the schema of its first tool and of its answer stand, and the rows of the table that say what it takes. */
export interface Wire {
  model: Model
  tools: keyof typeof dialects
  format: keyof typeof dialects
  toolAt: string
  /** Absent: it is held to none. */
  formatAt?: string
  strict?: boolean
}

const claude = { tools: 'claudeTools', format: 'claudeFormat' } as const
const inChat = { toolAt: 'tools.0.function.parameters', formatAt: 'response_format.json_schema.schema' }
const inResponses = { toolAt: 'tools.0.parameters', formatAt: 'text.format.schema' }
const inGemini = {
  toolAt: 'tools.0.functionDeclarations.0.parametersJsonSchema',
  formatAt: 'generationConfig.responseJsonSchema',
}
const inBedrock = {
  toolAt: 'toolConfig.tools.0.toolSpec.inputSchema.json',
  formatAt: 'outputConfig.textFormat.structure.jsonSchema.schema',
}
const openAi = { tools: 'openAiTools', format: 'openAiFormat' } as const
const strict = { tools: 'openAiTools', format: 'openAiStrict', strict: true } as const
export const wires: Record<string, Wire> = {
  anthropic: {
    ...claude,
    model: anthropic('claude-opus-4-6'),
    toolAt: 'tools.0.input_schema',
    formatAt: 'output_config.format.schema',
  },
  'bedrock, Claude': {
    ...claude,
    format: 'bedrockFormat',
    model: bedrock('us.anthropic.claude-opus-4-6-v1:0', { region: 'us-east-1' }),
    ...inBedrock,
  },
  'bedrock, Nova': {
    tools: 'novaTools',
    format: 'bedrockFormat',
    model: bedrock('us.amazon.nova-2-lite-v1:0', { region: 'us-east-1' }),
    toolAt: inBedrock.toolAt,
  },
  chat: { ...openAi, model: openai('gpt-5.2'), ...inChat },
  'chat, strict': { ...strict, model: openai('gpt-5.2'), ...inChat },
  moonshot: { tools: 'moonshotTools', format: 'openAiFormat', model: openaiCompatible('kimi-k2.6', { backend: 'moonshot' }), ...inChat },
  responses: { ...openAi, model: openaiResponses('gpt-5.2'), ...inResponses },
  'responses, strict': { ...strict, model: openaiResponses('gpt-5.2'), ...inResponses },
  azure: { ...openAi, model: azure('gpt-5.2', { resource: 'r' }), ...inResponses },
  gemini: { tools: 'gemini', format: 'gemini', model: google('gemini-3.8-flash'), ...inGemini },
  vertex: { tools: 'gemini', format: 'gemini', model: vertex('gemini-3.8-flash', { project: 'p' }), ...inGemini },
}

/** The schema at a place of a body, or none; Bedrock takes it as text. */
function schemaAt(body: unknown, place: string): JsonSchema {
  const found = place.split('.').reduce(fieldIn, body)
  return typeof found === 'string' ? JSON.parse(found) : Object(found)
}

/** What a request with `parameters` says of the first tool, and of what was left out. */
export async function toolSent({ model, toolAt }: Wire, parameters: JsonSchema) {
  const tools = [{ name: 'pick', description: 'Picks.', parameters }]
  const { body, warnings = [] } = await model.provider.encode(plainRequest(model.config, { tools }))
  return { schema: schemaAt(JSON.parse(body), toolAt), warnings }
}

/** What a request for an answer in the form of `schema` says of it; no schema where a tool takes the answer. */
export async function formatSent(wire: Wire, schema: JsonSchema) {
  const { model, formatAt } = wire
  if (formatAt === undefined) return { schema: {}, warnings: [], json: {} }
  const responseFormat = { type: 'jsonSchema' as const, name: 'place', schema, ...(wire.strict && { strict: true }) }
  const { body, warnings = [] } = await model.provider.encode(plainRequest(model.config, { responseFormat }))
  const json = JSON.parse(body)
  return { schema: schemaAt(json, formatAt), warnings, json }
}

const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false, addUsedSchema: false, logger: false })

/** Whether a value fits a schema. */
export function fits(schema: JsonSchema, value: unknown): boolean {
  return ajv.validate(schema, value) === true
}
