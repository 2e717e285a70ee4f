import { withoutSecret } from '../../base/text/redact.ts'
import { settingFields } from '../../contract/model/request-settings.ts'
import { emptyUsage } from '../../contract/model/usage.ts'
import type { OptionTable } from '../../contract/shape/shape.ts'
import type { Codec, DecoderContext, Recovery } from '../kit/codec.ts'
import { AssistantBuilder } from '../kit/decode/assistant-builder.ts'
import { readErrorFacts } from '../kit/errors/error-facts.ts'
import { mediaRules } from '../kit/history/target.ts'
import { aServerToolList, type ServerTools } from '../kit/optional/server-tools/server-tools.ts'
import { type TransportOptions, transportTable } from '../kit/provider-options.ts'
import { ResponsesDecoder } from './decode/responses-decoder.ts'
import { type EncodingOptions, type ReasoningSummary, type ResponsesCall, requestEncoder } from './encode-request.ts'
import { responsesProfile } from './profile.ts'

/** How the Responses API is called, at OpenAI and on Azure. */
export interface OpenAiResponsesProviderOptions extends TransportOptions {
  /** How much of its reasoning a model that thinks should tell. Default `auto`; `none` for organisations that may not ask. */
  reasoningSummary?: ReasoningSummary
  /** Tools that the service runs: those of `openaiTools`, or declarations of the service. */
  serverTools?: ServerTools
}

/** What it is checked with. */
export const responsesTable: OptionTable<OpenAiResponsesProviderOptions> = {
  ...transportTable,
  reasoningSummary: settingFields.thinkingSummary,
  serverTools: aServerToolList,
}

/**
 * The codec of the Responses API, for each service that speaks it.
 *
 * **Contract**
 * - A prompt refused by the service's content filter is an answer that stopped with `guardRail` and holds what the service said.
 * - Reasoning of earlier answers that the service can no longer read (`invalid_encrypted_content`: another key, another organisation) is
 *   left out and the call is repeated once, before anything was emitted. This is not a retry of the loop's. So is what ran in a container that
 *   is gone.
 */
export function responsesCodec(options: EncodingOptions): Codec<ResponsesCall> {
  const encode = requestEncoder(options)
  return {
    encode: (request) => encode(request),
    decoder: (call, context) => new ResponsesDecoder(call, context),
    media: (model) => mediaRules(responsesProfile(model)),
    says: [],
    guards: ['instructions', 'tools', 'tool_choice', 'previous_response_id', 'conversation', 'store', 'prompt'],
    recover: (body, call, context) => {
      const { request, secrets } = context
      const { names, text } = readErrorFacts(body, undefined)
      if (/\bcontent_filter\b/.test(names)) return filtered(withoutSecret(text, secrets), call, context)
      if (call.hasReasoning && /\binvalid_encrypted_content\b/.test(names)) return { kind: 'repeat', call: encode(request, 'bare') }
      if (call.hasContainers && /\bExpected container_id\b/i.test(text))
        return { kind: 'repeat', call: encode(request, 'withoutContainers') }
      return undefined
    },
  }
}

function filtered(text: string, call: ResponsesCall, { request, emit }: DecoderContext): Recovery<ResponsesCall> {
  const builder = new AssistantBuilder(request.model, emit, call.answerTool)
  builder.warnings = call.warnings
  builder.text(0, text)
  return { kind: 'answer', message: builder.finish('guardRail', emptyUsage()) }
}
