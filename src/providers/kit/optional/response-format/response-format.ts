import { ProviderError } from '../../../../contract/errors.ts'
import type { JsonObject } from '../../../../contract/json.ts'
import type { FileContent } from '../../../../contract/message/content.ts'
import { isMediaOf } from '../../../../contract/message/media.ts'
import type { ModelCapabilities } from '../../../../contract/model/model-config.ts'
import type { ResponseFormat } from '../../../../contract/model/request-settings.ts'
import type { StreamRequest } from '../../../../types/model/provider.ts'
import { placesOfMedia } from '../../history/beginnings.ts'
import { legalName } from '../../history/hash.ts'
import { fittedSchema } from '../../schema/fitted-schema.ts'
import { adjusted } from '../../settings/write-settings.ts'
import { isToBeCited, type MediaRules, wordsIn } from '../media/media-rules.ts'
import type { SchemaDialect } from '../schema/dialects.ts'
import { type AnswerByTool, answerByTool } from './answer-tool.ts'

/** Response formats that a provider can enforce. */
export interface FormatRules {
  /** How to request an arbitrary JSON object: by a mode, or by a schema that accepts any object. Absent: not supported. */
  jsonObject?: 'mode' | 'openSchema'
  /** Whether the mode requires the word "JSON" in the conversation. */
  jsonMustBeNamed?: boolean
  /** Schema dialect that the provider enforces. Absent: no schema. */
  jsonSchema?: SchemaDialect
  /** Schema dialect with `strict`. Default: the same dialect. */
  strictSchema?: SchemaDialect
  /** Whether the provider rejects both the mode and the schema in a request with tools. */
  excludesTools?: boolean
  /** Fallback without a native format: a tool receives the response, or the call fails. */
  otherwise: 'tool' | 'refuse'
  /** Whether no tool can be forced while the model thinks. */
  forcingStopsThinking: boolean
}

/** How to request the response format. `request` replaces the original request. */
export type FormatPlan =
  | { kind: 'text'; request: StreamRequest; answerTool?: undefined }
  | { kind: 'object'; request: StreamRequest; answerTool?: undefined }
  | { kind: 'schema'; request: StreamRequest; answerTool?: undefined; name: string; schema: JsonObject; strict?: boolean }
  | ({ kind: 'tool' } & AnswerByTool)

/** A format other than text. */
type AskedFormat = Exclude<ResponseFormat, { type: 'text' }>

/**
 * Plans how to request `format`, the request's `responseFormat`.
 *
 * Adds changes to `warnings`. Throws `ProviderError` `schemaMismatch` if the provider cannot enforce the format.
 *
 * Source: docs/guides/structured-output.md
 */
export function planFormat(
  request: StreamRequest,
  format: AskedFormat,
  { capabilities, formats: rules }: { capabilities: ModelCapabilities; formats: FormatRules },
  warnings: string[],
): FormatPlan {
  const native = rules.excludesTools === true && request.tools.length > 0 ? undefined : nativePlan(request, format, rules, warnings)
  if (native !== undefined) return native
  if (rules.otherwise === 'refuse') throw noForm(request, format.type, capabilities)
  const none = { jsonObject: false, jsonSchema: false, forcingStopsThinking: rules.forcingStopsThinking }
  const byTool = answerByTool(request, capabilities, none, warnings)
  return byTool === undefined ? { kind: 'text', request } : { kind: 'tool', ...byTool }
}

function nativePlan(request: StreamRequest, format: AskedFormat, rules: FormatRules, warnings: string[]): FormatPlan | undefined {
  if (format.type === 'jsonObject') {
    if (rules.jsonObject === undefined) return undefined
    const named = rules.jsonMustBeNamed === true ? namingJson(request) : request
    if (rules.jsonObject === 'mode') return { kind: 'object', request: named }
    return { kind: 'schema', request: named, name: 'answer', schema: { type: 'object' } }
  }
  const sent = sentSchema(format, rules, warnings)
  return sent && { kind: 'schema', request, name: legalName(format.name), ...sent }
}

/**
 * Returns whether to cite documents in `request`. Some providers reject citations combined with a response schema. Adds dropped settings to
 * `warnings`; with `strict`, throws `ProviderError` `unsupported`.
 */
export function citesDocuments(
  { kind, request }: FormatPlan,
  { media, citesText }: Pick<MediaRules, 'media' | 'citesText'>,
  warnings: string[],
): boolean {
  const { messages } = request
  const isTaken = (block: FileContent) => isMediaOf(block.mimeType, media) || (citesText === true && wordsIn(block) !== undefined)
  const cited = placesOfMedia(messages).flatMap((at) => messages[at]?.content.filter(isToBeCited).filter(isTaken) ?? [])
  if (cited.length === 0 || kind !== 'schema') return cited.length > 0
  if (cited.some(({ citations }) => citations === true)) adjusted(request, 'citations omitted: a response with a schema has none', warnings)
  return false
}

/** Returns the schema to send, or `undefined` if the provider cannot enforce it in any form. */
function sentSchema(
  { name, schema, strict }: Extract<ResponseFormat, { type: 'jsonSchema' }>,
  { jsonSchema, strictSchema = jsonSchema }: FormatRules,
  warnings: string[],
): { schema: JsonObject; strict?: boolean } | undefined {
  if (jsonSchema === undefined || strictSchema === undefined) return undefined
  const held = fittedSchema(schema, strict === true ? strictSchema : jsonSchema)
  const isLoose = held.unheld !== undefined && strict === true && strictSchema !== jsonSchema
  const { leftOut, unheld, schema: sent } = isLoose ? fittedSchema(schema, jsonSchema) : held
  if (unheld !== undefined) return undefined
  if (isLoose) warnings.push(`responseFormat ${name} is sent with strict: false, because ${held.unheld}: responses are still validated`)
  if (leftOut.length > 0) warnings.push(`responseFormat ${name} is sent without ${leftOut.join(', ')}: responses are still validated`)
  // The type does not express that a schema is JSON.
  return { schema: sent as JsonObject, ...(strict !== undefined && { strict: strict && !isLoose }) }
}

/** Adds the word "JSON". Without it, OpenAI rejects the request, and some providers' models write endless white space. */
function namingJson(request: StreamRequest): StreamRequest {
  const { systemPrompt } = request
  if (/json/i.test(systemPrompt)) return request
  return { ...request, systemPrompt: `${systemPrompt}\n\nRespond with a JSON object.`.trimStart() }
}

function noForm({ model }: StreamRequest, format: string, { jsonSchema }: ModelCapabilities): ProviderError {
  const next = jsonSchema
    ? 'Pass a JSON Schema whose objects list all their properties.'
    : 'Use a Claude model, or set capabilities.jsonSchema if this model supports it.'
  return new ProviderError('schemaMismatch', `The provider cannot enforce responseFormat ${format} for ${model.id}. ${next}`)
}
