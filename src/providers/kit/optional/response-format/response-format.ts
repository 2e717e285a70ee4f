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
  /** How any JSON object is requested: by a mode, or by a schema that accepts any object. Absent: not supported. */
  jsonObject?: 'mode' | 'openSchema'
  /** Whether the mode requires the word "JSON" in the conversation. */
  jsonMustBeNamed?: boolean
  /** Schema dialect that responses are held to. Absent: no schema. */
  jsonSchema?: SchemaDialect
  /** Schema dialect with `strict`. Default: the same. */
  strictSchema?: SchemaDialect
  /** Neither can be combined with tools. */
  excludesTools?: boolean
  /** Fallback without a format of the provider: a tool takes the response, or the call fails. */
  otherwise: 'tool' | 'refuse'
  /** A tool cannot be forced while the model thinks. */
  forcingStopsThinking: boolean
}

/** How the response format is requested. `request` is encoded instead of the given one. */
export type FormatPlan =
  | { kind: 'text'; request: StreamRequest; answerTool?: undefined }
  | { kind: 'object'; request: StreamRequest; answerTool?: undefined }
  | { kind: 'schema'; request: StreamRequest; answerTool?: undefined; name: string; schema: JsonObject; strict?: boolean }
  | ({ kind: 'tool' } & AnswerByTool)

/** A format other than text. */
type AskedFormat = Exclude<ResponseFormat, { type: 'text' }>

/**
 * Plans `format`, the `responseFormat` of `request`.
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
 * Returns whether documents of `request` are cited: some providers reject citations with a response schema. Adds dropped settings to
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
  if (cited.some(({ citations }) => citations === true))
    adjusted(request, 'citations left out: an answer that is held to a schema has none', warnings)
  return false
}

/** Returns the schema to send; `undefined` if the provider cannot enforce it in any form. */
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
  if (isLoose)
    warnings.push(`responseFormat ${name} is sent with strict: false, because ${held.unheld}: answers are still checked against it`)
  if (leftOut.length > 0)
    warnings.push(`responseFormat ${name} is sent without ${leftOut.join(', ')}: answers are still checked against it`)
  // A schema is JSON, although its type does not say so.
  return { schema: sent as JsonObject, ...(strict !== undefined && { strict: strict && !isLoose }) }
}

/** Adds the word "JSON": without it, models of some providers write blanks endlessly, and OpenAI rejects the request. */
function namingJson(request: StreamRequest): StreamRequest {
  const { systemPrompt } = request
  if (/json/i.test(systemPrompt)) return request
  return { ...request, systemPrompt: `${systemPrompt}\n\nAnswer with a JSON object.`.trimStart() }
}

function noForm({ model }: StreamRequest, format: string, { jsonSchema }: ModelCapabilities): ProviderError {
  const next = jsonSchema
    ? 'Give a JSON Schema whose objects name all their properties.'
    : 'Use a Claude model, or set capabilities.jsonSchema if this one has learnt it.'
  return new ProviderError('schemaMismatch', `The service cannot hold ${model.id} to responseFormat ${format}. ${next}`)
}
