import * as z from 'zod'
import type { JsonObject, JsonValue } from '../contract/json.ts'
import type { Content, ProviderState, ToolCallContent } from '../contract/message/content.ts'
import type { ApiProtocol } from '../contract/model/model-config.ts'
import { anyJson, fitting, present, renamed, type SpecCodec, specCodec } from './codec.ts'

export const jsonObject = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), 'object')

/** Ours alone, so it keeps our spelling on the other side. */
const providerState: z.ZodType<ProviderState> = z.looseObject({
  // Any name: what a newer version wrote is carried, and no codec of ours will take it for its own.
  api: z.custom<ApiProtocol>((value) => typeof value === 'string'),
  model: z.string(),
  prefixHash: z.string().exactOptional(),
  payload: jsonObject,
})

/** Rust takes any JSON value as arguments; here they are an object, and other text waits in `invalidArguments`. */
function argumentsFromSpec(args: JsonValue, invalid: unknown): Pick<ToolCallContent, 'arguments' | 'invalidArguments'> {
  const object = jsonObject.safeParse(args)
  if (!object.success) return { arguments: {}, invalidArguments: JSON.stringify(args) }
  return { arguments: object.data, ...fitting('invalidArguments', z.string(), invalid) }
}

export const contentSchema: z.ZodType<Content> = z.discriminatedUnion('type', [
  z
    .looseObject({ type: z.literal('text'), text: z.string() })
    .transform(({ providerState: state, ...rest }) => ({ ...rest, ...fitting('providerState', providerState, state) })),
  z.looseObject({ type: z.literal('image'), data: z.string(), mimeType: z.string() }),
  z
    .looseObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string().nullish() })
    .transform(({ signature, providerState: state, ...rest }) => ({
      ...rest,
      ...present('signature', signature),
      ...fitting('providerState', providerState, state),
    })),
  z
    .looseObject({ type: z.literal('toolCall'), id: z.string(), name: z.string(), arguments: anyJson })
    .transform(({ arguments: args, invalidArguments, providerState: state, ...rest }) => ({
      ...rest,
      ...argumentsFromSpec(args, invalidArguments),
      ...fitting('providerState', providerState, state),
    })),
])

/** The value `text` stands for, if it is JSON in its shortest form and no object; then it can travel as the arguments themselves. */
function plainArguments(text: string): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(text)
    return jsonObject.safeParse(value).success || JSON.stringify(value) !== text ? undefined : value
  } catch {
    return undefined
  }
}

function encode(block: Content): JsonObject {
  const fields = renamed(block, {})
  if (block.type !== 'toolCall' || block.invalidArguments === undefined || Object.keys(block.arguments).length > 0) return fields
  const args = plainArguments(block.invalidArguments)
  if (args === undefined) return fields
  const { invalidArguments: _, ...rest } = fields
  return { ...rest, arguments: args }
}

/** `Content`: spelled the same on both sides; `providerState` and `invalidArguments` are keys that Rust ignores. */
export const contentCodec: SpecCodec<Content> = specCodec('content', contentSchema, encode)
