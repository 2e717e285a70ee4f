import type { AgentOptions, JsonObject } from '../../../src/index.ts'
import { errorText } from '../parts/error-text.ts'
import type { RequestChoice, Settings } from './settings.ts'

/** Options of `new Agent` besides model and tools: plain data, the same in the page and in the program of "view code". */
export type PlainOptions = Required<Pick<AgentOptions, 'systemPrompt' | 'thinking'>> &
  Pick<AgentOptions, 'limits' | 'contextConfig' | 'maxTokens' | 'temperature' | 'stopSequences' | 'toolChoice' | 'responseFormat'>

export function plainOptions({ systemPrompt, thinking, limits, compaction, request }: Settings): PlainOptions {
  const { isOn, maxContextTokens, compactAt, keepRecentTurns } = compaction
  return {
    systemPrompt,
    thinking,
    ...requestOptions(request),
    limits: { maxTurns: limits.maxTurns, maxTotalTokens: limits.maxTotalTokens, maxDurationMs: limits.maxMinutes * 60_000 },
    contextConfig: {
      ...(maxContextTokens > 0 && { maxContextTokens }),
      compaction: isOn ? { compactAtPct: compactAt / 100, keepRecentTurns } : false,
    },
  }
}

/** Only chosen settings; others are the provider's. Throws for an invalid JSON Schema. */
function requestOptions({ maxTokens, temperature, stop, toolChoice, schema }: RequestChoice): Partial<PlainOptions> {
  return {
    ...(maxTokens > 0 && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(stop.length > 0 && { stopSequences: [...stop] }),
    ...(toolChoice !== 'auto' && { toolChoice }),
    ...(schema.trim() !== '' && { responseFormat: { type: 'jsonSchema', name: 'answer', schema: schemaFrom(schema) } as const }),
  }
}

function schemaFrom(text: string): JsonObject {
  let schema: unknown
  try {
    schema = JSON.parse(text)
  } catch (error) {
    throw new Error(`The schema of the answer is no JSON: ${errorText(error)}`)
  }
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    throw new Error('The schema of the answer must be a JSON object.')
  return schema as JsonObject // it was JSON
}
