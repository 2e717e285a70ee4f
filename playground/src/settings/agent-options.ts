import type { AgentOptions, JsonObject } from '../../../src/index.ts'
import { errorText } from '../parts/error-text.ts'
import type { RequestChoice, Settings } from './settings.ts'

/** The options of `new Agent` other than model and tools, as plain data. The page and the program in "view code" use the same options. */
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

/** Returns only the settings that were changed. The provider's defaults apply to the others. Throws for an invalid JSON Schema. */
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
    throw new Error(`The response schema is not JSON: ${errorText(error)}`)
  }
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) throw new Error('The response schema must be a JSON object.')
  return schema as JsonObject // parsed from JSON
}
